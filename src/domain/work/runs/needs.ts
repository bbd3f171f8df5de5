// Actions that open runs need from a person: approval of the plan, an answer to a question, a decision about a tool call, more money, or a
// higher limit.

import { sql } from '#foundation/postgres/database.ts';
import type { NamedCondition } from '#foundation/postgres/reads.ts';
import { reference } from '#foundation/postgres/reads.ts';
import { type Elicitation, questionsSql } from '../sandboxes/elicitations.ts';
import type { Run } from './model.ts';
import { personSql } from './person.ts';
import { isInState, openStates } from './states.ts';

export const runNeeds = ['approval', 'answer', 'decision', 'budget', 'limit'] as const;
export type RunNeed = (typeof runNeeds)[number];

/** The action that a parked run needs from a person; null for a run that is not parked. */
export const parkedNeed = ({ parkedBy }: Pick<Run, 'parkedBy'>): Extract<RunNeed, 'budget' | 'limit'> | null =>
  parkedBy && (parkedBy in unitsOfLimits ? 'limit' : 'budget');

/** Limits of a mission other than money. */
const unitsOfLimits = { time: true, model_calls: true, tokens: true };

// A message that the agent has read answers all its waiting questions except those about tool calls.
export const unansweredSql = (run: string) => `${questionsSql(run)} and not exists (
    select from run_messages m where m.run_id = ${run}.id
      and (m.kind = 'answer' and m.sandbox_id = f.sandbox_id and m.fragment_seq = f.seq
        or m.kind = 'message' and f.action is null and m.created_at >= f.at
          and (f.tool_use_id is null or m.acknowledged_at is null)))`;

/** SQL condition: the open run with this alias waits for a person to act. */
export const needsPersonSql = (run: string) => `${isInState(openStates, run)}
  and (${run}.awaits_approval or ${run}.parked_at is not null
    or ${isInState(['running'], run)} and exists (${unansweredSql(run)}))`;

/** Open runs that wait for a person to act. */
export const needingPerson: NamedCondition = { name: 'needs a person', condition: needsPersonSql('runs') };

/** Maximum number of questions that are shown per run, because a runtime could report any number. */
const maxQuestions = 20;

export interface OpenQuestion extends Elicitation {
  runId: string;
}

const openQuestionsSql = `select r.id as run_id, q.sandbox_id, q.seq, q.text, q.choices, q.tool, q.arguments, q.at
  from runs r cross join lateral (${unansweredSql('r')} order by f.at, f.seq limit ${maxQuestions}) q
  where r.id = any($1) order by q.at, q.seq`;

/** The open questions of the agents of these runs, oldest first, up to a maximum per run. */
export const openQuestions = (runIds: readonly string[]): Promise<OpenQuestion[]> =>
  runIds.length === 0 ? Promise.resolve([]) : sql<OpenQuestion>(openQuestionsSql, [[...runIds]]);

export type RunAwaitingPerson = Pick<Run, 'id' | 'missionTitle' | 'awaitsApproval' | 'parkedBy' | 'parkedReason'> & {
  /** The person responsible for the run; null when there is none. */
  userId: Run['billingActorUserId'];
  followerIds: string[];
  question: string | null;
  /** The tool that the question is about. */
  tool: string | null;
  since: number;
};

const runsAwaitingPersonSql = `select r.id, r.mission_title, r.awaits_approval, r.parked_by, r.parked_reason, ${personSql('r')} as user_id, q.text as question, q.tool,
    array(select f.user_id from run_followers f where f.run_id = ${reference('r.id')}) as follower_ids,
    case when r.awaits_approval then coalesce(r.waiting_since, r.updated_at) else coalesce(r.parked_at, q.at) end as since
  from runs r left join lateral (${unansweredSql('r')} order by f.at desc limit 1) q on not r.awaits_approval
  where r.org_id = $1 and ${isInState(openStates, 'r')} and (r.awaits_approval or r.parked_at is not null or q.at is not null)
  order by r.created_at desc, r.id desc limit 20`;

/** The newest 20 runs of the organization that wait for a person to act. */
export const findRunsAwaitingPerson = (orgId: string): Promise<RunAwaitingPerson[]> =>
  sql<RunAwaitingPerson>(runsAwaitingPersonSql, [orgId]);
