// Needs of open runs that a person meets: the approval of their plan, the answer to a question of their agent, or more money.

import { sql } from '#foundation/postgres/database.ts';
import type { NamedCondition } from '#foundation/postgres/reads.ts';
import { questionsSql } from '../sandboxes/elicitations.ts';
import type { Run } from './model.ts';
import { isInState, openStates } from './states.ts';

export const runNeeds = ['approval', 'answer', 'budget'] as const;
export type RunNeed = (typeof runNeeds)[number];

// A question is unanswered while no message or answer follows it.
const unansweredSql = (run: string) => `${questionsSql(run)} and not exists (
    select from run_messages m where m.run_id = ${run}.id and m.kind in ('message', 'answer') and m.created_at >= f.at)`;

const needsPersonSql = (run: string) => `${isInState(openStates, run)}
  and (${run}.awaits_approval
    or ${isInState(['running'], run)} and (${run}.parked_at is not null or exists (${unansweredSql(run)})))`;

/** Open runs that wait for a person. */
export const needingPerson: NamedCondition = { name: 'needs a person', condition: needsPersonSql('runs') };

export interface OpenQuestion {
  runId: string;
  text: string;
  at: number;
}

const openQuestionsSql = `select r.id as run_id, q.text, q.at from runs r cross join lateral (${unansweredSql('r')}) q
  where r.id = any($1)`;

/** The open questions of the agents of these runs. */
export const openQuestions = (runIds: readonly string[]): Promise<OpenQuestion[]> =>
  runIds.length === 0 ? Promise.resolve([]) : sql<OpenQuestion>(openQuestionsSql, [[...runIds]]);

export type NeedyRun = Pick<Run, 'id' | 'missionTitle' | 'awaitsApproval' | 'parkedReason'> & {
  question: string | null;
  since: number;
};

const needySql = `select r.id, r.mission_title, r.awaits_approval, r.parked_reason, q.text as question,
    case when r.awaits_approval then coalesce(r.waiting_since, r.updated_at) else coalesce(r.parked_at, q.at) end as since
  from runs r left join lateral (${unansweredSql('r')} order by f.at desc limit 1) q on not r.awaits_approval
  where r.org_id = $1 and ${isInState(openStates, 'r')} and (r.awaits_approval or r.parked_at is not null or q.at is not null)
  order by r.created_at desc, r.id desc limit 20`;

/** The newest 20 runs of the organization that wait for a person. */
export const findNeedyRuns = (orgId: string): Promise<NeedyRun[]> => sql<NeedyRun>(needySql, [orgId]);
