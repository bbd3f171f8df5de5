// Deliveries of inbound hooks in all APIs: the events that arrived, and their outcomes.
import { builder } from '#graph/builder.ts';
import { pathId } from '#graph/input.ts';
import { belongsTo, epochMs, epochMsOrNull, members, string, stringOrNull, typed } from '#graph/members.ts';
import { pageArguments, pageOf } from '#graph/page.ts';
import { wordSet } from '#graph/scalars.ts';
import { weightOf } from '#graph/weight.ts';
import { pages } from '#limits.ts';
import { inboundPayload } from '../inbound-hooks/bounds.ts';
import { hookId, InboundHookType } from '../inbound-hooks/schema.ts';
import * as deliveries from './deliveries.ts';
import { type DeliveryOutcome, deliveryStatuses, InboundDelivery, outcomeResults } from './model.ts';

const DeliveryStatus = wordSet('InboundDeliveryStatus', deliveryStatuses, 'State of a delivery.', {
  received: 'The event is not processed yet, or will be retried; `reason` says why.',
  started: 'The event has started a mission, or continues the mission of a pull request.',
  waiting: 'The event waits for an approval; `reason` says why.',
  ignored: 'The event has started nothing; `reason` or `outcomes` says why.',
  failed: 'The event could not be processed within two days.',
});
const OutcomeResult = wordSet(
  'InboundOutcomeResult',
  outcomeResults,
  'Effect of an event on one scheduled task or automation.',
  {
    started: 'The event has started a mission.',
    waiting: 'The event waits for an approval.',
    ignored: 'The event has started nothing.',
    later: 'The event is retried later.',
  },
);
const Outcome = builder.objectRef<DeliveryOutcome>('InboundOutcome').implement({
  description: 'The effect of an event on one scheduled task or automation with a matching rule.',
  fields: (t) =>
    members(t, {
      recurringId: string('The id of the scheduled task or automation.'),
      name: string('The name of the scheduled task or automation when the event was processed.'),
      result: typed(OutcomeResult.type, 'The effect of the event.'),
      reason: stringOrNull('Reason why no mission was started; null otherwise.'),
      runId: stringOrNull('The run that was started; null otherwise.'),
    }),
});
const Header = builder.objectRef<{ name: string; value: string }>('InboundHeader').implement({
  description: 'A header of a request.',
  fields: (t) =>
    members(t, {
      name: string('Name of the header in lower case.'),
      value: string('Value of the header; several values are joined by commas.'),
    }),
});

export const DeliveryType = builder.modelType(InboundDelivery, 'InboundDelivery').implement({
  description: 'An event that arrived at a hook, kept for 30 days.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `dlv_`.'),
      orgId: string('The organization of the delivery.'),
      hookId: string('The hook.'),
      externalId: string('The sender’s id of the event: deliveries with the same id are processed once.'),
      event: string('The name that the sender uses for this kind of event, such as `issues.labeled`.'),
      title: stringOrNull('The event in one line; null until it is processed.'),
      status: typed(DeliveryStatus.type, 'The state of the delivery.'),
      reason: stringOrNull(
        'Reason why the event has started nothing. If the event continued the mission of a pull request, or started a mission because ' +
          'an issue was assigned to an agent, the text instead names the run of the mission. Null in all other cases.',
      ),
      outcomes: typed([Outcome], 'The effects of the event on scheduled tasks and automations.'),
      answerProblems: t.stringList({
        description:
          'Reasons why a reaction or comment could not be added at the source host, or an activity could not be added to the session of ' +
          'the agent. The mission continues nevertheless. Empty if there was no such problem.',
        resolve: ({ answerProblems }) => Object.values(answerProblems ?? {}),
      }),
      redeliveryOf: stringOrNull('The delivery that a person repeated with this one; null otherwise.'),
      receivedAt: epochMs('When the event arrived.'),
      processedAt: epochMsOrNull('When the event was processed; null before.'),
      payload: stringOrNull('The body as JSON; null for an event that no trigger can use.', {
        graphOnly: true,
        complexity: weightOf(inboundPayload.bytes),
      }),
      headers: t.field({
        graphOnly: true,
        nullable: true,
        type: [Header],
        description: 'The headers of the request, without credentials and the signature; null when they were not kept.',
        resolve: ({ headers }) => headers && Object.entries(headers).map(([name, value]) => ({ name, value })),
      }),
      hook: belongsTo('integrations:read', 'The hook.', { type: InboundHookType }),
    }),
});
const DeliveryPage = pageOf('InboundDeliveryPage', DeliveryType);

const deliveryId = { ...pathId, description: 'The id of the delivery.' } as const;

builder.queryFields((t) => ({
  inboundDeliveries: t.field({
    description: 'Events that arrived at a hook, newest first.',
    scope: 'integrations:read',
    rest: 'GET /inbound-hooks/{hookId}/deliveries',
    tool: 'list_inbound_deliveries',
    type: DeliveryPage,
    args: {
      hookId: t.arg.string(hookId),
      status: t.arg({ type: DeliveryStatus.type, description: 'Only deliveries in this state.' }),
      ...pageArguments(pages.other),
    },
    resolve: (_, args, { caller }) => deliveries.listDeliveries(caller, args),
  }),
  inboundDelivery: t.field({
    description: 'A delivery by its id.',
    scope: 'integrations:read',
    rest: 'GET /inbound-hooks/{hookId}/deliveries/{deliveryId}',
    type: DeliveryType,
    args: { hookId: t.arg.string(hookId), deliveryId: t.arg.string(deliveryId) },
    resolve: (_, args, { caller }) => deliveries.findDelivery(caller, args.hookId, args.deliveryId),
  }),
}));

builder.mutationFields((t) => ({
  redeliverInboundDelivery: t.field({
    description:
      'Processes the payload of a delivery once more, as a new delivery. Because this may start missions, the call requires `missions:run` in addition to its own scope.',
    scope: 'integrations:write',
    rest: {
      route: 'POST /inbound-hooks/{hookId}/deliveries/{deliveryId}/redelivery',
      status: 201,
      errors: [409],
    },
    type: DeliveryType,
    args: { hookId: t.arg.string(hookId), deliveryId: t.arg.string(deliveryId) },
    resolve: (_, args, { caller }) => deliveries.redeliver(caller, args.hookId, args.deliveryId),
  }),
  approveInboundDelivery: t.field({
    description:
      'Starts the missions of an event whose author is not allowed to start them. The missions are billed to the caller. The call requires ' +
      '`missions:run` in addition to its own scope.',
    scope: 'integrations:write',
    rest: { route: 'POST /inbound-hooks/{hookId}/deliveries/{deliveryId}/approval', errors: [409] },
    type: DeliveryType,
    args: { hookId: t.arg.string(hookId), deliveryId: t.arg.string(deliveryId) },
    resolve: (_, args, { caller }) => deliveries.approveDelivery(caller, args.hookId, args.deliveryId),
  }),
  dismissInboundDelivery: t.field({
    description:
      'Dismisses an event that waits for an approval, so that the event starts nothing. The call requires `missions:run` in addition to its own scope.',
    scope: 'integrations:write',
    rest: { route: 'POST /inbound-hooks/{hookId}/deliveries/{deliveryId}/dismissal', errors: [409] },
    type: DeliveryType,
    args: { hookId: t.arg.string(hookId), deliveryId: t.arg.string(deliveryId) },
    resolve: (_, args, { caller }) => deliveries.dismissDelivery(caller, args.hookId, args.deliveryId),
  }),
}));
