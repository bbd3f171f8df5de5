// Operations on issues of the built-in tracker: list, read, create the one issue of a run, close.
import type { Caller } from '#access/principal.ts';
import { withinProject, withinReach } from '#access/reach.ts';
import type { Row } from '#foundation/base-model.ts';
import { now } from '#foundation/clock.ts';
import { emptyPage, type Page, type PageRequest } from '#foundation/cursor.ts';
import { sql } from '#foundation/database.ts';
import { type Id, newId } from '#foundation/ids.ts';
import type { Project } from '../projects/model.ts';
import { Issue } from './model.ts';

export interface IssueFilter extends PageRequest {
  projectId?: string | null | undefined;
}

export async function listIssues(caller: Caller, filter: IssueFilter): Promise<Page<Row<Issue>>> {
  const own = withinProject(caller, filter.projectId);
  return own ? Issue.page(own, filter) : emptyPage;
}

export const findIssue = async (caller: Caller, issueId: string): Promise<Row<Issue>> =>
  Issue.get({ id: issueId, ...withinReach(caller) });

export interface NewIssue {
  runId: Id<'run'>;
  title: string;
  body: string;
  labels: readonly string[];
}

// Concurrent creations of the same issue serialize on the counter; the second leaves a gap in the numbers.
const insertIssueSql = `with counted as (
    insert into issue_counters as c (project_id, last_number)
    select $3, 1 where not exists (select from issues where run_id = $9)
    on conflict (project_id) do update set last_number = c.last_number + 1 returning last_number
  )
  insert into issues (id, org_id, project_id, number, key, title, body, labels, state, run_id, created_at, updated_at)
  select $1, $2, $3, last_number, $4 || '-' || last_number, $5, $6, $7, 'open', $9, $8, $8 from counted
  on conflict on constraint issues_run do nothing returning id`;

/** Creates the issue of a run, or returns the existing one. */
export async function createIssue(project: Row<Project>, issue: NewIssue): Promise<Id<'issue'>> {
  const { runId, title, body, labels } = issue;
  const values = [newId('issue'), project.orgId, project.id, codeOf(project), title, body, labels, now(), runId];
  const [created] = await sql<{ id: Id<'issue'> }>(insertIssueSql, values);
  return created?.id ?? (await Issue.get({ runId })).id;
}

/** Closing a closed or deleted issue changes nothing. */
export async function closeIssue(projectId: string, issueId: string): Promise<void> {
  await Issue.query().where({ id: issueId, projectId, state: 'open' }).patch({ state: 'closed', updatedAt: now() });
}

/** The prefix of issue keys: the project's code, else its slug in capitals (`web-shop` → WEBSHOP). */
const codeOf = ({ issueCode, slug }: Row<Project>): string =>
  issueCode ??
  slug
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, '')
    .replace(/^(?![A-Z])/, 'P')
    .slice(0, 10);
