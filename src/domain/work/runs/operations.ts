// Operations on runs of every kind: list, read, follow, cancel.
import type { Caller } from '#access/principal.ts';
import { withinProject, withinReach } from '#access/reach.ts';
import { emptyPage, type Page, type PageRequest } from '#foundation/postgres/cursor.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { firstOf, foundBy, type NamedCondition, readParts } from '#foundation/postgres/reads.ts';
import { conflict } from '#foundation/problem.ts';
import { peopleOf } from '../../organization/people/operations.ts';
import { Agent } from '../../projects/agents/model.ts';
import { Project } from '../../projects/projects/model.ts';
import { filterTime, groupedRuns, maxGroups } from './bounds.ts';
import { cancelRuns } from './finish.ts';
import { RunMessage } from './message-model.ts';
import { Run, type RunGrouping, type RunKind, type RunStatus } from './model.ts';
import { needingPerson } from './needs.ts';
import { personSql } from './person.ts';
import { findByWords } from './search.ts';
import { isInState, isOpen, openStates } from './states.ts';
import { RunStep } from './step-model.ts';

export interface RunFilter extends PageRequest {
  projectId?: string | null | undefined;
  status?: RunStatus | null | undefined;
  kind?: RunKind | null | undefined;
  /** Only runs that were started for this agent; `none` selects runs that were started for no particular agent. */
  agentId?: string | null | undefined;
  /** Only runs of this person; `none` selects runs without a responsible person. */
  personId?: string | null | undefined;
  /** Only open runs that wait for a person to act. */
  needsPerson?: boolean | null | undefined;
  /** Only runs that the caller's person follows. */
  followed?: boolean | null | undefined;
  /** Words to search for in the title, the prompt, the messages, the transcript and the logs. */
  search?: string | null | undefined;
}

/** Runs, newest first, of the projects that the caller can reach. */
export async function listRuns(caller: Caller, { cursor, limit, order, ...filter }: RunFilter): Promise<Page<Run>> {
  const chosen = await conditionsFor(caller, filter);
  return chosen ? Run.page(chosen.where, { cursor, limit, order, ...chosen.period }, chosen.scope) : emptyPage;
}

type Chosen = Omit<RunFilter, 'cursor' | 'limit' | 'order'>;

/** The value to filter by: null for `none`, undefined for no filter. */
const choiceOf = <T extends string>(value: string | null | undefined): T | null | undefined =>
  value === 'none' ? null : ((value ?? undefined) as T | undefined);

const ofPerson = (personId: string | null | undefined) =>
  personId === 'none'
    ? { handedToUserId: null, billingActorUserId: null }
    : { handedToUserId: firstOf(personId, 'billingActorUserId') };

const followedBy = ({ userId }: Caller) => ({
  ...foundBy(userId ?? '', 'select run_id from run_followers where user_id = ?', `followed by ${userId}`),
  of: 'id',
});

async function conditionsFor(caller: Caller, filter: Chosen) {
  const { projectId, status, kind, agentId, personId, needsPerson, followed, search, ...period } = filter;
  const reach = withinProject(caller, projectId);
  if (!reach) return null;
  const found = await findByWords(caller, search);
  const where = Object.assign(
    {},
    reach,
    { kind: kind ?? undefined, agentId: choiceOf(agentId) },
    ofPerson(personId),
    { id: found },
    followed && { followed: followedBy(caller) },
  );
  const scopes = [...(status ? [Run.withStatus(status)] : []), ...(needsPerson ? [needingPerson] : [])];
  return { where, scope: allOf(scopes), period };
}

export interface RunGroup {
  /** The value that all runs of the group have; null for runs without a value. */
  key: string | null;
  /** Name of the project, agent or person; null for a status, and for a deleted record. */
  name: string | null;
  count: number;
}

const groupColumns = {
  status: 'status',
  project: 'project_id',
  agent: 'agent_id',
  person: personSql('runs'),
} as const satisfies Record<RunGrouping, string>;

/** Divides the newest runs that match the filter into groups, and returns the groups with their numbers of runs, largest group first. */
export async function groupRuns(caller: Caller, by: RunGrouping, filter: Chosen): Promise<RunGroup[]> {
  const chosen = await conditionsFor(caller, filter);
  if (!chosen) return [];
  const { conditions, values } = readParts(Run, chosen.where);
  if (chosen.scope) conditions.push(chosen.scope.condition);
  const { createdFrom, createdBefore } = chosen.period;
  const since = `created_at >= $${values.length + 1} and created_at < $${values.length + 2}`;
  const groups = await sql<Omit<RunGroup, 'name'>>(
    `select key, count(*)::int as count from (
        select ${groupColumns[by]} as key from runs where ${[...conditions, since].join(' and ')}
        order by created_at desc, id desc limit ${groupedRuns}) newest
      group by key order by count desc, key limit ${maxGroups}`,
    [...values, createdFrom ?? filterTime.min, createdBefore ?? filterTime.max],
  );
  const names = await namesOf(
    by,
    groups.flatMap(({ key }) => key ?? []),
  );
  return groups.map((group) => ({ ...group, name: (group.key && names.get(group.key)) ?? null }));
}

async function namesOf(by: RunGrouping, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const named: readonly Starter[] =
    by === 'project'
      ? await Project.findByKeys('id', ids)
      : by === 'agent'
        ? await Agent.findByKeys('id', ids)
        : by === 'person'
          ? await peopleOf(ids)
          : [];
  return new Map(named.map(({ id, name }) => [id, name]));
}

