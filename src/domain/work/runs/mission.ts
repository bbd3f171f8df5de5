// The task of a run: the task of its recurring mission or, if it has none, the run's own prompt.
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import type { Run, WaitingRun } from './model.ts';

/** Title and description of the issue, and the task for the agent. */
export interface Mission {
  name: string;
  prompt: string;
  labels: string[];
}
const ownMissionsSql = `select id, coalesce(mission_title, 'Mission') as name, prompt, '{}'::text[] as labels
  from runs where id = any($1) and prompt is not null`;

/** The missions of the runs that belong to no scheduled task or automation, by run id. */
export async function readOwnMissions(runs: readonly WaitingRun[], trx?: Transaction): Promise<Map<string, Mission>> {
  const ids = runs.flatMap(({ id, recurringId }) => (recurringId === null ? id : []));
  if (ids.length === 0) return new Map();
  const missions = await sql<Mission & Pick<Run, 'id'>>(ownMissionsSql, [ids], trx);
  return new Map(missions.map((mission) => [mission.id, mission]));
}

/** Missions by run id; `recurring` contains the recurring missions by id. A run whose recurring mission was deleted is absent. */
export async function missionsOfRuns(
  runs: readonly WaitingRun[],
  recurring: ReadonlyMap<string, Mission>,
): Promise<Map<string, Mission>> {
  const found = await readOwnMissions(runs);
  for (const { id, recurringId } of runs) {
    const mission = recurringId && recurring.get(recurringId);
    if (mission) found.set(id, mission);
  }
  return found;
}
