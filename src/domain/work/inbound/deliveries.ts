// Operations on the deliveries of inbound hooks: list, read, repeat, approve, and delete after the retention period.
import { admit } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import { beyondOneProject, ownOrganization, ownPerson, wholeOrganization } from '#access/reach.ts';
import { days, now } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import type { Page, PageRequest } from '#foundation/postgres/cursor.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { conflict } from '#foundation/problem.ts';
import { deliveryRetentionMs } from '../inbound-hooks/bounds.ts';
import { findHook } from '../inbound-hooks/operations.ts';
import { authorOf } from '../runs/steering.ts';
import { type DeliveryStatus, InboundDelivery } from './model.ts';
import { placeWaitMs } from './retry.ts';
import { enqueueDelivery } from './store.ts';

export interface DeliveryFilter extends PageRequest {
  hookId?: string | null | undefined;
  status?: DeliveryStatus | null | undefined;
}

/** Deliveries, newest first. @throws 404 for an unknown hook */
export async function listDeliveries(
  caller: Caller,
  { hookId, status, ...page }: DeliveryFilter,
): Promise<Page<InboundDelivery>> {
  beyondOneProject(caller);
  const hook = hookId == null ? {} : { hookId: (await findHook(caller, hookId)).id };
  return InboundDelivery.page({ orgId: ownOrganization(caller), ...hook, status: status ?? undefined }, page);
}

export async function findDelivery(caller: Caller, hookId: string, deliveryId: string): Promise<InboundDelivery> {
  return InboundDelivery.get({ id: deliveryId, hookId: hookId as never, orgId: wholeOrganization(caller) });
}

/** Processes the payload once more, as a new delivery. @throws 403 without `missions:run`, 409 for a delivery without a payload */
export async function redeliver(caller: Caller, hookId: string, deliveryId: string): Promise<InboundDelivery> {
  admit(caller, 'missions:run');
  const hook = await findHook(caller, hookId);
  const before = await findDelivery(caller, hookId, deliveryId);
  if (before.payload === null)
    throw conflict('The payload was not stored, because no trigger uses events of this name.');
  const [id, at] = [newId('inboundDelivery'), now()];
  const delivery: InboundDelivery = {
    ...before,
    id,
    externalId: id,
    status: 'received',
    reason: null,
    outcomes: [],
    answerProblems: null,
    redeliveryOf: before.id,
    receivedAt: at,
    processedAt: null,
    createdAt: at,
  };
  await transaction(async (trx) => {
    await InboundDelivery.insert(trx, delivery);
    await enqueueDelivery(trx, hook, delivery);
  });
  return delivery;
}

/**
 * Lets a waiting event start its missions, which are billed to the caller. @throws 403 without `missions:run`, 409 if the event does not
 * wait for an approval
 */
export async function approveDelivery(caller: Caller, hookId: string, deliveryId: string): Promise<InboundDelivery> {
  admit(caller, 'missions:run');
  const approvedBy = ownPerson(caller);
  const hook = await findHook(caller, hookId);
  const { id } = await findDelivery(caller, hookId, deliveryId);
  return transaction(async (trx) => {
    const before = await lockWaiting(trx, id);
    const changes = { status: 'received' as const, reason: null, processedAt: null };
    await InboundDelivery.patch(trx, { id }, changes);
    await enqueueDelivery(trx, hook, before, approvedBy);
    return { ...before, ...changes };
  });
}

/**
 * Dismisses a waiting event, which then starts no mission. @throws 403 without `missions:run`, 409 if the event does not wait for an
 * approval
 */
export async function dismissDelivery(caller: Caller, hookId: string, deliveryId: string): Promise<InboundDelivery> {
  admit(caller, 'missions:run');
  const { author } = await authorOf(caller);
  const { id } = await findDelivery(caller, hookId, deliveryId);
  return transaction(async (trx) => {
    const before = await lockWaiting(trx, id);
    const reason = `Dismissed by ${author}.`;
    const outcomes = before.outcomes.map((one) =>
      one.result === 'waiting' ? { ...one, result: 'ignored' as const, reason } : one,
    );
    const changes = { status: 'ignored' as const, reason, outcomes, processedAt: now() };
    await InboundDelivery.patch(trx, { id }, changes);
    return { ...before, ...changes };
  });
}

async function lockWaiting(trx: Transaction, id: InboundDelivery['id']): Promise<InboundDelivery> {
  const before = await InboundDelivery.lock(trx, { id });
  if (before?.status !== 'waiting') throw conflict('The delivery is not waiting for an approval.');
  return before;
}

/**
 * Age at which an unprocessed event is marked as failed and no longer retried. An event that waits until another mission may start is kept
 * longer.
 */
const givenUpAfterMs = days(2);
const giveUpSql = `update inbound_deliveries d set status = 'failed', processed_at = $2,
  reason = coalesce(reason, 'It could not be processed.') where status = 'received' and received_at < $1
  and (received_at < $3 or not exists (select from inbound_retries r where r.delivery_id = d.id and r.needs_place))`;
export async function sweepDeliveries(): Promise<void> {
  const at = now();
  await sql(giveUpSql, [at - givenUpAfterMs, at, at - placeWaitMs]);
  await sql('delete from inbound_deliveries where received_at < $1', [at - deliveryRetentionMs]);
  await sql('delete from inbound_keys where created_at < $1', [at - deliveryRetentionMs]);
}
