// Model connectors in the graph: the specification has no route for them, and a tool would show keys to models.
import { okIdAnswer } from '#graph/acknowledgement.ts';
import { builder } from '#graph/builder.ts';
import { pathId } from '#graph/input.ts';
import { boundedText, nameText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { ModelVendor } from '../agents/fields.ts';
import { IntegrationType } from '../integrations/schema.ts';
import { modelText } from './bounds.ts';
import * as connectors from './model-connectors.ts';

const apiKey = boundedText(modelText.apiKey).regex(/^[\x21-\x7e]*$/, 'must be printable ASCII without spaces');

const DeleteModelConnectorResponse = okIdAnswer('DeleteModelConnectorResponse');

const integrationId = { ...pathId, description: 'An integration of the kind `llm`.' };
const scope = 'orchestrator:write';

builder.mutationFields((t) => ({
  connectModel: t.field({
    description:
      'Connects a vendor of language models. Missions of the organization use its key instead of that of the runtime; projects ' +
      'without a model connector get this one.',
    scope,
    type: IntegrationType,
    args: {
      vendor: t.arg({ type: ModelVendor.type, required: true, description: 'Whose protocol the server speaks.' }),
      displayName: t.arg.string({
        required: true,
        description: 'The name that people see, 1 to 120 characters.',
        validate: { schema: nameText(text.integrationName) },
      }),
      apiKey: t.arg.string({
        required: true,
        description: 'The key of the vendor: encrypted, and never returned.',
        validate: { schema: apiKey },
      }),
      baseUrl: t.arg.string({
        description:
          'A compatible server at a public address, by https on port 443; for `openai` with its version, such as ' +
          '`https://models.example.com/v1`. Absent: the vendor. It cannot be changed later.',
        validate: { schema: boundedText(modelText.baseUrl) },
      }),
    },
    resolve: (_, args, { caller }) => connectors.connectModelVendor(caller, args),
  }),
  checkModelConnector: t.field({
    description: 'Asks the vendor now whether it accepts the key: see `checkFailure`.',
    scope,
    type: IntegrationType,
    args: { integrationId: t.arg.string(integrationId) },
    resolve: (_, { integrationId }, { caller }) => connectors.checkModelConnector(caller, integrationId),
  }),
  rotateModelConnector: t.field({
    description: 'Replaces the key. Missions under way use the new one from the next heartbeat of their runtime.',
    scope,
    type: IntegrationType,
    args: {
      integrationId: t.arg.string(integrationId),
      apiKey: t.arg.string({
        required: true,
        description: 'The new key: encrypted, and never returned.',
        validate: { schema: apiKey },
      }),
    },
    resolve: (_, { integrationId, apiKey }, { caller }) =>
      connectors.rotateModelConnector(caller, integrationId, apiKey),
  }),
  revokeModelConnector: t.field({
    description:
      'Deletes the key. Steps under way that use it fail with the next heartbeat of their runtime; later ones use another ' +
      'connector of the vendor or the key of the runtime.',
    scope,
    type: IntegrationType,
    args: { integrationId: t.arg.string(integrationId) },
    resolve: (_, { integrationId }, { caller }) => connectors.revokeModelConnector(caller, integrationId),
  }),
  deleteModelConnector: t.field({
    description: 'Deletes a model connector, as `revokeModelConnector` does its key. Its projects get the next one.',
    scope,
    type: DeleteModelConnectorResponse,
    args: { integrationId: t.arg.string(integrationId) },
    resolve: (_, { integrationId }, { caller }) => connectors.deleteModelConnector(caller, integrationId),
  }),
}));
