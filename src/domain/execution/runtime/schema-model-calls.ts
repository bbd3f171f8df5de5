// The reservation of model calls by runtimes, in GraphQL only.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { request } from '#graph/input.ts';
import { int, members, stringOrNull } from '#graph/members.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { type ModelCallGrant, reserveModelCall } from './model-calls.ts';
import { key, ofRun } from './schema-runs.ts';

const tokens = z.int().min(0).max(1e9);
const ReserveModelCallRequest = request(
  'ReserveModelCallRequest',
  z
    .object({
      ...ofRun,
      callId: key.describe('Your own id of the call: a repeated request gets the same answer.'),
      model: boundedText(text.modelId).describe('The id of the model at its vendor.'),
      inputTokens: tokens.describe('Upper bound of the input tokens, including cached ones.'),
      outputTokens: tokens.describe('Maximum output tokens of the answer.'),
    })
    .describe('A model call that a runtime is about to make.'),
);
const ModelCallReservation = builder.objectRef<ModelCallGrant>('ModelCallReservation').implement({
  description: 'Decision whether a model call may be made now.',
  fields: (t) =>
    members(t, {
      outputTokens: int('Maximum output tokens that the call may request; 0 means the call must not be made yet.'),
      reason: stringOrNull('The reason why the call must not be made, for people; null when the call may be made.'),
    }),
});

builder.mutationField('reserveModelCall', (t) =>
  t.field({
    description:
      'Reserves the highest price of a model call before it is made, against the budget of the run, the credits and the daily ' +
      'cost cap of its organization, and the budgets of organization, project and person. `reportUsage` with its `callId` ends it. A call that would exceed a limit must not be made: the run ' +
      'waits until the limit is raised or its next day or month begins, and the runtime asks again with the same `callId`.',
    scope: 'runtime:report',
    type: ModelCallReservation,
    args: { input: t.arg({ type: ReserveModelCallRequest, required: true, description: 'The call.' }) },
    resolve: (_, { input }, { caller }) => reserveModelCall(caller, input),
  }),
);
