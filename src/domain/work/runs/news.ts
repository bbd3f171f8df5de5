// News about runs for the person responsible: the run has ended, or waits for a person to act.
import { sql } from '#foundation/postgres/database.ts';
import { joinProjectSql } from '../../projects/projects/join.ts';
import { unansweredSql } from './needs.ts';
import { personSql } from './person.ts';
import { isInState, waitingStates } from './states.ts';

// A run with an open pull request is reported for review, unless the pull request will be merged automatically.
const endedSql = (
  endedAfter: string,
) => `select r.id as run_id, r.org_id, ${personSql('r')} as user_id, r.mission_title, 'end' as cause,
    case when r.status = 'failed' then 'failed'
      when r.pr_state = 'open' and not coalesce(project.auto_merge and r.approved_sha = r.head_sha, false) then 'review'
      else 'completed' end as kind,
    case when r.status = 'failed' then coalesce(r.reason, r.last_error) else r.pr_url end as detail, r.finished_at as since
  from runs r ${joinProjectSql('r.project_id')}
  where r.finished_at > ${endedAfter} and r.status in ('completed', 'failed')`;

/**
 * SQL for the waits of open runs, with the columns of `runNewsSql`. The approval of a plan is identified by the last step, because an
 * interruption may end the wait and begin it again.
 */
export const runWaitsSql = `select r.id as run_id, r.org_id, ${personSql('r')} as user_id, r.mission_title,
    case when r.awaits_approval then 'approval:' || coalesce((select max(s.seq) from run_steps s where s.run_id = r.id), 0)
      when r.parked_at is not null then 'budget:' || r.parked_at
      else 'question:' || q.sandbox_id || ':' || q.seq end as cause,
    case when r.awaits_approval then 'approval' when r.parked_at is not null then 'budget'
      when q.tool is not null then 'approval' else 'answer' end as kind,
    case when r.awaits_approval then null when r.parked_at is not null then r.parked_reason else q.text end as detail,
    case when r.awaits_approval then coalesce(r.waiting_since, r.updated_at) else coalesce(r.parked_at, q.at) end as since
  from runs r left join lateral (${unansweredSql('r')} order by f.at, f.seq limit 1) q
    on r.status = 'running' and not r.awaits_approval and r.parked_at is null
  where (r.status = 'running' or ${isInState(waitingStates, 'r')} and (r.awaits_approval or r.parked_at is not null))
    and (r.awaits_approval or r.parked_at is not null or q.seq is not null)`;

/**
 * SQL for the news: `run_id`, `org_id`, `user_id`, `mission_title`, the `cause` that identifies the news within the run, its `kind`, `detail` and
 * time `since`. Runs that ended before `endedAfter` are omitted.
 */
export const runNewsSql = (endedAfter: string): string => `${endedSql(endedAfter)} union all ${runWaitsSql}`;

export interface RunWait {
  cause: string;
  kind: 'approval' | 'answer' | 'budget';
  /** Text of the question, or the reason why the run waits for money; null for the approval of a plan. */
  detail: string | null;
}

export interface RunNews {
  cause: string;
  kind: 'completed' | 'review' | 'failed' | RunWait['kind'];
}

const findNewsSql = `select cause, kind from (${runNewsSql('0')}) n where run_id = $1`;

/** News that the person responsible for the run should get now; null for a run that is working, and for a canceled one. */
export const findNews = async (runId: string): Promise<RunNews | null> =>
  (await sql<RunNews>(findNewsSql, [runId]))[0] ?? null;

const findWaitSql = `select cause, kind, detail from (${runWaitsSql}) w where run_id = $1`;

/** The first reason why the open run waits for a person; null when the run waits for no person. */
export const findWait = async (runId: string): Promise<RunWait | null> =>
  (await sql<RunWait>(findWaitSql, [runId]))[0] ?? null;
