// What becomes of runs and sandboxes whose runtime sends no heartbeats (design decisions, section 12, Silence). A run whose lease
// is over waits again: its own runtime may come back to it, or another one take it. Its sandboxes turn stale, stay killable, and
// have failed when nothing was heard of them for ten minutes.
import { enqueue } from '#foundation/background.ts';
import { announce } from '#foundation/changes.ts';
import { now } from '#foundation/clock.ts';
import { sql, type Transaction, transaction } from '#foundation/database.ts';
import { lease, silence } from '#limits.ts';
import type { Run } from '../recurring/model.ts';
import { Sandbox, type SandboxStatus } from '../sandboxes/model.ts';

type Ended = Pick<Run, 'id' | 'issueId'>;

const batch = 100;

// The lease stays with the run until somebody else takes it.
const releaseExpiredLeasesSql = `with expired as (
    select id from runs where status = 'running' and lease_until <= $1
    order by lease_until limit ${batch} for update skip locked
  )
  update runs r set status = 'dispatching', lease_until = null, silent_since = r.lease_until - ${lease.lasts}, waiting_since = $1,
    reason = 'The runtime ' || coalesce(claimed_by, '') || ' stopped sending heartbeats: the run waits for it, or for another one.',
    last_error = 'The runtime ' || coalesce(claimed_by, '') || ' stopped sending heartbeats.',
    mission_progress = null, mission_activity = null, updated_at = $1
  from expired where r.id = expired.id returning r.id, r.issue_id`;

const failSilentRunsSql = `with silent as (
    select id from runs where status = 'dispatching' and silent_since <= $2
    order by silent_since limit ${batch} for update skip locked
  )
  update runs r set status = 'failed', finished_at = $1, lease_id = null, lease_until = null, updated_at = $1,
    reason = 'The runtime ' || coalesce(claimed_by, '') || ' did not come back within ten minutes, and no other one took the run.'
  from silent where r.id = silent.id returning r.id, r.issue_id`;

/** Runs whose lease is over wait again; those whose runtime did not come back within ten minutes have failed. */
export async function takeBackRuns(): Promise<void> {
  await transaction(async (trx) => {
    const released = await sql<Ended>(releaseExpiredLeasesSql, [now()], trx);
    await announce(trx, ...released.map(({ id }) => id));
  });
  await transaction(async (trx) => {
    const at = now();
    await announceFailed(trx, await sql<Ended>(failSilentRunsSql, [at, at - silence.failed], trx));
  });
}

/** Tells those who follow the runs, and the tracker. */
export async function announceFailed(trx: Transaction, failed: readonly Ended[]): Promise<void> {
  for (const { id, issueId } of failed) if (issueId) await enqueue(trx, 'finish issue', { runId: id });
  await announce(trx, ...failed.map(({ id }) => id));
}

/** Ends sandboxes that have outlived their time, and those that were silent for ten minutes. */
export const endSandboxesOutOfTime = (): Promise<void> =>
  transaction(async (trx) => {
    const at = now();
    const end = async (column: string, until: number, status: SandboxStatus, terminationReason: string) => {
      const ended: Pick<Sandbox, 'id' | 'runId'>[] = await trx(Sandbox.tableName)
        .where({ status: 'running' })
        .where(column, '<=', until)
        .update({ status, terminationReason, destroyedAt: at })
        .returning(['id', 'runId']);
      await announce(trx, ...ended.flatMap(({ id, runId }) => (runId ? [id, runId] : [id])));
    };
    await end('timeoutAt', at, 'destroyed', 'timeout');
    await end('lastHeartbeatAt', at - silence.failed, 'failed', 'the runtime was lost');
  });
