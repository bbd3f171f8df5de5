// The preview of a rule in GraphQL; REST has no rules for events.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { request } from '#graph/input.ts';
import { members, stringOrNull, typed } from '#graph/members.ts';
import { boundedText } from '#graph/validation.ts';
import { weightOf } from '#graph/weight.ts';
import { text } from '#limits.ts';
import { inboundPreview, inboundText } from '../inbound-hooks/bounds.ts';
import { eventTrigger } from '../recurring/schema-event-triggers.ts';
import { type Preview, previewTrigger } from './preview.ts';
import { DeliveryType } from './schema.ts';

const PreviewType = builder.objectRef<Preview>('EventTriggerPreview').implement({
  description: 'The result of applying a rule to an event that has already arrived. The preview starts no mission.',
  fields: (t) =>
    members(t, {
      delivery: typed(DeliveryType, 'The event.', { graphOnly: true }),
      reason: stringOrNull(
        'Reason why the event does not match the rule; null when it matches. A matching event starts a mission if its author is ' +
          'allowed to start one.',
      ),
      key: stringOrNull(
        'The deduplication key: only the first of several events with equal keys counts; null when every event counts.',
      ),
      text: stringOrNull(
        'The text for the agent; null when the event does not match. Without a template, the issue is read again when a mission starts.',
        { complexity: weightOf(inboundText.template.max) },
      ),
    }),
});
const Previews = builder.objectRef<{ data: Preview[] }>('EventTriggerPreviews').implement({
  description: 'The results of applying a rule to events that have already arrived. The preview starts no missions.',
  fields: (t) =>
    members(t, {
      data: typed([PreviewType], `At most ${inboundPreview.deliveries} deliveries, newest first.`, {
        complexity: { field: 1, multiplier: inboundPreview.deliveries },
      }),
    }),
});

const PreviewRequest = request(
  'PreviewEventTriggerRequest',
  z
    .object({
      trigger: eventTrigger.describe('The rule.'),
      projectId: boundedText(text.pathId).optional().describe('The project of the scheduled task or automation.'),
      deliveryId: boundedText(text.pathId)
        .optional()
        .describe(
          `The event to evaluate. Absent means the newest ${inboundPreview.deliveries} that the rule may concern.`,
        ),
    })
    .meta({
      description: 'A rule to try.',
      examples: [{ trigger: { kind: 'issue', label: 'agent' } }],
    }),
);

builder.queryField('previewEventTrigger', (t) =>
  t.field({
    description:
      'Evaluates conditions, filter, key and template of a rule against events that arrived, newest first. Starts nothing.',
    scope: 'integrations:read',
    type: Previews,
    complexity: 20,
    args: { input: t.arg({ type: PreviewRequest, required: true, description: 'The rule to try.' }) },
    resolve: async (_, { input }, { caller }) => ({ data: await previewTrigger(caller, input) }),
  }),
);
