// Stores the threads of a pull request, and resolves comments of this service whose thread was resolved at the source host.
import type { Caller } from '#access/principal.ts';
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { enqueue } from '#foundation/jobs/background.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { selectionOf } from '#foundation/postgres/reads.ts';
import { Project } from '../../projects/projects/model.ts';
import type { HostThread } from '../../projects/vendors/source-host.ts';
import { partsOf } from './loader-keys.ts';
import type { Run } from './model.ts';
import { PullRequestThread } from './thread-model.ts';

/** A review comment whose thread was resolved at the host by `resolvedBy`; null means that it was opened again. */
export interface ResolvedComment {
  commentId: string;
  resolvedBy: string | null;
}

/** Replaces the threads of the pull request when they have changed. */
export const recordThreads = (
  { id: projectId, orgId }: Project,
  { id: runId, prNumber }: { id: Run['id']; prNumber: number },
  threads: readonly HostThread[],
): Promise<void> =>
  transaction(async (trx) => {
    // The lock on the project makes concurrent processes store threads one after the other.
    await Project.query(trx).select('id').findOne({ id: projectId }).forNoKeyUpdate();
    const before = await PullRequestThread.findAll({ projectId, prNumber }, trx);
    // The stored name is kept for a thread that a person has resolved in this service: the host would only name this service's account.
    const resolvers = new Map(before.map(({ key, resolvedBy }) => [key, resolvedBy]));
    const rows = threads.map((one, seq) => ({
      ...{ ...one, seq, orgId, projectId, prNumber },
      resolvedBy: one.isResolved ? (resolvers.get(one.key) ?? one.resolvedBy) : null,
    }));
    if (sameThreads(before, rows)) return;
    await PullRequestThread.query(trx).delete().where({ projectId, prNumber });
    await PullRequestThread.insertMany(trx, rows);
    const wasResolved = new Map(before.map(({ key, isResolved }) => [key, isResolved]));
    const comments = threads.flatMap(({ key, commentId, isResolved, resolvedBy }) =>
      commentId && isResolved !== (wasResolved.get(key) ?? false)
        ? [{ commentId, resolvedBy: isResolved ? (resolvedBy ?? 'somebody at the source host') : null }]
        : [],
    );
    if (comments.length > 0) await enqueue(trx, 'resolved comments', { projectId, comments });
    await announce(trx, runId);
  });

const sameThreads = (before: readonly PullRequestThread[], after: readonly PullRequestThread[]): boolean => {
  const textOf = (rows: readonly PullRequestThread[]) =>
    JSON.stringify(
      rows.map(({ key, url, path, side, startLine, line, isResolved, resolvedBy, commentId, comments }) => [
        ...[key, url, path, side, startLine, line, isResolved, resolvedBy, commentId],
        comments.map(({ author, body, createdAt }) => [author, body, createdAt]),
      ]),
    );
  return textOf(before) === textOf(after);
};

const deleteSql = `delete from pull_request_threads t using runs r
  where r.id = any($1) and t.project_id = r.project_id and t.pr_number = r.pr_number`;

/** Deletes all comment threads of the pull requests that belong to these runs. */
export const deleteThreadsOf = async (trx: Transaction, runIds: readonly string[]): Promise<void> => {
  await sql(deleteSql, [runIds], trx);
};

const ofPullRequestsSql = `${selectionOf(PullRequestThread)} where org_id = $1 and ($2::text is null or project_id = $2)
  and (project_id, pr_number) in (select p.project, p.number from unnest($3::text[], $4::integer[]) p (project, number))
  order by ${PullRequestThread.order}`;

/** The comment threads on these pull requests; only threads that the caller can reach. @param keys Keys from `pullRequestKeyOf` */
export function threadsOf(keys: readonly string[], caller: Caller): Promise<PullRequestThread[]> {
  const { orgId, projectId = null } = withinReach(caller);
  return sql<PullRequestThread>(ofPullRequestsSql, [orgId, projectId, ...partsOf(keys)]);
}

/** A thread of the run's pull request. @throws 404 */
export const findThread = (caller: Caller, { projectId, prNumber }: Run, key: string): Promise<PullRequestThread> =>
  prNumber === null
    ? PullRequestThread.refuse()
    : PullRequestThread.get({ projectId, prNumber, key, ...withinReach(caller) });

/** The thread that began at the source host when this service posted the review comment there. */
export const threadOfComment = (projectId: Id<'project'>, commentId: string): Promise<PullRequestThread | undefined> =>
  PullRequestThread.find({ projectId, commentId });

/** Records that a person has resolved the thread; null opens it again. */
export const recordResolved = async (
  trx: Transaction,
  { projectId, prNumber, key }: PullRequestThread,
  resolvedBy: string | null,
): Promise<void> => {
  const isResolved = resolvedBy !== null;
  await PullRequestThread.patch(trx, { projectId, prNumber, key }, { isResolved, resolvedBy });
};
