// Counts the waiting runs of all organizations by what they wait for, for operators.
import { sql } from '#foundation/postgres/database.ts';
import { lease } from '#limits.ts';
import { needsPersonSql } from './needs.ts';
import { isInState, waitingStates } from './states.ts';

/** Conditions in order of precedence: a run belongs to the group of the first condition that holds. */
const kinds = {
  'approval of the plan': 'r.awaits_approval',
  'a higher limit': 'r.parked_at is not null',
  'the person who interrupted it': 'r.interrupted_at is not null',
  'an answer': isInState(['running'], 'r'),
  'its issue': 'r.issue_id is null',
  'its runtime, which sends no heartbeats': 'r.silent_since is not null',
  'a choice of the agent': `r.agent_choice ->> 'way' = 'asked'`,
  'nothing: too many runtimes have lost it': `r.claims >= ${lease.claims}`,
} as const;

export interface WaitingGroup {
  waitsFor: keyof typeof kinds | 'a runtime';
  /** The reason for the wait: the text that people of the organization see, or the limit that stops the runs. */
  reason: string | null;
  runs: number;
  organizations: number;
  /** When the oldest waiting run began to wait. */
  since: number;
  oldestRunId: string;
  /** The organization of the oldest run. */
  orgId: string;
}

const kindSql = `case ${Object.entries(kinds)
  .map(([kind, condition]) => `when ${condition} then '${kind}'`)
  .join(' ')} else 'a runtime' end`;

const waitingRunsSql = `select waits_for, reason, count(*)::int as runs, count(distinct org_id)::int as organizations, min(since) as since,
    (array_agg(id order by since, id))[1] as oldest_run_id, (array_agg(org_id order by since, id))[1] as org_id
  from (
    select r.id, r.org_id, ${kindSql} as waits_for,
      case when r.parked_at is not null then r.parked_by when ${isInState(waitingStates, 'r')} then left(r.reason, 300) end as reason,
      coalesce(r.parked_at, r.interrupted_at, r.waiting_since, r.created_at) as since
    from runs r where ${isInState(waitingStates, 'r')} or ${needsPersonSql('r')}
  ) waiting group by waits_for, reason order by runs desc, since limit $1`;

/** The largest groups of waiting runs. */
export const readWaitingRuns = (limit: number): Promise<WaitingGroup[]> => sql<WaitingGroup>(waitingRunsSql, [limit]);
