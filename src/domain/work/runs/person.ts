// The person who is notified about a run: the person to whom it was handed over, or else the person to whom it is charged.
import type { Run } from './model.ts';

export const personOf = ({
  handedToUserId,
  billingActorUserId,
}: Pick<Run, 'handedToUserId' | 'billingActorUserId'>): Run['billingActorUserId'] =>
  handedToUserId ?? billingActorUserId;

/**
 * SQL for the id of the person who is notified about a run.
 * @param run The alias of the table `runs`, or the name `runs` in a statement without an alias
 */
export const personSql = (run: string): string => `coalesce(${run}.handed_to_user_id, ${run}.billing_actor_user_id)`;

/** SQL condition: the person has started the run. @param runId SQL expression for the id of the run */
export const isStartedBySql = (runId: string, personId: string): string =>
  `exists (select from runs started where started.id = ${runId} and started.billing_actor_user_id = ${personId})`;
