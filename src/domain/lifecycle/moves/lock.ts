// Only one process at a time moves an organization, or cancels its move.
import { sql, transaction } from '#foundation/postgres/database.ts';

export class MoveError extends Error {}

const lockSql = `select pg_try_advisory_xact_lock(hashtextextended('move ' || $1, 0)) as ours`;

/** Calls `work` while no other process moves the organization. If this process is killed, the database releases the lock. @throws MoveError */
export const withMoveLock = <T>(orgId: string, work: () => Promise<T>): Promise<T> =>
  transaction(async (trx) => {
    await trx.raw('set local idle_in_transaction_session_timeout = 0');
    const [lock] = await sql<{ ours: boolean }>(lockSql, [orgId], trx);
    if (!lock!.ours)
      throw new MoveError('another process is moving the organization: wait until that process ends, or end it');
    return work();
  });
