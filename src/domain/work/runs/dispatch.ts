// Creates the issue of each new run in the tracker of its project. Any number of processes can do this at the same time
// (docs/decisions/0030-schedules-are-wall-times.md). A process has a lease on a run while it calls the tracker. When the process dies, another
// process takes over the run after the lease has expired. A tracker creates one issue per run, however often it is called.
import { hostname } from 'node:os';
import { minutes, now, seconds } from '#foundation/clock.ts';
import { enqueue } from '#foundation/jobs/background.ts';
import { announcing } from '#foundation/postgres/changes.ts';
import { sql, transaction } from '#foundation/postgres/database.ts';
import { columnsOf } from '#foundation/postgres/reads.ts';
import { toProblem } from '#foundation/problem.ts';
import { maxWaitMs } from '#limits.ts';
import { isWritableSql } from '../../organization/cells/state.ts';
import type { AskedIssue } from '../../projects/issues/operations.ts';
import { Project } from '../../projects/projects/model.ts';
import { trackerOf } from '../../projects/vendors/tracker-of.ts';
import { type Mission, missionsOfRuns } from './mission.ts';
import { type WaitingRun, waitingColumns } from './model.ts';
import { recordEnds } from './spans.ts';
import { isInState, isWaitingForIssue, moveRunsSql } from './states.ts';

/** Delivery of runs to their tracker: the lease outlasts several calls; the delay before a retry doubles from `min` to `max`. */
export const dispatching = {
  batchSize: 500,
  concurrency: 10,
  leaseMs: minutes(2),
  attempts: 10,
  delayMs: { min: seconds(10), max: minutes(10) },
} as const;

/** Name of this process, shown to operators. */
const self = `${hostname()}:${process.pid}`;
export const leaseOfDispatcher = (at: number) => ({ claimedBy: self, leaseUntil: at + dispatching.leaseMs });

/**
 * State of an attempt while the first attempt's issue is created. The number of tries stays 0, because no tracker was called for this
 * attempt.
 */
export const waitsForIssueOfTask = (at: number) => ({
  attempts: 0,
  reason: 'Waiting for the issue of the task.',
  leaseUntil: at + maxWaitMs,
});
// If the first attempt ended before it had an issue, the next attempt creates the issue.
const isFirstOfAttempts = `attempts = 0 and attempt_group_id is not null and not exists (select from runs f
  where f.attempt_group_id = runs.attempt_group_id and f.attempt_number < runs.attempt_number and ${isInState(['waitingForIssue'], 'f')})`;
const takeOverRunsSql = `with free as (
    select id from runs where ${isInState(['waitingForIssue'])} and (lease_until <= $1 or ${isFirstOfAttempts})
      and ${isWritableSql('runs.org_id')}
    order by lease_until limit ${dispatching.batchSize} for update skip locked
  )
  update runs r set attempts = attempts + 1, claimed_by = $2, lease_until = $3 from free where r.id = free.id
  returning ${columnsOf({ columns: waitingColumns }, 'r')}`;

/** Takes over runs whose dispatcher died, and runs whose delay after a failure has passed. */
export async function takeOverRuns(): Promise<WaitingRun[]> {
  const at = now();
  const { claimedBy, leaseUntil } = leaseOfDispatcher(at);
  return sql<WaitingRun>(takeOverRunsSql, [at, claimedBy, leaseUntil]);
}

/** A run, and the issue to create for it. */
interface Delivery extends AskedIssue {
  run: WaitingRun;
}

/**
 * Creates the issues of runs that this process has claimed; `recurring` contains their missions by id. Errors of a tracker are recorded on
 * the run; internal errors are returned.
 */
export async function deliverRuns(
  held: readonly WaitingRun[],
  recurring: ReadonlyMap<string, Mission>,
): Promise<unknown[]> {
  const deliveries = await readDeliveries(held.filter(isWaitingForIssue), recurring);
  const internal: unknown[] = [];
  let renewedAt = now();
  for (let begin = 0; begin < deliveries.length; begin += dispatching.concurrency) {
    if (now() - renewedAt >= dispatching.leaseMs / 4) {
      await renewLeases(deliveries.slice(begin));
      renewedAt = now();
    }
    await Promise.all(
      deliveries.slice(begin, begin + dispatching.concurrency).map((delivery) =>
        createIssue(delivery).catch(async (error) => {
          if (await recordFailure(delivery, error)) internal.push(error);
        }),
      ),
    );
  }
  return internal;
}

