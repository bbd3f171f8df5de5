// The next occurrences of an organization's recurring missions, in the order in which they are due.
import { admits } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import { withinProject } from '#access/reach.ts';
import { sql } from '#foundation/database.ts';
import type { Id } from '#foundation/ids.ts';

export interface Occurrence {
  /** Epoch milliseconds; in the past while it waits to be dispatched. */
  at: number;
  name: string;
  projectId: Id<'project'>;
  /** Of the two ids the one of its kind; the other is null. */
  scheduledTaskId: string | null;
  automationId: string | null;
}

const nextOccurrencesSql = (table: 'scheduled_tasks' | 'automations', scheduledTaskId: string, automationId: string) =>
  `(select next_run_at as at, name, project_id, ${scheduledTaskId} as scheduled_task_id, ${automationId} as automation_id, id
    from ${table} where org_id = $1 and next_run_at is not null and ($2::text is null or project_id = $2)
    order by next_run_at, id limit $3)`;
const ofTasksSql = nextOccurrencesSql('scheduled_tasks', 'id', 'null::text');
const ofBothSql = `${ofTasksSql} union all ${nextOccurrencesSql('automations', 'null::text', 'id')}`;

export interface OccurrenceFilter {
  projectId?: string | null | undefined;
  limit: number;
}

/**
 * The next occurrence of each, soonest first. A project that the caller cannot reach has none. Automations are
 * included for callers that may see automations.
 */
export async function upcomingOccurrences(
  caller: Caller,
  { projectId, limit }: OccurrenceFilter,
): Promise<Occurrence[]> {
  const own = withinProject(caller, projectId);
  if (!own) return [];
  const source = admits(caller, 'automations:read') ? ofBothSql : ofTasksSql;
  return sql<Occurrence>(
    `select at, name, project_id, scheduled_task_id, automation_id, id from (${source}) occurrence order by at, id limit $3`,
    [own.orgId, own.projectId, limit],
  );
}
