// Issues of the built-in tracker: list, show, write, assign, comment, close and reopen. Uses GraphQL, because REST can only read issues.
import type { Issue } from '../../../typescript/src/exports.ts';
import { plain, printJson, printLine, printRecord, printTable, timeOf } from '../output.ts';
import { type CommonOptions, openClient, UserError } from '../session.ts';
import { findProject } from './projects.ts';
import { readPrompt } from './runs.ts';

interface ListOptions extends CommonOptions {
  project?: string;
  state?: Issue['state'];
  limit: number;
}

export async function list(options: ListOptions): Promise<void> {
  const client = await openClient(options.url);
  const { project, state, limit } = options;
  const filter = {
    ...(project && { projectId: (await findProject(client, project)).id }),
    ...(state && { state }),
    limit: Math.min(limit, 200),
  };
  const issues = await client.issues(filter).take(limit);
  if (options.json) return printJson(issues);
  printTable(issues, {
    id: ({ id }) => id,
    key: ({ key }) => key,
    state: ({ state }) => state,
    title: ({ title }) => title.slice(0, 60),
    assignee: ({ assigneeName }) => assigneeName ?? '',
    created: ({ createdAt }) => timeOf(createdAt),
  });
}

interface Comment {
  author: string;
  body: string;
  effect: string | null;
  createdAt: number;
}

export async function show(options: CommonOptions, issueId: string): Promise<void> {
  const client = await openClient(options.url);
  const issue = await client.issue({ issueId });
  const query = `query ($issueId: String!) {
    issueComments(issueId: $issueId, limit: 100) { data { author body effect createdAt } } }`;
  const { issueComments } = await client.graphql<{ issueComments: { data: Comment[] } }>(query, { issueId });
  const comments = issueComments.data.reverse();
  if (options.json) return printJson({ ...issue, comments });
  const { key, title, state, assigneeName, labels, body } = issue;
  printRecord({ key, title, state, assignee: assigneeName, labels: labels.join(', ') || null });
  if (body) printLine(`\n${plain(body)}`);
  for (const { author, body: said, effect, createdAt } of comments) {
    printLine(`\n${plain(author)}, ${timeOf(createdAt)}:\n${plain(said)}${effect ? `\n(${effect})` : ''}`);
  }
}

const issueFields = '{ id key title state assigneeName }';
type Changed = Pick<Issue, 'id' | 'key' | 'title' | 'state' | 'assigneeName'>;

function showChanged({ json }: CommonOptions, issue: Changed): void {
  const { id, key, state, assigneeName } = issue;
  if (json) printJson(issue);
  else printLine(`${id} (${key}) is ${state}, assigned to ${assigneeName ?? 'nobody'}.`);
}

interface CreateOptions extends CommonOptions {
  body?: string;
  label?: string[];
  assign?: string;
}

export async function create(options: CreateOptions, project: string, title: string): Promise<void> {
  const client = await openClient(options.url);
  const input = {
    projectId: (await findProject(client, project)).id,
    title,
    ...(options.body && { body: await readPrompt(options.body) }),
    ...(options.label && { labels: options.label }),
    ...(options.assign && { assigneeId: options.assign }),
  };
  const query = `mutation ($input: CreateIssueRequest!) { createIssue(input: $input) ${issueFields} }`;
  showChanged(options, (await client.graphql<{ createIssue: Changed }>(query, { input })).createIssue);
}

interface StartOptions extends CommonOptions {
  prompt?: string;
  agent?: string;
  budget?: number;
  planApproval?: true;
}

interface Start {
  issue: string;
  runId: string | null;
  reason: string | null;
}

/** Starts missions on issues, and prints the started ones. @throws when a mission could not start */
export async function startMissions(options: StartOptions, project: string, references: string[]): Promise<void> {
  const client = await openClient(options.url);
  const { id: projectId } = await findProject(client, project);
  const { prompt, agent, budget, planApproval } = options;
  const input = {
    issues: references.map((issue) => ({ projectId, issue })),
    ...(prompt && { prompt: await readPrompt(prompt) }),
    ...(agent && { agentId: agent }),
    ...(budget && { budgetUsd: budget }),
    ...(planApproval && { planApproval }),
  };
  const query = `mutation ($input: StartMissionsRequest!) {
    startMissions(input: $input) { starts { projectId issue runId reason } } }`;
  const { starts } = (await client.graphql<{ startMissions: { starts: Start[] } }>(query, { input })).startMissions;
  if (options.json) printJson(starts);
  else printTable(starts, { issue: ({ issue }) => issue, start: ({ runId, reason }) => runId ?? reason ?? '' });
  const refused = starts.filter(({ runId }) => runId === null).length;
  if (refused > 0) throw new UserError(`${refused} of ${starts.length} missions did not start.`);
}

export async function assign(options: CommonOptions, issueId: string, assigneeId: string): Promise<void> {
  const query = `mutation ($issueId: String!, $assigneeId: String) {
    assignIssue(issueId: $issueId, assigneeId: $assigneeId) ${issueFields} }`;
  const variables = { issueId, assigneeId: assigneeId === 'nobody' ? null : assigneeId };
  const client = await openClient(options.url);
  showChanged(options, (await client.graphql<{ assignIssue: Changed }>(query, variables)).assignIssue);
}

export async function comment(options: CommonOptions, issueId: string, text: string): Promise<void> {
  const query = `mutation ($issueId: String!, $body: String!) {
    commentOnIssue(issueId: $issueId, body: $body) { id effect } }`;
  const client = await openClient(options.url);
  const body = await readPrompt(text);
  type Answer = { commentOnIssue: { id: string; effect: string | null } };
  const { commentOnIssue: said } = await client.graphql<Answer>(query, { issueId, body });
  if (options.json) printJson(said);
  else printLine(said.effect ?? 'Added. No mission is working on the issue.');
}

const setState =
  (state: Issue['state']) =>
  async (options: CommonOptions, issueId: string): Promise<void> => {
    const query = `mutation ($issueId: String!, $input: UpdateIssueRequest!) {
      updateIssue(issueId: $issueId, input: $input) ${issueFields} }`;
    const client = await openClient(options.url);
    const answer = await client.graphql<{ updateIssue: Changed }>(query, { issueId, input: { state } });
    showChanged(options, answer.updateIssue);
  };
export const close = setState('closed');
export const reopen = setState('open');
