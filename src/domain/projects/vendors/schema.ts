// Connectors are available in GraphQL only: the contract has no routes for them, and a tool would show credentials to models.
import { z } from 'zod';
import { okIdAnswer } from '#graph/acknowledgement.ts';
import { builder } from '#graph/builder.ts';
import { pathId, request } from '#graph/input.ts';
import { boundedText, nameText, range } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { IntegrationType, Vendor, VendorKind } from '../integrations/schema.ts';
import { connectorText, maxConnectorModels, modelPriceUsd } from './bounds.ts';
import * as connectors from './connectors.ts';
import { credentialsOfApp } from './github/app.ts';
import { credentialsOfLinearApp } from './linear/app.ts';

const credentials = boundedText(connectorText.credentials).regex(
  /^[\x21-\x7e]*$/,
  'must be printable ASCII without spaces',
);

const decimal = /^\d+$/;
const GitHubApp = request(
  'GitHubAppRequest',
  z
    .object({
      appId: boundedText(connectorText.githubAppId)
        .regex(/^[\w.]+$/, 'must be the id or the client id of an App')
        .describe('The id or client id of the App, from its settings.'),
      installationId: boundedText(connectorText.githubAppId)
        .regex(decimal, 'must be a number')
        .describe('The id of the installation: the number at the end of the URL of its settings.'),
      privateKey: boundedText(connectorText.privateKey).describe(
        'A private key of the App, PEM. It is stored encrypted and never returned.',
      ),
    })
    .meta({
      description: 'An installation of a GitHub App.',
      examples: [{ appId: '123456', installationId: '7654321', privateKey: '-----BEGIN RSA PRIVATE KEY-----\n…' }],
    }),
);
const appDescription = 'An installation of a GitHub App instead of a token; only for `github`.';

const oneWord = (text: string) =>
  boundedText(connectorText.linearApp)
    .regex(/^[\x21-\x7e]*$/, 'must be printable ASCII without spaces')
    .describe(text);
const LinearApp = request(
  'LinearAppRequest',
  z
    .object({
      clientId: oneWord('The client id of the application, as its settings show it.'),
      clientSecret: oneWord('The client secret of the application: encrypted, and never returned.'),
    })
    .meta({
      description: 'A Linear OAuth application that may use client credentials.',
      examples: [{ clientId: '0123456789abcdef0123456789abcdef', clientSecret: '…' }],
    }),
);
const linearAppDescription =
  'A Linear OAuth application instead of an API key, only for `linear`. The application acts as an agent in Linear.';

const usd = z.number().min(modelPriceUsd.min).max(modelPriceUsd.max);
const perMillion = `US dollars per million, ${range(modelPriceUsd)}.`;
const model = z
  .object({
    id: boundedText(text.modelId)
      .regex(/^[\x21-\x7e]*$/, 'must be printable ASCII without spaces')
      .describe(`The id of the model at the server: ${range(text.modelId)} characters, unique in the organization.`),
    name: nameText(text.integrationName).describe(`The display name, ${range(text.integrationName)} characters.`),
    prices: z
      .object({
        input: usd.describe(`Price of input tokens: ${perMillion}`),
        output: usd.describe(`Price of output tokens: ${perMillion}`),
        cacheRead: usd
          .nullish()
          .describe(`Price of tokens read from the cache: ${perMillion} Absent means the price of input.`),
        cacheWrite: usd
          .nullish()
          .describe(`Price of tokens written to the cache: ${perMillion} Absent means the price of input.`),
      })
      .describe('Prices of a call.'),
  })
  .describe('A model of the connector.');
const models = z
  .array(model)
  .max(maxConnectorModels)
  .describe(`All models of the connector: at most ${maxConnectorModels}; an empty list for none.`);
const NamedModel = request('ConnectorModelRequest', model);
const ConnectorModels = request(
  'SetIntegrationModelsRequest',
  z.object({ models }).meta({
    description: 'The models of a connector.',
    examples: [{ models: [{ id: 'qwen3-coder', name: 'Qwen3 Coder', prices: { input: 0.3, output: 1.2 } }] }],
  }),
);

const DisconnectIntegrationResponse = okIdAnswer('DisconnectIntegrationResponse');

const integrationId = { ...pathId, description: 'An integration of the organization.' };
const scope = 'integrations:write';

