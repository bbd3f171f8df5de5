// The orchestrator's settings in all APIs (docs/contract.md#orchestrator).
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { request } from '#graph/input.ts';
import {
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
import { boundedText, nameText, range } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { OrganizationType } from '../../organization/organizations/schema.ts';
import { CatalogModelType, ModelVendor } from '../../projects/agents/schema-catalog.ts';
import { IntegrationType } from '../../projects/integrations/schema.ts';
import { costCapUsd } from '../mission-costs/cap.ts';
import { type SpendPoint, spendByHour } from '../mission-costs/ledger.ts';
import * as operations from './operations.ts';

const ModelsByVendor = builder.objectRef<operations.OrchestratorRecord['modelsByVendor']>('ModelsByVendor').implement({
  description: 'The models that the orchestrator can use, by vendor.',
  fields: (t) => ({
    anthropic: t.field({
      type: [CatalogModelType],
      resolve: ({ anthropic }) => [...anthropic],
      description: 'Models of the vendor; the first is its default.',
    }),
    openai: t.field({
      type: [CatalogModelType],
      resolve: ({ openai }) => [...openai],
      description: 'Models of the vendor; the first is its default.',
    }),
  }),
});

const SpendPointType = builder.objectRef<SpendPoint>('SpendPoint').implement({
  description: 'The cost of missions within one hour.',
  fields: (t) =>
    members(t, {
      t: epochMs('When the hour began.'),
      usd: float('Cost in US dollars.'),
    }),
});

const OrchestratorType = builder.objectRef<operations.OrchestratorRecord>('Orchestrator').implement({
  description: 'Decides which agents work on an issue, within the daily cost cap of the organization.',
  fields: (t) =>
    members(t, {
      orgId: string('The id of the organization; starts with `org_`.'),
      name: string('Name for people; programs use the id.'),
      blurb: string('Description for display.'),
      model: string('The id of the orchestrator’s language model.'),
      vendor: typed(ModelVendor.type, 'The vendor of the model.'),
      llmConnectorId: stringOrNull(
        'The integration that holds the credentials of the model; null when none is assigned.',
      ),
      assignedCredentialUsableForInference: t.boolean({
        description:
          'Whether the connector belongs to the model’s vendor, and the vendor accepts the connector’s credentials. To find out, the ' +
          'service requests the vendor’s list of models, for at most three seconds. A positive result is cached for five minutes, a ' +
          'negative one for one minute.',
        resolve: operations.isAssignedCredentialUsable,
      }),
      modelsByVendor: typed(ModelsByVendor, 'The models that the orchestrator can use.'),
      defaultModel: string('The id of the model while the organization has chosen none.'),
      isBuiltin: boolean('Whether name, blurb and model have their defaults.'),
      inferenceEnabled: boolean(
        'Whether the orchestrator may ask its model, once per mission, which of the organization’s agents suit the task.',
      ),
      planApproval: boolean('Whether a person has to approve the plan of each mission before an agent follows it.', {
        beyondRest: true,
      }),
      dailyCostCapUsd: floatOrNull('The organization’s own cap; null means that the default applies.'),
      defaultDailyCostCapUsd: float('The cap while the organization has chosen none, US dollars per UTC day.'),
      effectiveDailyCostCapUsd: float('The cap that applies, US dollars per UTC day.'),
      dailySpendUsd: float('Cost of missions since midnight UTC.'),
      atDailyCostCap: boolean('Whether the cap is reached: no mission starts until midnight UTC.'),
      updatedAt: epochMsOrNull('When the settings were last changed; null while the organization has set nothing.'),
      spendByHour: t.field({
        description: 'Costs since midnight UTC; an hour without costs is omitted.',
        graphOnly: true,
        type: [SpendPointType],
        complexity: { field: 1, multiplier: 24 },
        resolve: ({ orgId }) => spendByHour(orgId),
      }),
      organization: t.byId(OrganizationType, 'orgId', {
        link: 'organizations:read',
        description: 'The organization of the orchestrator; null when the caller is not allowed to read organizations.',
      }),
      llmConnector: t.byId(IntegrationType, 'llmConnectorId', {
        link: 'integrations:read',
        description:
          'The assigned integration; null without one, or when the caller is not allowed to read integrations.',
      }),
    }),
});

const UpdateOrchestratorRequest = request(
  'UpdateOrchestratorRequest',
  z
    .object({
      name: nameText(text.orchestratorName)
        .nullable()
        .describe(`The name, ${range(text.orchestratorName)} characters; null means the default.`),
      blurb: boundedText(text.orchestratorBlurb)
        .nullable()
        .describe(`The description, at most ${text.orchestratorBlurb.max} characters; null means the default.`),
      model: boundedText(text.modelId)
        .nullable()
        .describe(
          'One of `modelsByVendor`. Null means the default model or, if `vendor` is set, the first model of this vendor.',
        ),
      vendor: ModelVendor.zod.describe(
        'The vendor of the model. If `model` is absent, the first model of this vendor is used.',
      ),
      llmConnectorId: boundedText(text.pathId).nullable().describe('An integration of the kind llm, or null.'),
      inferenceEnabled: z.boolean().describe('Whether the orchestrator may ask its model.'),
      planApproval: z.boolean().describe('Whether a person has to approve each plan before an agent follows it.'),
      dailyCostCapUsd: z
        .number()
        .min(costCapUsd.min)
        .max(costCapUsd.max)
        .refine((usd) => usd <= 0 || usd >= costCapUsd.unit, `must be 0 or at least ${costCapUsd.unit}`)
        .nullable()
        .describe(
          '0, or 0.0001 to 1000000, rounded to a hundredth of a cent; null means the default. At 0 no mission starts.',
        ),
    })
    .partial()
    .meta({
      description: 'Omitted members stay unchanged; null restores the default.',
      examples: [{ model: 'claude-sonnet-4-5', dailyCostCapUsd: 25 }],
    }),
);

builder.queryField('orchestrator', (t) =>
  t.field({
    description: 'The orchestrator of the organization, its daily cost cap and the cost so far today.',
    scope: 'orchestrator:read',
    rest: 'GET /orchestrator',
    tool: 'get_orchestrator',
    type: OrchestratorType,
    resolve: (_, _args, { caller }) => operations.findOrchestrator(caller),
  }),
);

builder.mutationField('updateOrchestrator', (t) =>
  t.field({
    description: 'Changes the orchestrator. Omitted members stay unchanged; null restores the default.',
    scope: 'orchestrator:write',
    rest: 'PATCH /orchestrator',
    tool: { name: 'update_orchestrator', idempotent: true },
    type: OrchestratorType,
    args: { input: t.arg({ type: UpdateOrchestratorRequest, required: true, description: 'The fields to change.' }) },
    resolve: (_, { input }, { caller }) => operations.updateOrchestrator(caller, input),
  }),
);
