// What can be done with issues of the built-in tracker: read them; make the one issue of a run.
import type { Caller } from '#access/principal.ts';
import { withinProject, withinReach } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { emptyPage, type Page, type PageRequest, readPage } from '#foundation/cursor.ts';
import { sql } from '#foundation/database.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { find, readByKeys, readNewestByKeys } from '#foundation/record.ts';
import { shown } from '#limits.ts';
import type { Project } from '../projects/model.ts';
import { Issue } from './model.ts';

export interface IssueFilter extends PageRequest {
  projectId?: string | null | undefined;
}

export async function listIssues(caller: Caller, filter: IssueFilter): Promise<Page<Issue>> {
  const own = withinProject(caller, filter.projectId);
  return own ? readPage<Issue>(Issue, own, filter) : emptyPage;
}

export const findIssue = async (caller: Caller, issueId: string): Promise<Issue> =>
  find<Issue>(Issue, 'issue', { id: issueId, ...withinReach(caller) });

/** The issues of records that the caller has been shown; ids of other trackers find nothing. */
export const issuesBehind = async (ids: readonly string[], caller: Caller): Promise<Issue[]> =>
  readByKeys<Issue>(Issue, 'id', ids, withinReach(caller));

/** The newest few of each project. */
export const newestOfProjects = async (ids: readonly string[], caller: Caller): Promise<Issue[]> =>
  readNewestByKeys<Issue>(Issue, 'projectId', ids, withinReach(caller), shown.perParent);

export interface NewIssue {
  runId: Id<'run'>;
  title: string;
  body: string;
  labels: readonly string[];
}

// Two that make the same issue at once meet at the counter: the second finds it there, and leaves a gap in the numbers.
const insertion = `with counted as (
    insert into issue_counters as c (project_id, last_number)
    select $3, 1 where not exists (select from issues where run_id = $9)
    on conflict (project_id) do update set last_number = c.last_number + 1 returning last_number
  )
  insert into issues (id, org_id, project_id, number, key, title, body, labels, state, run_id, created_at, updated_at)
  select $1, $2, $3, last_number, $4 || '-' || last_number, $5, $6, $7, 'open', $9, $8, $8 from counted
  on conflict on constraint issues_run do nothing returning id`;

/** Makes the issue of a run, or finds it made. */
export async function createIssue(project: Project, issue: NewIssue): Promise<Id<'issue'>> {
  const { runId, title, body, labels } = issue;
  const values = [newId('issue'), project.orgId, project.id, codeOf(project), title, body, labels, now(), runId];
  const [made] = await sql<{ id: Id<'issue'> }>(insertion, values);
  return made?.id ?? (await find<Issue>(Issue, 'issue', { runId })).id;
}

/** Closing one that is closed, or gone, changes nothing. */
export async function closeIssue(projectId: string, issueId: string): Promise<void> {
  const closing = `update issues set state = 'closed', updated_at = $3 where id = $1 and project_id = $2 and state = 'open'`;
  await sql(closing, [issueId, projectId, now()]);
}

/** What keys begin with: the project's code, else its slug in capitals (`web-shop` → WEBSHOP). */
const codeOf = ({ issueCode, slug }: Project): string =>
  issueCode ??
  slug
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, '')
    .replace(/^(?![A-Z])/, 'P')
    .slice(0, 10);
