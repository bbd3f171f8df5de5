// A webhook endpoint, which is a URL that receives signed events of an organization, and its deliveries (docs/webhooks.md).
import { orgWide } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';

export const disabledReasons = ['person', 'gone', 'failing'] as const;

export class WebhookEndpoint extends table('webhook_endpoints', {
  id: column<Id<'webhookEndpoint'>>(),
  orgId: column<Id<'organization'>>(),
  name: column<string>(),
  url: column<string>(),
  /** Event types that the endpoint receives; empty means all. */
  types: column<string[]>(),
  /** Projects whose events are sent; empty for all events of the organization. */
  projectIds: column<string[]>(),
  /** Whether events are sent one after the other, ordered by number. */
  ordered: column<boolean>(),
  disabledAt: column<number | null>(),
  disabledReason: column<(typeof disabledReasons)[number] | null>(),
  /** The time since which every attempt has failed; null after a success. */
  failingSince: column<number | null>(),
  /** Number of the last event in the log for which deliveries were created. */
  lastNumber: column<number>(),
  createdByUserId: column<Id<'person'> | null>(),
  createdAt: column<number>(),
  updatedAt: column<number>(),
}) {
  static override noun = 'webhook endpoint';
  static visibleTo = orgWide;

  /** The sealed secrets, which are not columns, so that no read returns them. */
  declare sealedSecret?: string;
  declare sealedPreviousSecret?: string | null;
  declare previousSecretUntil?: number | null;
}

export const webhookStatuses = ['pending', 'delivered', 'failed'] as const;

export class WebhookDelivery extends table('webhook_deliveries', {
  id: column<Id<'webhookDelivery'>>(),
  orgId: column<Id<'organization'>>(),
  endpointId: column<Id<'webhookEndpoint'>>(),
  /** Number of the event in the audit log. */
  number: column<number>(),
  type: column<string>(),
  status: column<(typeof webhookStatuses)[number]>(),
  attempts: column<number>(),
  /** When the next attempt is due; null once the event is delivered or the delivery has failed. */
  dueAt: column<number | null>(),
  attemptedAt: column<number | null>(),
  durationMs: column<number | null>(),
  /** The body that is sent. */
  body: column<string>(),
  answerStatus: column<number | null>(),
  answerBody: column<string | null>(),
  /** The reason why no response arrived; null when one did. */
  error: column<string | null>(),
  /** The earlier delivery that a person repeated by creating this one. */
  resendOf: column<Id<'webhookDelivery'> | null>(),
  createdAt: column<number>(),
}) {
  static override noun = 'delivery';
  static visibleTo = orgWide;

  static {
    this.belongsTo('endpoint', WebhookEndpoint, 'endpointId', 'deliveries');
  }
}

/** The `webhook-id` of an event, the same in each attempt and delivery. */
export const messageIdOf = ({ orgId, number }: Pick<WebhookDelivery, 'orgId' | 'number'>): string =>
  `${orgId}_${number}`;
