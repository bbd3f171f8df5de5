// Integrations in all APIs (docs/contract.md#integrations).
import { builder } from '#graph/builder.ts';
import {
  belongsTo,
  boolean,
  epochMs,
  epochMsOrNull,
  float,
  floatOrNull,
  members,
  string,
  stringOrNull,
  typed,
} from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { type ConnectorModel, Integration, type ModelPrices, projectKinds, vendorKinds } from './model.ts';
import { listIntegrations } from './operations.ts';
import { vendorWords } from './vendor-words.ts';

export const VendorKind = wordSet('VendorKind', vendorKinds, 'Kind of a connector.', {
  tracker: 'Holds the issues of projects.',
  scm: 'Hosts the repositories.',
  llm: 'Runs language models.',
  chat: 'Lets people start and steer missions.',
});
export const ProjectConnectorKind = wordSet(
  'ProjectConnectorKind',
  projectKinds,
  'Purpose of a connector in a project.',
  {
    tracker: 'Holds the issues.',
    scm: 'Hosts the repository.',
    llm: 'Runs language models.',
  },
);
export const Vendor = wordSet('Vendor', vendorWords.names, 'Vendor of a connector.', vendorWords.texts);

const ModelPricesType = builder.objectRef<ModelPrices>('ModelPrices').implement({
  description: 'Prices of a model, US dollars per million tokens.',
  fields: (t) =>
    members(t, {
      input: float('Price of input tokens.'),
      output: float('Price of output tokens.'),
      cacheRead: floatOrNull('Price of tokens read from the cache of the vendor; null means the price of input.'),
      cacheWrite: floatOrNull('Price of tokens written to the cache; null means the price of input.'),
    }),
});
const ConnectorModelType = builder.objectRef<ConnectorModel>('ConnectorModel').implement({
  description: 'A model that a connector lists with its prices.',
  fields: (t) =>
    members(t, {
      id: string('The id of the model at the server of the connector; a value for `model` of an agent.'),
      name: string('Name for people; programs use the id.'),
      prices: typed(ModelPricesType, 'Prices of a call, from the next call on.'),
    }),
});

export const IntegrationType = builder.modelType(Integration, 'Integration').implement({
  description: 'A tracker, a source host or a language model that projects connect to.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `int_`.'),
      orgId: string('The id of the organization; starts with `org_`.'),
      vendor: typed(Vendor.type, 'The external service.'),
      vendorKind: typed(VendorKind.type, 'The kind of the connector, which decides how projects use it.'),
      externalOrgId: stringOrNull('The organization, workspace or account at the vendor; null when unknown.'),
      displayName: string('Name for people; programs use the id.'),
      createdAt: epochMs('When the integration was connected.'),
      updatedAt: epochMs('When the credentials were last replaced.'),
      baseUrl: stringOrNull('Base URL of a server other than the vendor’s own; null means the vendor’s own.', {
        graphOnly: true,
      }),
      hasCredentials: boolean(
        'Whether the connector has credentials: false before they are set and once they are revoked.',
        { graphOnly: true },
      ),
      brokenSince: epochMsOrNull(
        'When the vendor was first seen to reject the credentials; null while no rejection is known.',
        { graphOnly: true },
      ),
      checkedAt: epochMsOrNull(
        'When the credentials were last checked with the vendor; null means that they have not been checked since they were set.',
        { graphOnly: true },
      ),
      checkFailure: stringOrNull('Reason why the last check failed; null when it passed.', { graphOnly: true }),
      pausedUntil: epochMsOrNull(
        'The end of the latest rate limit of the vendor, until which no call is sent; null if there was none.',
        { graphOnly: true },
      ),
      models: typed(
        [ConnectorModelType],
        'Models that the integration lists in addition to the catalog, or with other prices; empty for kinds other than `llm`.',
        { beyondRest: true },
      ),
      organization: belongsTo(
        'organizations:read',
        'The organization of the integration; null when the caller is not allowed to read organizations.',
      ),
    }),
});

const IntegrationList = builder.objectRef<{ integrations: Integration[] }>('IntegrationList').implement({
  description: 'The integrations of the organization.',
  fields: (t) =>
    members(t, {
      integrations: typed([IntegrationType], 'The integrations, oldest first.'),
    }),
});

builder.queryField('integrations', (t) =>
  t.field({
    description: 'The trackers, source hosts and language models that the organization has connected.',
    scope: 'integrations:read',
    rest: 'GET /integrations',
    tool: 'list_integrations',
    type: IntegrationList,
    resolve: async (_, _args, { caller }) => ({ integrations: await listIntegrations(caller) }),
  }),
);
