// Figures of quality, computed from the runs of a period. A mission consists of the runs on one branch, or of one run without a branch; its
// agent is the builder of its first run, and it ends with its latest run.
import type { Caller } from '#access/principal.ts';
import { withinProject } from '#access/reach.ts';
import { days, now } from '#foundation/clock.ts';
import { sql } from '#foundation/postgres/database.ts';
import { isNotWithheldSql } from './states.ts';

/** Maximum number of runs that are counted: the newest of the period. */
export const countedRuns = 50_000;
/** Maximum number of groups in a response: those with the most missions. */
export const groupsShown = 100;
export const qualityDays = { min: 1, max: 366, default: 30 } as const;

/** Number of days after a merge within which a revert counts. */
export const revertDays = 14;

export const qualityGroups = ['all', 'project', 'agent', 'version'] as const;
export type QualityGroup = (typeof qualityGroups)[number];

export interface QualityFigures {
  projectId: string | null;
  agentId: string | null;
  agentName: string | null;
  agentVersion: number | null;
  missions: number;
  completed: number;
  pullRequests: number;
  merged: number;
  reverted: number;
  endedAtLimit: number;
  msToMerge: number | null;
  msToStart: number | null;
  runsPerMission: number;
  messagesPerMission: number;
  costUsd: number;
}

export interface QualityFilter {
  groupBy: QualityGroup;
  days: number;
  projectId?: string | null | undefined;
  agentId?: string | null | undefined;
  /** Limits the figures to missions of these versions of the agent. */
  versions?: readonly number[] | undefined;
}

const agentColumns = `agent ->> 'agentId' as agent_id, agent ->> 'name' as name`;
const noAgent = 'null as agent_id, null as name';
const noVersion = 'null::integer as agent_version';
const keys: Readonly<Record<QualityGroup, string>> = {
  all: `null as project_id, ${noAgent}, ${noVersion}`,
  project: `project_id, ${noAgent}, ${noVersion}`,
  agent: `null as project_id, ${agentColumns}, ${noVersion}`,
  version: `null as project_id, ${agentColumns}, (agent ->> 'version')::integer as agent_version`,
};

// Parameters: $1 organization, $2 start of the period, $3 project or null, $4 agent or null, $5 versions or null.
const missionsSql = `with counted as materialized (
    select r.id, r.project_id, coalesce(r.branch, r.id) as line, r.status, r.created_at, r.started_at, r.mission_cost_usd, r.pr_state,
      r.pr_ended_at, r.pr_reverted_at, r.parked_by, coalesce((r.kept ->> 'messages')::integer, 0) as kept_messages,
      coalesce(jsonb_path_query_first(r.team, '$[*] ? (@.role == "builder")'), r.team -> 0) as agent
    from runs r where r.org_id = $1 and r.created_at >= $2 and ($3::text is null or r.project_id = $3)
      and r.status in ('completed', 'failed', 'canceled') and r.team is not null
      and ${isNotWithheldSql('r')}
    order by r.created_at desc, r.id desc limit ${countedRuns}
  ), missions as (
    select project_id, (array_agg(agent order by created_at, id))[1] as agent,
      (array_agg(status order by created_at desc, id desc))[1] as status,
      (array_agg(parked_by order by created_at desc, id desc))[1] as parked_by,
      count(*) as runs, sum(mission_cost_usd) as cost_usd, min(created_at) as began_at, min(started_at) - min(created_at) as ms_to_start,
      count(pr_state) > 0 as has_pull_request, bool_or(pr_state = 'merged') is true as is_merged,
      max(pr_ended_at) filter (where pr_state = 'merged') as merged_at, min(pr_reverted_at) as reverted_at, sum(people.messages + kept_messages) as messages
    from counted cross join lateral (select count(*) as messages from run_messages m
      where m.run_id = counted.id and m.kind in ('message', 'answer') and m.author_user_id is not null) people
    group by project_id, line
  )`;
const figures = `count(*)::integer as missions, count(*) filter (where status = 'completed')::integer as completed,
    count(*) filter (where has_pull_request)::integer as pull_requests, count(*) filter (where is_merged)::integer as merged,
    count(*) filter (where is_merged and reverted_at - merged_at <= ${days(revertDays)})::integer as reverted,
    count(*) filter (where status <> 'completed' and parked_by is not null)::integer as ended_at_limit,
    percentile_cont(0.5) within group (order by merged_at - began_at) filter (where is_merged) as ms_to_merge,
    percentile_cont(0.5) within group (order by ms_to_start) as ms_to_start,
    avg(runs)::float8 as runs_per_mission, avg(messages)::float8 as messages_per_mission, sum(cost_usd)::float8 as cost_usd`;
const ofAgent = `from missions where ($4::text is null or agent ->> 'agentId' = $4)
  and ($5::integer[] is null or (agent ->> 'version')::integer = any($5))`;

// A renamed agent of the organization keeps its group, which is identified by its id; a built-in agent has only a name.
const figuresSql = (groupBy: QualityGroup): string => `${missionsSql}
  select project_id, agent_id, max(name) as agent_name, agent_version, ${figures}
  from (select ${keys[groupBy]}, status, parked_by, runs, cost_usd, began_at, ms_to_start, has_pull_request, is_merged, merged_at, reverted_at, messages
    ${ofAgent}) grouped
  group by project_id, agent_id, case when agent_id is null then name end, agent_version
  order by count(*) desc, project_id, agent_id, agent_name, agent_version desc limit ${groupsShown}`;

const parametersOf = (
  caller: Caller,
  { days: count, projectId, agentId, versions }: Omit<QualityFilter, 'groupBy'>,
) => {
  const reach = withinProject(caller, projectId);
  return reach && [reach.orgId, now() - days(count), reach.projectId ?? null, agentId ?? null, versions ?? null];
};

/** The figures of each group, most missions first; empty for a project that the caller cannot reach. */
export async function qualityFigures(caller: Caller, filter: QualityFilter): Promise<QualityFigures[]> {
  const values = parametersOf(caller, filter);
  return values ? sql<QualityFigures>(figuresSql(filter.groupBy), values) : [];
}

export interface QualityWeek {
  /** Start of the week (Monday, 00:00 UTC) in epoch milliseconds. */
  start: number;
  missions: number;
  completed: number;
  merged: number;
}

const weekMs = days(7);
/** A Monday at 00:00 UTC, from which weeks are counted. */
const monday = Date.UTC(1970, 0, 5);
const weeksSql = `${missionsSql}
  select (began_at - ${monday}) / ${weekMs} * ${weekMs} + ${monday} as start, count(*)::integer as missions,
    count(*) filter (where status = 'completed')::integer as completed, count(*) filter (where is_merged)::integer as merged
  ${ofAgent} group by 1 order by 1`;

/**
 * Counts the missions of each week. A mission counts in the week in which its first run was created. The oldest week comes first; weeks without
 * missions are left out.
 */
export async function qualityWeeks(caller: Caller, filter: Omit<QualityFilter, 'groupBy'>): Promise<QualityWeek[]> {
  const values = parametersOf(caller, filter);
  return values ? sql<QualityWeek>(weeksSql, values) : [];
}
