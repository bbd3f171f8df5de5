// Deliveries: written from the audit log for each endpoint, listed, repeated, and deleted after the retention period. The endpoint stores
// the number of the last event that it has deliveries for, so that no event is skipped, and no delivery is written before the change has
// been committed.
import type { Caller } from '#access/principal.ts';
import { isoTime, now } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import type { Page, PageRequest } from '#foundation/postgres/cursor.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { columnsOf } from '#foundation/postgres/reads.ts';
import { conflict, invalid } from '#foundation/problem.ts';
import { recordAction } from '../../organization/audit-changes/changes.ts';
import { isWritableSql } from '../../organization/cells/state.ts';
import { forEachOrganization } from '../audit/each-organization.ts';
import { type FeedEvent, readEventsAfter } from '../audit/feed.ts';
import { lastNumberSql } from '../audit/numbers.ts';
import { webhookCounts, webhookRetentionMs } from './bounds.ts';
import { WebhookDelivery, WebhookEndpoint } from './model.ts';
import { endRest, findEndpoint } from './operations.ts';

export interface WebhookDeliveryFilter extends PageRequest {
  endpointId: string;
  status?: WebhookDelivery['status'] | null | undefined;
}

/** Deliveries, newest first. @throws 404 for an unknown endpoint */
export async function listWebhookDeliveries(
  caller: Caller,
  request: WebhookDeliveryFilter,
): Promise<Page<WebhookDelivery>> {
  const { endpointId, status, ...page } = request;
  const { id, orgId } = await findEndpoint(caller, endpointId);
  return WebhookDelivery.page({ orgId, endpointId: id, status: status ?? undefined }, page);
}

export async function findWebhookDelivery(
  caller: Caller,
  endpointId: string,
  deliveryId: string,
): Promise<WebhookDelivery> {
  return deliveryOf(await findEndpoint(caller, endpointId), deliveryId);
}

const deliveryOf = ({ id, orgId }: WebhookEndpoint, deliveryId: string): Promise<WebhookDelivery> =>
  WebhookDelivery.get({ id: deliveryId as WebhookDelivery['id'], endpointId: id, orgId });

export interface ResendRange {
  createdFrom: number;
  createdBefore?: number | undefined;
  status?: WebhookDelivery['status'] | undefined;
}

/** Sends an event again, as a new delivery with the same `webhook-id`. @throws 409 when the endpoint has the maximum number of waiting deliveries */
export async function resend(caller: Caller, endpointId: string, deliveryId: string): Promise<WebhookDelivery> {
  const endpoint = await findEndpoint(caller, endpointId);
  return (await writeAgain(endpoint, [await deliveryOf(endpoint, deliveryId)]))[0]!;
}

const rangeSql = `select ${columnsOf(WebhookDelivery)} from webhook_deliveries
  where endpoint_id = $1 and resend_of is null and status = any($2) and created_at >= $3 and created_at < $4
  order by created_at, id limit ${webhookCounts.waiting + 1}`;

/** Sends the events of a period again. Returns their number. @throws 400 for the status `pending`; 409 as `resend` */
export async function resendRange(caller: Caller, endpointId: string, range: ResendRange): Promise<number> {
  const { createdFrom, createdBefore = Number.MAX_SAFE_INTEGER, status } = range;
  if (status === 'pending') throw invalid.field('status', 'must be "delivered" or "failed"');
  const endpoint = await findEndpoint(caller, endpointId);
  const statuses = status ? [status] : ['delivered', 'failed'];
  const found = await sql<WebhookDelivery>(rangeSql, [endpoint.id, statuses, createdFrom, createdBefore]);
  return found.length > 0 ? (await writeAgain(endpoint, found)).length : 0;
}

const writeAgain = ({ id, orgId, name }: WebhookEndpoint, found: readonly WebhookDelivery[]) =>
  transaction(async (trx) => {
    if (!(await WebhookEndpoint.lock(trx, { id, orgId }))) WebhookEndpoint.refuse();
    if ((await countWaiting(trx, id)) + found.length > webhookCounts.waiting)
      throw conflict(
        `An endpoint can have at most ${webhookCounts.waiting} waiting deliveries. Repeat the deliveries of a shorter period.`,
      );
    const ids = newDeliveryIds(found.length);
    const again = found.map((delivery, n) => ({ ...withBody(ids[n]!, delivery), resendOf: delivery.id }));
    await WebhookDelivery.insertMany(trx, again);
    await endRest(trx, id);
    await recordAction(orgId, 'resent_webhooks', { id, name, deliveries: again.length }, trx);
    return again;
  });