const renewLeasesSql = `update runs set lease_until = $3 where id = any($1) and claimed_by = $2 and ${isInState(['waitingForIssue'])}`;

/** Renews the leases of the remaining runs, so that no other process takes them over while a slow tracker answers. */
async function renewLeases(deliveries: readonly Delivery[]): Promise<void> {
  const { claimedBy, leaseUntil } = leaseOfDispatcher(now());
  await sql(renewLeasesSql, [deliveries.map(({ run }) => run.id), claimedBy, leaseUntil]);
}

/**
 * Reads the data for delivering the runs. Runs whose mission or project was deleted in the meantime are omitted, because they are canceled
 * or deleted too.
 */
async function readDeliveries(
  runs: readonly WaitingRun[],
  recurring: ReadonlyMap<string, Mission>,
): Promise<Delivery[]> {
  if (runs.length === 0) return [];
  const [projects, missions] = await Promise.all([
    Project.findByKeys('id', [...new Set(runs.map(({ projectId }) => projectId))]),
    missionsOfRuns(runs, recurring),
  ]);
  const projectsById = new Map<string, Project>(projects.map((project) => [project.id, project]));
  return runs.flatMap((run) => {
    const [mission, project] = [missions.get(run.id), projectsById.get(run.projectId)];
    if (!mission || !project) return [];
    const { name: title, prompt: body, labels } = mission;
    return [{ run, project, issue: { runId: run.id, title, body, labels } }];
  });
}

// Recording the issue changes the state, which depends on `issue_id`. The issue is also recorded for all attempts at the task, and for a
// run that was canceled meanwhile, so that the run's page links to the issue.
const isSameTask = 'r.attempt_group_id = (select l.attempt_group_id from runs l where l.id = $1)';
const recordIssueSql =
  announcing(`update runs r set issue_id = $2, issue_url = $3, claimed_by = null, lease_until = null,
    reason = case when ${isInState(['waitingForIssue'], 'r')} then null else r.reason end, updated_at = $4
  where (r.id = $1 or ${isSameTask}) and r.issue_id is null`);

async function createIssue({ run, project, issue }: Delivery): Promise<void> {
  const { id, url } = await trackerOf(project).createIssue(project, issue);
  await sql(recordIssueSql, [run.id, id, url, now()]);
}

// The statement compares `attempts`, because a process that has taken over the run in the meantime records its own failure.
const failDispatchSql = announcing(
  moveRunsSql('failed', {
    from: ['waitingForIssue'],
    set: 'last_error = $3, reason = $4, updated_at = $5, finished_at = $5, claimed_by = null, lease_until = null',
    where: `(r.id = $1 or ${isSameTask}) and exists (select from runs l where l.id = $1 and l.attempts = $2
      and ${isInState(['waitingForIssue'], 'l')})`,
  }),
);
const postponeDispatchSql =
  announcing(`update runs r set last_error = $3, reason = $4, updated_at = $5, claimed_by = null,
    lease_until = $6 where r.id = $1 and r.attempts = $2 and ${isInState(['waitingForIssue'], 'r')}`);

/** Records the error on the run, which is retried later or has failed. Returns true for an internal error. */
async function recordFailure({ run, project }: Delivery, error: unknown): Promise<boolean> {
  const { id, attempts } = run;
  const { tracker } = project;
  const { status, body, headers } = toProblem(error);
  const isInternal = status === 500;
  const at = now();
  if (attempts >= dispatching.attempts || (!body.retryable && !isInternal)) {
    const reason = `The tracker (${tracker}) did not accept the issue: ${body.description}`;
    await transaction(async (trx) => {
      await sql(failDispatchSql, [id, attempts, body.description, reason, at], trx);
      await enqueue(trx, 'answer event', { runId: id });
      recordEnds(trx, [id]);
    });
  } else {
    // Respects a longer delay that the tracker requests: with the default delays, all attempts would fail during a rate limit of an hour.
    const asked = seconds(Number(headers['retry-after'] ?? 0));
    const pause = Math.max(asked, Math.min(dispatching.delayMs.min * 2 ** (attempts - 1), dispatching.delayMs.max));
    const reason = `Waiting for the tracker (${tracker}): ${body.description}`;
    await sql(postponeDispatchSql, [id, attempts, body.description, reason, at, at + pause]);
  }
  return isInternal;
}
