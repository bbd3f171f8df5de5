// Operations on issues of the built-in tracker: list, read, write, create the issue of a run, close.
import type { Caller } from '#access/principal.ts';
import { withinProject, withinReach } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { emptyPage, type Page, type PageRequest } from '#foundation/postgres/cursor.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { peopleOf } from '../../organization/people/operations.ts';
import type { Project } from '../projects/model.ts';
import { Issue, type IssueState } from './model.ts';

export interface IssueFilter extends PageRequest {
  projectId?: string | null | undefined;
  state?: IssueState | null | undefined;
  /** Limits the list to issues that are assigned to this agent. */
  agentId?: string | null | undefined;
}

export async function listIssues(
  caller: Caller,
  { projectId, state, agentId, ...page }: IssueFilter,
): Promise<Page<Issue>> {
  const reach = withinProject(caller, projectId);
  if (!reach) return emptyPage;
  const where = Object.assign({}, reach, { state: state ?? undefined, agentId: agentId ?? undefined });
  return Issue.page(where, page);
}

export const findIssue = async (caller: Caller, issueId: string): Promise<Issue> =>
  Issue.get({ id: issueId, ...withinReach(caller) });

/** People by id, for the assignees of issues. */
export const findAssignees = (ids: readonly string[]) => peopleOf(ids);

export interface NewIssue {
  runId: Id<'run'>;
  title: string;
  body: string;
  labels: readonly string[];
}

/** An issue to create, and its project. */
export interface AskedIssue {
  project: Project;
  issue: NewIssue;
  /** The id that the issue gets if it is created for a new run. If absent, the run uses an existing issue, or its issue gets a new id. */
  id?: string;
}

// Concurrent creations of the same issue are serialized by the counter; the later one leaves a gap in the numbers.
const insertIssuesSql = `with asked as (
    select id, org_id, project_id, code, title, body, labels, run_id, count(*) over of_project as together,
      row_number() over (of_project order by place) as nth
    from json_to_recordset($1) as a
      (place int, id text, org_id text, project_id text, code text, title text, body text, labels text[], run_id text)
    where run_id not in (select i.run_id from issues i where i.run_id = any($3))
    window of_project as (partition by project_id)
  ), counted as (
    insert into issue_counters as c (project_id, last_number)
    select distinct project_id, together from asked order by project_id
    on conflict (project_id) do update set last_number = c.last_number + excluded.last_number
    returning project_id, last_number
  )
  insert into issues (id, org_id, project_id, number, key, title, body, labels, state, run_id, created_at, updated_at)
  select id, org_id, project_id, number, code || '-' || number, title, body, labels, 'open', run_id, $2, $2
  from asked join counted using (project_id) cross join lateral (select last_number - together + nth) n (number)
  on conflict on constraint issues_run do nothing returning id, run_id`;

/** Creates the issue of each run, or finds the existing one. Returns the issues by run id. */
export async function createIssues(asked: readonly AskedIssue[], trx?: Transaction): Promise<Map<string, Id<'issue'>>> {
  const rows = asked.map(({ id = newId('issue'), project, issue: { runId, ...issue } }, place) => ({
    place,
    id,
    org_id: project.orgId,
    project_id: project.id,
    code: codeOf(project),
    run_id: runId,
    ...issue,
  }));
  type Of = Pick<Issue, 'id'> & { runId: string };
  const runIds = rows.map(({ run_id }) => run_id);
  const mayExist = asked.flatMap(({ id, issue }) => (id ? [] : issue.runId));
  const created = await sql<Of>(insertIssuesSql, [JSON.stringify(rows), now(), mayExist], trx);
  const all = created.length === rows.length ? created : await Issue.findByKeys('runId', runIds, {}, trx);
  return new Map(all.map(({ id, runId }) => [runId!, id]));
}

const nextNumberSql = `insert into issue_counters as c (project_id, last_number) values ($1, 1)
  on conflict (project_id) do update set last_number = c.last_number + 1 returning last_number`;

export type WrittenIssue = Pick<Issue, 'title' | 'body' | 'labels' | 'createdByUserId'>;

/** Creates an issue that belongs to no run. */
export async function writeIssue(trx: Transaction, project: Project, written: WrittenIssue): Promise<Issue> {
  const [counted] = await sql<{ lastNumber: number }>(nextNumberSql, [project.id], trx);
  const number = counted!.lastNumber;
  const [id, at] = [newId('issue'), now()];
  const issue: Issue = {
    id,
    orgId: project.orgId,
    projectId: project.id,
    number,
    key: `${codeOf(project)}-${number}`,
    ...written,
    state: 'open',
    agentId: null,
    assigneeUserId: null,
    runId: null,
    createdAt: at,
    updatedAt: at,
  };
  await Issue.insert(trx, issue);
  return issue;
}

/** Closing a closed or deleted issue changes nothing. */
export async function closeIssue(projectId: string, issueId: string): Promise<void> {
  await Issue.patch(undefined, { id: issueId, projectId, state: 'open' }, { state: 'closed', updatedAt: now() });
}

/** The prefix of issue keys: the project's code, else its slug in capitals (`web-shop` → WEBSHOP). */
const codeOf = ({ issueCode, slug }: Project): string =>
  issueCode ??
  slug
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, '')
    .replace(/^(?![A-Z])/, 'P')
    .slice(0, 10);
