// SQL for the items that runs add to the inbox of people (../../lifecycle/inbox): open runs that wait for a person to act, limits that hold
// missions back, changes to review, and failures. `$1` is the organization, `$2` the project of a bound credential, `$3` the current time.
import { days } from '#foundation/clock.ts';
import { isUnpushedSql, runsWithEffectsSql } from '../../projects/effects/staging.ts';
import { joinProjectSql } from '../../projects/projects/join.ts';
import { unansweredSql } from './needs.ts';
import { personSql } from './person.ts';
import { isInState, isNotWithheldSql, openStates } from './states.ts';

/** SQL expressions for the columns of an inbox item. Each query selects all columns; a column for which this object has no expression is null. */
export interface ItemColumns {
  /** SQL for the id of an item, which is the same at every read and contains only letters, digits, `_` and `-`. */
  id: string;
  kind: string;
  /** SQL for the time when the wait began; a later wait of the same item has a later time. */
  since: string;
  isUrgent: boolean;
  projectId?: string;
  userId?: string;
  runId?: string;
  deliveryId?: string;
  hookId?: string;
  title?: string;
  detail?: string;
  question?: string;
}

export const itemSql = (item: ItemColumns): string => {
  const { id, kind, since, isUrgent, question = 'null', ...texts } = item;
  const column = (name: keyof typeof texts, as: string) => `${texts[name] ?? 'null'}::text as ${as}`;
  return `select (${id})::text as id, (${kind})::text as kind, (${since})::bigint as since, ${isUrgent} as is_urgent,
    ${column('projectId', 'project_id')}, ${column('userId', 'user_id')}, ${column('runId', 'run_id')},
    ${column('deliveryId', 'delivery_id')}, ${column('hookId', 'hook_id')}, ${column('title', 'title')},
    ${column('detail', 'detail')}, ${question}::jsonb as question`;
};

const ofRun = {
  projectId: 'r.project_id',
  userId: personSql('r'),
  runId: 'r.id',
  title: 'r.mission_title',
} as const;
const within = `r.org_id = $1 and ($2::text is null or r.project_id = $2)`;

/** Limits that a person cannot raise with the scope `missions:run` alone. All runs that wait for the same limit share one inbox item. */
const sharedLimits = `'credits', 'cap', 'shared_budget'`;

// The wait for the approval of a plan begins at the end of the planning step. `waiting_since` can be a later time, because an interruption may end
// the wait and begin it again.
const plansSql = `${itemSql({
  ...ofRun,
  id: `'approval-' || r.id`,
  kind: `'approval'`,
  since: 'coalesce(plan.finished_at, r.waiting_since, r.updated_at)',
  isUrgent: true,
  detail: 'plan.output',
})} from runs r left join lateral (
    select s.finished_at, s.output from run_steps s where s.run_id = r.id order by s.seq desc limit 1
  ) plan on true
  where ${within} and ${isInState(openStates, 'r')} and r.awaits_approval`;

const parkedSql = `${itemSql({
  ...ofRun,
  id: `case when r.parked_by = 'budget' then 'budget-' else 'limit-' end || r.id`,
  kind: `case when r.parked_by = 'budget' then 'budget' else 'limit' end`,
  since: 'r.parked_at',
  isUrgent: true,
  detail: 'r.parked_reason',
})} from runs r where ${within} and ${isInState(openStates, 'r')} and not r.awaits_approval
    and r.parked_at is not null and r.parked_by not in (${sharedLimits})`;

/** Maximum number of questions of one run that become items; a runtime could report any number. */
const questionsOfRun = 20;
const questionsSql = `${itemSql({
  ...ofRun,
  id: `case when q.tool is null then 'answer-' else 'decision-' end || q.sandbox_id || '-' || q.seq`,
  kind: `case when q.tool is null then 'answer' else 'decision' end`,
  since: 'q.at',
  isUrgent: true,
  detail: 'q.text',
  question: `jsonb_build_object('sandboxId', q.sandbox_id, 'seq', q.seq, 'text', q.text, 'choices', q.choices, 'tool', q.tool,
    'arguments', q.arguments, 'at', q.at)`,
})} from runs r cross join lateral (${unansweredSql('r')} order by f.at, f.seq limit ${questionsOfRun}) q
  where ${within} and ${isInState(['running'], 'r')} and not r.awaits_approval and r.parked_at is null`;

/** Open runs that wait for an action of a person who may run missions. */
export const waitingItemsSql = [plansSql, parkedSql, questionsSql].join(' union all ');

/**
 * For people who may raise limits: one item for each limit of the organization that makes missions wait. The item shows the run that has waited
 * longest.
 */
export const limitItemsSql = (limits: readonly ('credits' | 'cap' | 'shared_budget')[]): string => `${itemSql({
  id: `'spending-' || p.parked_by`,
  kind: `'spending'`,
  since: 'p.parked_at',
  isUrgent: true,
  projectId: 'p.project_id',
  runId: 'p.run_id',
  title: `case when p.count = 1 then 'A mission waits for ' else p.count || ' missions wait for ' end
    || case p.parked_by when 'credits' then 'credits' when 'cap' then 'the daily cap' else 'a budget' end`,
  detail: 'p.parked_reason',
})} from (
    select distinct on (r.parked_by) r.parked_by, r.parked_at, r.id as run_id, r.project_id, r.parked_reason,
      count(*) over (partition by r.parked_by) as count
    from runs r where ${within} and ${isInState(openStates, 'r')} and r.parked_at is not null
      and r.parked_by in (${limits.map((one) => `'${one}'`).join(', ')})
    order by r.parked_by, r.parked_at, r.id
  ) p`;