const allOf = (scopes: readonly NamedCondition[]): NamedCondition | undefined =>
  scopes.length === 0
    ? undefined
    : {
        name: scopes.map(({ name }) => name).join(' '),
        condition: scopes.map(({ condition }) => `(${condition})`).join(' and '),
      };

export interface Starter {
  id: string;
  name: string;
}

/** The people who started runs, with their names. */
export const startersOf = (userIds: readonly string[]): Promise<Starter[]> => peopleOf(userIds);

/** Number of runs that the caller can reach. */
export const countRuns = (caller: Caller, status?: RunStatus): Promise<number> =>
  Run.query()
    .where({ ...withinReach(caller), ...(status && { status }) })
    .resultSize();

export const findRun = (caller: Caller, runId: string): Promise<Run> => Run.get({ id: runId, ...withinReach(caller) });

/** The steps of the run, in order. @throws 404 for the run */
export async function listSteps(caller: Caller, runId: string): Promise<RunStep[]> {
  const { id } = await findRun(caller, runId);
  return RunStep.findAll({ runId: id });
}

/** The history of the run, in order. @throws 404 for the run */
export async function listMessages(caller: Caller, runId: string): Promise<RunMessage[]> {
  const { id } = await findRun(caller, runId);
  return RunMessage.findAll({ runId: id });
}

// Runs without an issue are skipped, because they never began; at most 200 runs are read.
const firstMissionSql = `select id, issue_id from (
    select id, issue_id, created_at from runs where org_id = $1 order by created_at, id limit 200
  ) r where issue_id is not null order by created_at, id limit 1`;

/** Returns the oldest run that has an issue, among the oldest 200 runs of the organization. */
export const findFirstMission = async (orgId: string): Promise<Pick<Run, 'id' | 'issueId'> | undefined> =>
  (await sql<Pick<Run, 'id' | 'issueId'>>(firstMissionSql, [orgId]))[0];

/**
 * Yields the run at once and after each change, until it has ended. Each event is authorized with the caller's permissions at that time.
 */
export async function* followRun(changes: AsyncIterable<() => Promise<Caller>>, runId: string): AsyncGenerator<Run> {
  for await (const currentCaller of changes) {
    const run = await findRun(await currentCaller(), runId);
    yield run;
    if (!isOpen(run)) return;
  }
}

/**
 * Ends an open run and its sandboxes at once; its runtime stops at the next heartbeat. Does nothing for a canceled run.
 * @throws 409 for a run that has completed or failed
 */
export async function cancelRun(caller: Caller, runId: string): Promise<Run> {
  await transaction((trx) => cancelRuns(trx, { id: runId, ...withinReach(caller) }, 'Canceled by a person.'));
  const run = await findRun(caller, runId);
  if (run.status !== 'canceled') throw conflict(`The run has ended (${run.status}): there is nothing to cancel.`);
  return run;
}

const countOpenSql = `select count(*) as count from runs where org_id = $1 and ${isInState(openStates)}`;

/** Number of the organization's missions that are waiting or running. */
export async function countOpenRuns(orgId: string, trx?: Transaction): Promise<number> {
  const [row] = await sql<{ count: number }>(countOpenSql, [orgId], trx);
  return row!.count;
}

/** The ids of recurring missions that have an open run. */
export async function recurringWithOpenRuns(trx: Transaction, recurringIds: readonly string[]): Promise<string[]> {
  // The statement is not prepared: PostgreSQL could keep a plan from a time when hardly any runs were open.
  const open = await Run.query(trx)
    .distinct('recurringId')
    .whereRaw('recurring_id = any(?)', [recurringIds])
    .whereRaw(isInState(openStates));
  return open.map(({ recurringId }) => recurringId!);
}

/** The run with all columns. @throws 404 */
export const readRun = async (trx: Transaction, caller: Caller, runId: string): Promise<Run> =>
  (await Run.query(trx).findOne({ id: runId, ...withinReach(caller) })) ?? Run.refuse();

const withTemplateSql = `select id from runs where org_id = $1 and ${isInState(openStates)}
  and (sandbox_template_id = $2 or team @> jsonb_build_array(jsonb_build_object('sandboxTemplateId', $2::text))) order by id limit 6`;

/** The open runs with an agent that uses the sandbox template; at most 6. */
export const openRunsWithTemplate = (trx: Transaction, orgId: string, templateId: string): Promise<{ id: string }[]> =>
  sql(withTemplateSql, [orgId, templateId], trx);

const startsSql = `select count(*)::int as starts from runs
  where recurring_id = $1 and created_at > $2 and (lower(issue_id) = lower($3) or origin_number = $4)`;

/**
 * Counts the runs that a recurring mission has started for the issue, or because of events about the issue or pull request, after the time `since`.
 */
export const countStarts = async (
  recurringId: string,
  { issueId, originNumber }: { issueId: string | null; originNumber: number | null },
  since: number,
): Promise<number> =>
  (await sql<{ starts: number }>(startsSql, [recurringId, since, issueId, originNumber]))[0]!.starts;

const openWorkSql = `select
    exists (select from runs where org_id = $1 and project_id = $2 and ${isInState(openStates)}) as missions,
    exists (select from runs where project_id = $2 and pr_number is not null and pr_state = 'open') as pull_requests`;

/** Whether missions or pull requests of the project are open. */
export async function openWorkOf(
  trx: Transaction,
  { id, orgId }: { id: string; orgId: string },
): Promise<{ missions: boolean; pullRequests: boolean }> {
  const [open] = await sql<{ missions: boolean; pullRequests: boolean }>(openWorkSql, [orgId, id], trx);
  return open!;
}
