// The preview of a rule in the graph: rules are not in REST.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { request } from '#graph/input.ts';
import { boundedText } from '#graph/validation.ts';
import { weightOf } from '#graph/weight.ts';
import { text } from '#limits.ts';
import { inboundPreview, inboundText } from '../inbound-hooks/bounds.ts';
import { eventTrigger } from '../recurring/schema-event-triggers.ts';
import { type Preview, previewTrigger } from './preview.ts';
import { DeliveryType } from './schema.ts';

const PreviewType = builder.objectRef<Preview>('EventTriggerPreview').implement({
  description: 'The effect that a rule would have on an event that arrived.',
  fields: (t) => ({
    delivery: t.expose('delivery', { type: DeliveryType, graphOnly: true, description: 'The event.' }),
    reason: t.exposeString('reason', {
      nullable: true,
      description: 'Why the event does not fit the rule; null when it would start a mission, if its author may.',
    }),
    key: t.exposeString('key', {
      nullable: true,
      description: 'The value by which repeated events count as one; null when each event counts.',
    }),
    text: t.exposeString('text', {
      nullable: true,
      complexity: weightOf(inboundText.template.max),
      description:
        'The text for the agent; null when the event does not fit. Without a template, the issue is read again when a mission starts.',
    }),
  }),
});
const Previews = builder.objectRef<{ data: Preview[] }>('EventTriggerPreviews').implement({
  description: 'The effects that a rule would have.',
  fields: (t) => ({
    data: t.expose('data', {
      type: [PreviewType],
      complexity: { field: 1, multiplier: inboundPreview.deliveries },
      description: `At most ${inboundPreview.deliveries} deliveries, newest first.`,
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
        .describe(`The event. Absent means the newest ${inboundPreview.deliveries} that the rule may concern.`),
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
