// Runs that are attempts at one task (../attempts): their locks, and figures for a comparison.
import { now } from '#foundation/clock.ts';
import { enqueue } from '#foundation/jobs/background.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { type AttemptState, Run } from './model.ts';

type GroupId = NonNullable<Run['attemptGroupId']>;

/** Locks all attempts of a group, in their order. Code that locks several attempts must use this function, which prevents deadlocks. */
export const lockAttempts = async (trx: Transaction, attemptGroupId: GroupId): Promise<Run[]> =>
  Run.query(trx).where({ attemptGroupId }).orderBy('id').forNoKeyUpdate();

/** Records the decision about an attempt. */
export async function decideAttempt(trx: Transaction, id: Run['id'], attemptState: AttemptState): Promise<void> {
  await Run.patch(trx, { id }, { attemptState, updatedAt: now() });
  await announce(trx, id);
}

/** Finds the attempts of a group that were chosen or closed. An attempt whose branch was not pushed is left out. */
export const decidedAttempts = async (attemptGroupId: string): Promise<Run[]> =>
  Run.query()
    .where({ attemptGroupId })
    .whereIn('attemptState', ['chosen', 'closed'])
    .whereNotNull('headSha')
    .orderBy('attemptNumber');

/** If a person has already chosen or closed the attempt, carries out the effects of this decision once more, in the background. */
export async function repeatDecision(trx: Transaction, id: Run['id']): Promise<void> {
  const { attemptGroupId, attemptState } = (await Run.query(trx).findById(id))!;
  if (attemptState !== 'open') await enqueue(trx, 'attempts', { groupId: attemptGroupId });
}

/** SQL expression: the ids of the attempts of a group. */
export const attemptIds = (group: string): string => `(select id from runs where attempt_group_id = ${group})`;

export const reviewResults = ['approve', 'request_changes'] as const;

export interface AttemptFigures {
  runId: string;
  agentName: string | null;
  harness: string | null;
  model: string | null;
  changedPaths: string[] | null;
  /** The verdict of the latest review by an agent; null without one. */
  review: (typeof reviewResults)[number] | null;
  /** Whether the latest test by an agent has passed; null without one. */
  isTestPassed: boolean | null;
}

/** SQL expression: the output of the latest completed step of the role in the run `r`. */
export const latestOutput = (
  role: string,
) => `(select s.output::jsonb from run_steps s where s.run_id = r.id and s.role = '${role}'
  and s.status = 'completed' and s.output is not null order by s.seq desc limit 1)`;

const figuresSql = `select r.id as run_id, r.changed_paths, lead.agent ->> 'name' as agent_name, lead.agent ->> 'harness' as harness,
    coalesce(lead.agent ->> 'model', r.agent_model) as model, coalesce(${latestOutput('reviewer')} ->> 'verdict', r.kept ->> 'review') as review,
    coalesce(${latestOutput('qa')} ->> 'passed', r.kept ->> 'isTestPassed')::boolean as is_test_passed
  from runs r cross join lateral (
    select coalesce(jsonb_path_query_first(r.team, '$[*] ? (@.role == "builder")'), r.team -> 0) as agent
  ) lead where r.id = any($1)`;

export const attemptFigures = (runIds: readonly string[]): Promise<AttemptFigures[]> =>
  sql<AttemptFigures>(figuresSql, [[...runIds]]);
