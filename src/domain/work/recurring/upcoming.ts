// Upcoming occurrences of one recurring mission, and of all recurring missions in an organization.
import { admits } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import { withinProject } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { sql } from '#foundation/postgres/database.ts';
import type { RecurringMission } from './model.ts';
import { nextOccurrences } from './schedule.ts';

/** The next occurrences, an overdue one first; empty while the mission is disabled. */
export function upcoming({ triggers, nextRunAt }: Pick<RecurringMission, 'triggers' | 'nextRunAt'>, count: number) {
  const schedules = triggers.map(({ schedule }) => schedule);
  return nextRunAt === null ? [] : [nextRunAt, ...nextOccurrences(schedules, Math.max(nextRunAt, now()), count - 1)];
}

export interface Occurrence extends Pick<RecurringMission, 'id' | 'name' | 'projectId'> {
  /** Time of the occurrence in epoch milliseconds; in the past while it waits to be dispatched. */
  at: number;
}

export interface OccurrenceFilter {
  projectId?: string | null | undefined;
  limit: number;
}

const upcomingOccurrencesSql = `select id, name, project_id, next_run_at as at from recurring_missions
  where org_id = $1 and next_run_at is not null and ($2::text is null or project_id = $2)
    and ($3::boolean or kind = 'scheduled_task')
  order by next_run_at, id limit $4`;

/**
 * The next occurrence of each mission, soonest first. Empty for a project that the caller cannot reach. Automations are included for
 * callers that may see automations.
 */
export async function upcomingOccurrences(
  caller: Caller,
  { projectId, limit }: OccurrenceFilter,
): Promise<Occurrence[]> {
  const reach = withinProject(caller, projectId);
  if (!reach) return [];
  const values = [reach.orgId, reach.projectId, admits(caller, 'automations:read'), limit];
  return sql<Occurrence>(upcomingOccurrencesSql, values);
}
