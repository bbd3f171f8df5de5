// The billing summary and settings in all APIs (docs/contract.md#billing).
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { request } from '#graph/input.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { TrackerTriggerPolicy } from '../../money/billing/schema-purchases.ts';
import { BillingSummaryType } from './schema-summary.ts';
import { billingSummary, updateSettings } from './summary.ts';

const orgId = boundedText(text.pathId)
  .optional()
  .describe('The organization of the caller. For any other organization, the response is a 404.');
const UpdateBillingSettingsRequest = request(
  'UpdateBillingSettingsRequest',
  z
    .object({
      trackerTriggers: TrackerTriggerPolicy.zod.describe(
        'The authors whose events at a tracker or source host may start missions. An event must also fulfill the conditions of a rule.',
      ),
      orgId,
    })
    .meta({ description: 'The settings to change.', examples: [{ trackerTriggers: 'members' }] }),
);

builder.queryFields((t) => ({
  billingSummary: t.field({
    description: 'The plan and the credits of the organization.',
    scope: 'billing:read',
    rest: 'GET /billing/summary',
    tool: 'get_billing_summary',
    type: BillingSummaryType,
    resolve: (_, _args, { caller }) => billingSummary(caller),
  }),
}));

builder.mutationFields((t) => ({
  updateBillingSettings: t.field({
    description: 'Changes the billing settings of the organization.',
    scope: 'billing:write',
    rest: { route: 'PATCH /billing/settings', errors: [404] },
    type: BillingSummaryType,
    args: { input: t.arg({ type: UpdateBillingSettingsRequest, required: true, description: 'The settings.' }) },
    resolve: (_, { input }, { caller }) => updateSettings(caller, input),
  }),
}));