builder.mutationFields((t) => ({
  connectIntegration: t.field({
    description:
      'Connects a tracker, a source host or a vendor of language models. Credentials that the vendor ' +
      'rejects are refused; when it cannot be reached, `checkFailure` says so. Projects without a connector of this kind get the new one.',
    scope,
    type: IntegrationType,
    args: {
      vendor: t.arg({ type: Vendor.type, required: true, description: 'The vendor to connect.' }),
      vendorKind: t.arg({
        type: VendorKind.type,
        description: 'The kind of connector: required for `github`, which is a tracker and a source host.',
      }),
      displayName: t.arg.string({
        required: true,
        description: `The display name, ${range(text.integrationName)} characters.`,
        validate: { schema: nameText(text.integrationName) },
      }),
      credentials: t.arg.string({
        description:
          'A token or API key of the vendor. It is stored encrypted and never returned. Absent for the built-in tracker.',
        validate: { schema: credentials },
      }),
      baseUrl: t.arg.string({
        description:
          'The base URL of a server other than the vendor’s own: a GitHub Enterprise Server, such as ' +
          '`https://github.example.com/api/v3`, or a server with a compatible model API. For `openai`, the URL includes the version of ' +
          'the API, such as `https://models.example.com/v1`. The server must be public and use https on port 443. The URL cannot be ' +
          'changed later.',
        validate: { schema: boundedText(connectorText.baseUrl) },
      }),
      githubApp: t.arg({ type: GitHubApp, description: appDescription }),
      linearApp: t.arg({ type: LinearApp, description: linearAppDescription }),
      models: t.arg({
        type: [NamedModel],
        description: `The models of the connector, with their prices, as \`setIntegrationModels\` sets them: at most ${maxConnectorModels}, only for language models.`,
        validate: { schema: models },
      }),
    },
    resolve: (_, { githubApp, linearApp, ...args }, { caller }) =>
      connectors.connect(caller, { ...args, app: credentialsOfApp(githubApp) ?? credentialsOfLinearApp(linearApp) }),
  }),
  setIntegrationModels: t.field({
    description:
      'Replaces the models that a connector of language models lists. Agents of OpenCode and of ACP harnesses may choose them. The prices apply ' +
      'to all calls through the connector, including calls of models of the catalog. If no connector lists the model of an agent any ' +
      'longer, missions of the agent wait, and its running steps fail.',
    scope,
    tool: { name: 'set_integration_models', idempotent: true },
    type: IntegrationType,
    args: {
      integrationId: t.arg.string(integrationId),
      input: t.arg({ type: ConnectorModels, required: true, description: 'The new models.' }),
    },
    resolve: (_, { integrationId, input }, { caller }) => connectors.setModels(caller, integrationId, input.models),
  }),
  checkIntegration: t.field({
    description: 'Asks the vendor now whether it accepts the credentials: see `checkFailure`.',
    scope,
    type: IntegrationType,
    args: { integrationId: t.arg.string(integrationId) },
    resolve: (_, { integrationId }, { caller }) => connectors.checkNow(caller, integrationId),
  }),
  rotateIntegration: t.field({
    description:
      'Replaces the credentials; new credentials that the vendor rejects are refused. Missions in progress use a new key for models from the next heartbeat of their runtime.',
    scope,
    type: IntegrationType,
    args: {
      integrationId: t.arg.string(integrationId),
      credentials: t.arg.string({
        description: 'The new credentials. They are stored encrypted and never returned.',
        validate: { schema: credentials },
      }),
      githubApp: t.arg({ type: GitHubApp, description: appDescription }),
      linearApp: t.arg({ type: LinearApp, description: linearAppDescription }),
    },
    resolve: (_, { integrationId, credentials, githubApp, linearApp }, { caller }) => {
      const app = credentialsOfApp(githubApp) ?? credentialsOfLinearApp(linearApp);
      return connectors.rotate(caller, integrationId, { credentials, app });
    },
  }),
  revokeIntegration: t.field({
    description:
      'Deletes the credentials; projects keep the connector. Running steps that use the key of a model connector fail at the next ' +
      'heartbeat of their runtime; later steps use another connector of the vendor or the key of the runtime.',
    scope,
    type: IntegrationType,
    args: { integrationId: t.arg.string(integrationId) },
    resolve: (_, { integrationId }, { caller }) => connectors.revoke(caller, integrationId),
  }),
  disconnectIntegration: t.field({
    description:
      'Deletes a connector with its credentials. If projects use it as their tracker or source host, the call is refused ' +
      'unless `detachProjects` is true. Such projects then use another connector of the same kind, if there is one; a tracker is replaced only by a connector of the same vendor.',
    scope,
    type: DisconnectIntegrationResponse,
    args: {
      integrationId: t.arg.string(integrationId),
      detachProjects: t.arg.boolean({
        defaultValue: false,
        description: 'Whether projects that use the connector may lose it as their tracker or source host.',
      }),
    },
    resolve: (_, { integrationId, detachProjects }, { caller }) =>
      connectors.disconnect(caller, integrationId, detachProjects ?? false),
  }),
}));