/** Maximum number of ended runs that are considered, the newest first. */
const endedRuns = 500;
/** A run that is withheld has no inbox item after its end. */
const isShown = isNotWithheldSql('r');
const endedWithin = { failuresMs: days(14), reviewsMs: days(30) } as const;

/** SQL condition: no later run has the same values in these columns. The subquery has a limit, so that PostgreSQL reads one entry of an index. */
const isNewest = (
  run: string,
  same: string,
): string => `coalesce((select n.id from runs n where ${same} and n.status <> 'skipped'
    order by n.created_at desc, n.id desc limit 1), ${run}.id) = ${run}.id`;

// A failure disappears from the inbox when there is a later run for the same issue, or of the same scheduled task or automation. A later run of the
// same scheduled task or automation does not count if an event has started the failed run, because the later run is about another event.
export const failureItemsSql = `${itemSql({
  ...ofRun,
  id: `'failure-' || r.id`,
  kind: `'failure'`,
  since: 'r.finished_at',
  isUrgent: false,
  detail: 'coalesce(r.reason, r.last_error)',
})} from (
    select r.id, r.project_id, r.billing_actor_user_id, r.handed_to_user_id, r.mission_title, r.finished_at, r.reason, r.last_error, r.created_at,
      r.recurring_id, r.issue_id, r.origin_delivery_id
    from runs r where ${within} and r.status = 'failed' and r.rerun_as is null and ${isShown} and r.finished_at > $3::bigint - ${endedWithin.failuresMs}
    order by r.finished_at desc limit ${endedRuns}
  ) r where (r.origin_delivery_id is not null or ${isNewest('r', 'n.recurring_id = r.recurring_id')})
    and ${isNewest('r', 'n.issue_id = r.issue_id and n.project_id = r.project_id')}`;

/** SQL for outside effects that wait for approval: effects of ended missions, and tool calls that agents of open missions have staged. */
export const effectItemsSql = `${itemSql({
  ...ofRun,
  id: `'effects-' || r.id`,
  kind: `'effects'`,
  since: 'e.since',
  isUrgent: false,
  detail: `e.count || case when e.count = 1 then ' outside effect waits' else ' outside effects wait' end || coalesce(E'\\n' || e.errors, '')`,
})} from (${runsWithEffectsSql}) e join runs r on r.id = e.run_id
  where ${within} and (not ${isInState(openStates, 'r')} or e.has_call)`;

/** SQL condition: the run has ended without a pull request, and the inbox may show its change for review. @param at SQL for the current time */
export const isInboxReviewSql = (run: string, at: string): string =>
  `(${run}.status = 'completed' and ${run}.head_sha is not null and ${run}.pr_state is null and ${run}.changed_files > 0
    and ${run}.finished_at > ${at}::bigint - ${endedWithin.reviewsMs})`;

/** SQL for changes that a person has to review. @param isReviewed Returns a condition that the commit `head_sha` of a run has a review. */
export const reviewItemsSql = (isReviewed: (run: string) => string): string => `${itemSql({
  ...ofRun,
  id: `'review-' || r.id`,
  kind: `'review'`,
  since: 'r.finished_at',
  isUrgent: false,
  detail: 'r.merge_blocker',
})} from (
    select r.id, r.project_id, r.billing_actor_user_id, r.handed_to_user_id, r.mission_title, r.finished_at, r.merge_blocker, r.created_at, r.branch,
      r.head_sha, r.approved_sha
    from runs r where ${within} and r.status = 'completed' and r.head_sha is not null and ${isShown} and (r.pr_state is null or r.pr_state = 'open')
      and (r.pr_state = 'open' or r.changed_files > 0) and r.finished_at > $3::bigint - ${endedWithin.reviewsMs}
    order by r.finished_at desc limit ${endedRuns}
  ) r ${joinProjectSql('r.project_id')}
  where not coalesce(project.auto_merge and r.approved_sha = r.head_sha and r.merge_blocker is null, false)
    and ${isNewest('r', 'n.project_id = r.project_id and n.branch = r.branch')}
    and not ${isUnpushedSql('r')} and not ${isReviewed('r')}`;

/** Tasks whose attempts have all ended: a person then chooses an attempt. The item shows the first attempt. */
export const attemptItemsSql = `${itemSql({
  id: `'attempts-' || a.attempt_group_id`,
  kind: `'attempts'`,
  since: 'a.finished_at',
  isUrgent: false,
  projectId: 'a.project_id',
  userId: 'a.user_id',
  runId: 'a.run_id',
  title: 'a.mission_title',
  detail: `a.completed || ' of ' || a.count || ' attempts completed'`,
})} from (
    select r.attempt_group_id, max(r.finished_at) as finished_at, max(r.project_id) as project_id, max(${personSql('r')}) as user_id,
      (array_agg(r.id order by r.attempt_number))[1] as run_id, max(r.mission_title) as mission_title, count(*) as count,
      count(*) filter (where r.status = 'completed') as completed
    from runs r where ${within} and r.attempt_state = 'open'
    group by r.attempt_group_id having not bool_or(${isInState(openStates, 'r')})
  ) a`;
