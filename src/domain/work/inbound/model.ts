// A delivery: an event that arrived at an inbound hook, with its outcome (docs/triggers.md).
import { orgWide } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { InboundHook } from '../inbound-hooks/model.ts';

export const deliveryStatuses = ['received', 'started', 'waiting', 'ignored', 'failed'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

export const outcomeResults = ['started', 'waiting', 'ignored', 'later'] as const;

/** The effect of an event on one scheduled task or automation. */
export interface DeliveryOutcome {
  recurringId: Id<'scheduledTask' | 'automation'>;
  name: string;
  result: (typeof outcomeResults)[number];
  /** Explanation for people why no mission was started; null for a started mission. */
  reason: string | null;
  runId: Id<'run'> | null;
}

export type AnswerKind = 'reaction' | 'comment' | 'activity';

export class InboundDelivery extends table('inbound_deliveries', {
  id: column<Id<'inboundDelivery'>>(),
  orgId: column<Id<'organization'>>(),
  hookId: column<Id<'inboundHook'>>(),
  /** The sender's id of the event, unique within its hook. */
  externalId: column<string>(),
  /** The name that the sender uses for this kind of event, such as `issues.labeled`. */
  event: column<string>(),
  title: column<string | null>(),
  /** The payload as JSON; null for an event that no trigger can use. */
  payload: column<string | null>(),
  /** The headers; credentials and the signature have been removed. Null for a delivery that an earlier release stored. */
  headers: column<Record<string, string> | null>(),
  status: column<DeliveryStatus>(),
  /**
   * Reason why the event has started nothing or is retried. If the event continued the mission of a pull request, or started a mission
   * because an issue was assigned to an agent, the text instead names the run of the mission. Null in all other cases.
   */
  reason: column<string | null>(),
  outcomes: column<DeliveryOutcome[]>(),
  /** Reasons why a reaction or comment could not be added at the source host, by kind of answer; null without a problem. */
  answerProblems: column<Partial<Record<AnswerKind, string>> | null>(),
  /** The earlier delivery that a person has repeated as this one; null for an original delivery. */
  redeliveryOf: column<Id<'inboundDelivery'> | null>(),
  receivedAt: column<number>(),
  processedAt: column<number | null>(),
  createdAt: column<number>(),
}) {
  static override noun = 'delivery';
  static override jsonAttributes = ['headers', 'outcomes', 'answerProblems'];
  static visibleTo = orgWide;

  static {
    this.belongsTo('hook', InboundHook, 'hookId', 'deliveries');
  }
}