const countSql = `select count(*) as waiting from (
  select from webhook_deliveries where endpoint_id = $1 and due_at is not null limit ${webhookCounts.waiting}) waiting`;

const countWaiting = async (trx: Transaction, endpointId: string): Promise<number> =>
  (await sql<{ waiting: number }>(countSql, [endpointId], trx))[0]!.waiting;

/** New ids in ascending order, so that deliveries with equal times keep their order in lists. */
export const newDeliveryIds = (count: number): WebhookDelivery['id'][] =>
  Array.from({ length: count }, () => newId('webhookDelivery')).sort();

/** The first delivery of an event to an endpoint, due at once. */
export const newDelivery = (
  id: WebhookDelivery['id'],
  { orgId, endpointId }: Pick<WebhookDelivery, 'orgId' | 'endpointId'>,
  event: FeedEvent,
): WebhookDelivery => withBody(id, { orgId, endpointId, number: event.number, type: event.type, body: bodyOf(event) });

const withBody = (
  id: WebhookDelivery['id'],
  { orgId, endpointId, number, type, body }: Pick<WebhookDelivery, 'orgId' | 'endpointId' | 'number' | 'type' | 'body'>,
): WebhookDelivery => ({
  ...{ id, orgId, endpointId, number, type, body, status: 'pending', attempts: 0 },
  ...{ dueAt: now(), attemptedAt: null, durationMs: null, answerStatus: null, answerBody: null, error: null },
  ...{ resendOf: null, createdAt: now() },
});

/** The body of a message, in the format of Standard Webhooks. */
const bodyOf = (event: FeedEvent): string =>
  JSON.stringify({ type: event.type, timestamp: isoTime(event.occurredAt), data: event });

/**
 * Maximum number of events for which one transaction writes deliveries, and maximum number of such transactions per endpoint in one run of
 * the job.
 */
const batch = { events: 200, perRun: 5 } as const;

const behindSql = `disabled_at is null and last_number < ${lastNumberSql('webhook_endpoints.org_id')}`;
const organizationsSql = `select distinct org_id from webhook_endpoints where org_id > $1 and ${behindSql} order by org_id limit 500`;
const endpointsSql = `select id from webhook_endpoints where org_id = $1 and ${behindSql}`;

/** Writes the deliveries of all numbered events of the audit log; called periodically. */
export const writeWebhookDeliveries = (): Promise<void> =>
  forEachOrganization(organizationsSql, [], async ({ orgId }) => {
    for (const { id } of await sql<Pick<WebhookEndpoint, 'id'>>(endpointsSql, [orgId]))
      for (let n = 0; n < batch.perRun && (await writeBatch(id)); n++);
  });

/** Writes one batch of deliveries. Returns whether the log has more events for the endpoint. */
const writeBatch = (id: WebhookEndpoint['id']): Promise<boolean> =>
  transaction(async (trx) => {
    const endpoint = (await WebhookEndpoint.query(trx).findOne({ id }).forUpdate().skipLocked()) as
      | WebhookEndpoint
      | undefined;
    if (!endpoint || endpoint.disabledAt !== null) return false;
    const limit = Math.min(batch.events, webhookCounts.waiting - (await countWaiting(trx, id)));
    if (limit <= 0) return false;
    const { orgId, types, lastNumber: after } = endpoint;
    const projectIds = endpoint.projectIds.length > 0 ? endpoint.projectIds : undefined;
    const page = await readEventsAfter(orgId, { after, types, projectIds, limit }, trx);
    const ids = newDeliveryIds(page.data.length);
    const rows = page.data.map((event, n) => newDelivery(ids[n]!, { orgId, endpointId: id }, event));
    // A test event already has its delivery (test-event.ts).
    if (rows.length > 0) await trx(WebhookDelivery.tableName).insert(rows).onConflict().ignore();
    await WebhookEndpoint.patch(trx, { id }, { lastNumber: page.lastNumber });
    return page.hasMore;
  });

const sweepSql = `delete from webhook_deliveries where id in (
  select id from webhook_deliveries where created_at < $1 and ${isWritableSql('webhook_deliveries.org_id')} order by created_at limit 5000) returning 1 as deleted`;

export async function sweepWebhookDeliveries(): Promise<void> {
  while ((await sql(sweepSql, [now() - webhookRetentionMs])).length === 5_000);
}
