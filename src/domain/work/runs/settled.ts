// Runs that still need their sandboxes and artifacts.
import { isInState, openStates } from './states.ts';

/**
 * SQL condition: one of the runs has not ended before a time, is an attempt among which nobody has chosen, or has an open pull request.
 * @param runIds SQL query for the ids of the runs
 */
export const isUnsettledSql = (runIds: string, before: string): string =>
  `exists (select from runs r where r.id = any(array(${runIds}))
    and (r.finished_at is null or r.finished_at > ${before} or r.attempt_state = 'open' or r.pr_state = 'open'))`;

/** SQL query for the steps from which open runs of the organization continue. */
export const continuedStepsSql = (orgId: string): string =>
  `select continues_step_id from runs where org_id = ${orgId} and continues_step_id is not null and ${isInState(openStates)}`;
