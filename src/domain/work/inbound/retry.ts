// Retries of events. A row in this table replaces the event's job, so that hundreds of waiting events cost nothing. Events that wait for
// the end of other missions are retried, oldest first, when the organization may start a mission; all other events are retried at their
// scheduled time.
import { days, minutes, now, seconds } from '#foundation/clock.ts';
import { enqueue } from '#foundation/jobs/background.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { Problem } from '#foundation/problem.ts';
import { isWritableSql } from '../../organization/cells/state.ts';
import type { InboundEvent } from '../../projects/vendors/event.ts';
import { mayStartMission } from '../starts/gate.ts';
import type { Approver } from './admission.ts';
import { InboundDelivery } from './model.ts';

/** The background job of a delivery. `approvedBy`: the person who approved that the event starts missions. */
export interface DeliveryJob {
  deliveryId: string;
  approvedBy?: Approver;
}

/** A later retry of an event, and its reason. */
export interface Postponement {
  reason: string;
  /** Description of the event in one line, if it was read. */
  title?: string;
  /**
   * Whether the event waits until the organization can start another mission: until other missions have ended, or there is money for a mission again.
   */
  needsPlace: boolean;
  /** Minimum delay, as requested by the source host. */
  delayMs?: number;
}

/** Delay of the next attempt: short at first, and longer after the event has waited for a while. */
const delays = { min: seconds(15), max: minutes(10) } as const;

const postponeSql = `insert into inbound_retries (delivery_id, org_id, approved_by_user_id, needs_place, due_at, received_at)
  values ($1, $2, $3, $4, $5, $6) on conflict (delivery_id) do update set needs_place = $4, due_at = $5`;

/** Schedules a retry of the locked delivery and records the reason on it; its status stays `received`. */
export async function postpone(
  trx: Transaction,
  { id, orgId, receivedAt }: InboundDelivery,
  approvedBy: Approver,
  { needsPlace, delayMs = 0, ...shown }: Postponement,
): Promise<void> {
  const age = Math.min(Math.max((now() - receivedAt) / 4, delays.min), delays.max);
  const dueAt = Math.ceil(now() + Math.max(age, delayMs));
  await InboundDelivery.patch(trx, { id }, shown);
  await sql(postponeSql, [id, orgId, approvedBy, needsPlace, dueAt, receivedAt], trx);
}

/** Schedules a retry of the delivery after a temporary error of a vendor. @throws any other error, so that the job fails and is retried as a job */
export async function postponeAfter(error: unknown, delivery: InboundDelivery, approvedBy: Approver): Promise<void> {
  if (!(error instanceof Problem) || !error.body.retryable) throw error;
  const { body, headers } = error;
  const delayMs = seconds(Number(headers['retry-after'] ?? 0));
  await postponeUnprocessed(delivery.id, approvedBy, { reason: body.description, needsPlace: false, delayMs });
}

/** Schedules a retry, unless another process has already processed the delivery. */
const postponeUnprocessed = (id: InboundDelivery['id'], approvedBy: Approver, why: Postponement): Promise<void> =>
  transaction(async (trx) => {
    const delivery = await InboundDelivery.lock(trx, { id });
    if (delivery?.status === 'received') await postpone(trx, delivery, approvedBy, why);
  });

/** Whether the organization cannot start another mission now. A retry is then scheduled, and the source host is not called. */
export async function waitsForPlace(
  { id, orgId }: InboundDelivery,
  { title }: InboundEvent,
  approvedBy: Approver,
): Promise<boolean> {
  const may = await transaction((trx) => mayStartMission(trx, orgId));
  if (may.ok || may.code === 'organization_closed') return false;
  await postponeUnprocessed(id, approvedBy, { reason: may.reason, title, needsPlace: true });
  return true;
}

const waitingSql = 'select distinct org_id from inbound_retries where needs_place';
const takeSql = (which: string): string => `delete from inbound_retries where delivery_id in (
    select delivery_id from inbound_retries where ${which} for update skip locked)
  returning delivery_id, approved_by_user_id as approved_by`;
const takeDueSql = takeSql(`due_at <= $1 and ${isWritableSql('inbound_retries.org_id')} order by due_at limit $2`);
const takePlacesSql = takeSql('needs_place and org_id = $1 order by received_at limit $2');
/** Maximum number of events of one organization that are retried at the same time. */
const atOnce = 100;

/** Retries events that are due, or whose organization may start another mission. */
export async function retryDeliveries(): Promise<void> {
  await transaction((trx) => take(trx, takeDueSql, now(), atOnce));
  for (const { orgId } of await sql<{ orgId: string }>(waitingSql, [])) {
    await transaction(async (trx) => {
      const may = await mayStartMission(trx, orgId);
      if (may.ok) await take(trx, takePlacesSql, orgId, Math.min(may.missions, atOnce));
    });
  }
}

async function take(trx: Transaction, statement: string, ...values: unknown[]): Promise<void> {
  for (const job of await sql<DeliveryJob>(statement, values, trx)) await enqueue(trx, 'inbound event', job);
}

/** An event that waits for the end of other missions is abandoned later than one that cannot be processed. */
export const placeWaitMs = days(14);

export interface WaitingEvents {
  /**
   * Number of events whose organization cannot start a mission now. They wait until one of its missions ends, it gets credits, or its cost limit
   * allows another mission.
   */
  forPlace: number;
  /** Number of events that are retried at a scheduled time, after an error of a vendor. */
  forTime: number;
  /** Time of arrival of the oldest waiting event; null when none waits. */
  since: number | null;
}

const countSql = `select count(*) filter (where needs_place)::int as for_place, count(*) filter (where not needs_place)::int as for_time,
  min(received_at) as since from inbound_retries`;

/** Counts the waiting events of all organizations. */
export const countWaitingEvents = async (): Promise<WaitingEvents> => (await sql<WaitingEvents>(countSql))[0]!;
