// Runs that still need their sandboxes, artifacts and details.
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import type { Run } from './model.ts';
import { isInState, openStates } from './states.ts';

/**
 * SQL condition: at least one of the runs is open, ended later than `before`, is an attempt that waits for a choice, or has an open pull request.
 * @param runIds SQL query for the ids of the runs
 * @param before SQL expression for a time
 */
export const isUnsettledSql = (runIds: string, before: string): string =>
  `exists (select from runs r where r.id = any(array(${runIds}))
    and (r.finished_at is null or r.finished_at > ${before} or r.attempt_state = 'open' or r.pr_state = 'open'))`;

/** SQL condition: one of the runs is open. @param runIds SQL query for the ids of the runs */
export const isOpenSql = (runIds: string): string =>
  `exists (select from runs r where r.id = any(array(${runIds})) and ${isInState(openStates, 'r')})`;

/**
 * SQL query for the runs of the same mission as a run: the runs on its branch and the runs of its pull request, which share reviews and
 * threads.
 * @param run Alias of a run
 */
export const runsOfMissionSql = (run: string): string => `select ${run}.id
  union all select n.id from runs n where n.project_id = ${run}.project_id and n.branch = ${run}.branch
  union all select n.id from runs n where n.project_id = ${run}.project_id and n.pr_number = ${run}.pr_number`;

/** SQL query for the steps from which open runs of the organization continue. */
export const continuedStepsSql = (orgId: string): string =>
  `select continues_step_id from runs where org_id = ${orgId} and continues_step_id is not null and ${isInState(openStates)}`;

/** SQL condition: another run, which is open, continues from a step of the given run. @param run Alias of the given run */
export const isContinuedSql = (run: string): string =>
  `exists (select from run_steps s where s.run_id = ${run}.id and s.id in (${continuedStepsSql(`${run}.org_id`)}))`;

/** Position of an ended run among the runs of its organization. */
export type RunPosition = Pick<Run, 'id'> & { finishedAt: number };

const agedSql = `select id, finished_at from runs where org_id = $1 and finished_at <= $2 and kept is null and (finished_at, id) > ($3, $4)
  order by finished_at, id limit $5`;

/** The organization's runs that still have details and ended by the given time, oldest first, starting after a position. */
export const runsWithDetails = (
  orgId: string,
  { until, after, limit }: { until: number; after: RunPosition | undefined; limit: number },
): Promise<RunPosition[]> => sql<RunPosition>(agedSql, [orgId, until, after?.finishedAt ?? 0, after?.id ?? '', limit]);

const lockSql = `select id from runs where id = any($1) and kept is null order by id for no key update skip locked`;

/** Locks runs that have details, except runs that other transactions have locked. */
export const lockRunsWithDetails = async (trx: Transaction, ids: readonly string[]): Promise<string[]> =>
  (await sql<{ id: string }>(lockSql, [ids], trx)).map(({ id }) => id);

/**
 * The runs among the given ones that do not meet the condition. @param condition SQL condition on a run `d`; `$2` and `$3` are the values
 */
export const runsWithout = async (
  trx: Transaction,
  condition: string,
  ids: readonly string[],
  values: readonly [number, number],
): Promise<string[]> => {
  const found = await sql<{ id: string }>(
    `select d.id from runs d where d.id = any($1) and not (${condition})`,
    [ids, ...values],
    trx,
  );
  return found.map(({ id }) => id);
};
