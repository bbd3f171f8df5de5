// A test of an endpoint: an audit event about the endpoint itself, sent at once and outside the queue, so that a person sees the receiver's
// response. It is sent regardless of the endpoint's event types, and even while the endpoint is disabled or paused after a failure.
import type { Caller } from '#access/principal.ts';
import { now } from '#foundation/clock.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { firstStep } from '#foundation/postgres/idempotency.ts';
import { conflict } from '#foundation/problem.ts';
import { recordAction } from '../../organization/audit-changes/changes.ts';
import { readEventsAfter } from '../audit/feed.ts';
import { numberChangesIn } from '../audit/numbers.ts';
import { leaseMs, webhookCounts } from './bounds.ts';
import { sendOnce } from './deliver.ts';
import { newDelivery, newDeliveryIds } from './deliveries.ts';
import { WebhookDelivery, WebhookEndpoint } from './model.ts';
import { findEndpoint } from './operations.ts';

const type = 'webhook_endpoint.tested';

/**
 * Sends a test event. Returns its delivery with the response; a failed test is not retried.
 * @throws 409 while another test of the endpoint waits for its response
 */
export async function testEndpoint(caller: Caller, endpointId: string): Promise<WebhookDelivery> {
  const endpoint = await findEndpoint(caller, endpointId);
  const id = (await firstStep(() => writeTest(endpoint))) as WebhookDelivery['id'];
  const own = { id, endpointId: endpoint.id, orgId: endpoint.orgId };
  await sendOnce(await WebhookDelivery.get(own));
  return WebhookDelivery.get(own);
}

/** Writes the event and its delivery. If this process ends before the attempt, a job sends the event once the lease has expired. */
const writeTest = ({ id: endpointId, orgId, name }: WebhookEndpoint): Promise<WebhookDelivery['id']> =>
  transaction(async (trx) => {
    // Tests of an endpoint are serialized, so the next event about the endpoint belongs to this test.
    if (!(await WebhookEndpoint.lock(trx, { id: endpointId, orgId }))) WebhookEndpoint.refuse();
    const isOpen = { endpointId, type, status: 'pending', attempts: 0 } as const;
    if (await WebhookDelivery.query(trx).findOne(isOpen).where('dueAt', '>', now()))
      throw conflict('A test event of this endpoint is still waiting for its response.');
    const { lastNumber: after } = await numberChangesIn(trx, orgId);
    await recordAction(orgId, 'tested_webhooks', { id: endpointId, name }, trx);
    await numberChangesIn(trx, orgId);
    const { data } = await readEventsAfter(orgId, { after, types: [type], limit: webhookCounts.endpoints }, trx);
    const event = data.find(({ subject }) => subject.id === endpointId)!;
    const [id] = newDeliveryIds(1) as [WebhookDelivery['id']];
    const delivery = newDelivery(id, { orgId, endpointId }, event);
    await WebhookDelivery.insert(trx, { ...delivery, dueAt: now() + leaseMs });
    return id;
  });
