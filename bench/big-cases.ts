// Requests to the big tables: pages at both ends, filters that match many and hardly any rows, charts of many samples, and the page
// that people keep open all day.
import { strict as assert } from 'node:assert';
import { readdirSync, readFileSync } from 'node:fs';
import type { Request } from 'autocannon';
import { parse, print, separateOperations } from 'graphql';
import type { OldMissions } from './big-missions.ts';
import { big, longest, names, type Size } from './big-size.ts';
import { bearer, type Case } from './cases.ts';
import type { Server } from './process.ts';

const json = { 'content-type': 'application/json' };
const post = (query: string): Request => ({
  method: 'POST',
  path: '/graphql',
  headers: json,
  body: JSON.stringify({ query }),
});

interface Page {
  nextCursor: string;
}

const rowOfRun = `id status kind missionTitle missionProgress missionActivity missionCostUsd missionCostIncomplete reason lastError
  createdAt startedAt finishedAt projectId project { name }`;
const runs = (filter: string) => `{ runs(${filter}) { data { ${rowOfRun} } nextCursor } }`;

/** One request with several operations of the console, read from its GraphQL documents. @param asked Variables by the name of the operation */
function ofConsole(asked: Record<string, object>): Request {
  const folder = new URL('../src/console/', import.meta.url);
  const documents = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.graphql'),
  );
  const text = documents.map((name) => readFileSync(new URL(name, folder), 'utf8')).join('\n');
  const operations = separateOperations(parse(text));
  const batch = Object.entries(asked).map(([name, variables]) => ({ query: print(operations[name]!), variables }));
  return { method: 'POST', path: '/graphql', headers: json, body: JSON.stringify(batch) };
}

/** The request that the console's overview sends every ten seconds. */
const overview = () =>
  ofConsole({
    OpenRuns: {},
    Runs: { limit: 12 },
    Spend: {},
    BusySandboxes: { limit: 20, status: 'running' },
    Upcoming: {},
  });

const one = (name: string, request: Request): Case => ({ name, organization: big, requests: [request] });
const get = (name: string, path: string) => one(name, { path: `/v1/${path}` });
const ask = (name: string, query: string) => one(name, post(query));

/** Searches, the inbox, old missions, and figures of many missions. */
const moreCases = ({ condensed, archived, sandbox }: OldMissions): Case[] => [
  ask('search: 50 with a word of 1 of 5,000 missions', runs('limit: 50, search: "variant77"')),
  ask('search: 50 with a word of all missions', runs('limit: 50, search: "nightly"')),
  ask('search: two words that no mission has together', runs('limit: 50, search: "variant77 variant78"')),
  ask('inbox: 50', '{ inbox(limit: 50) { data { id kind since title } nextCursor } inboxCount { count } }'),
  one('page of a mission whose details were deleted', ofConsole({ Run: { runId: condensed } })),
  one('page of a mission whose logs are archived', ofConsole({ Run: { runId: archived } })),
  get('its archived log', `sandboxes/${sandbox}/logs?role=builder&sessionId=main`),
  ask(
    '20 of its archived fragments',
    `{ sandbox(sandboxId: "${sandbox}") { fragments(limit: 20) { data { t body result } nextCursor } } }`,
  ),
  ask('issues: 50', '{ issues(limit: 50) { data { id key title state } nextCursor } }'),
  ask('audit log: 50', '{ auditEvents(limit: 50) { data { action } nextCursor } }'),
  ask('ledger of credits: 50', '{ billingLedger(limit: 50) { entries { kind credits balanceAfter } nextCursor } }'),
  one('billing page', ofConsole({ Billing: {} })),
  one('numbers of missions by status', ofConsole({ RunGroups: { by: 'status' } })),
  ask('figures of quality: missions of 30 days', '{ qualityFigures { data { __typename } weeks { __typename } } }'),
];

export async function bigCases({ url }: Server, size: Size, old: OldMissions): Promise<Case[]> {
  const taskRuns = `/v1/scheduled-tasks/${names.task}/runs`;
  const depth = size.runs / 2;
  const deepOfTask = await cursorAt(depth, async (cursor) => {
    const page = await answerOf<Page>(url, { path: `${taskRuns}?limit=200${cursor && `&cursor=${cursor}`}` });
    return page.nextCursor;
  });
  const deepInRuns = (to: number, filter: string) =>
    cursorAt(to, async (cursor) => {
      const query = `{ runs(limit: 200${filter}${cursor && `, cursor: "${cursor}"`}) { nextCursor } }`;
      return (await answerOf<{ data: { runs: Page } }>(url, post(query))).data.runs.nextCursor;
    });
  const deep = await deepInRuns(depth, '');
  const at = depth.toLocaleString('en');
  const ofProject = `projectId: "${names.project}"`;
  const deepInFailed = depth / 20;
  const failed = await deepInRuns(deepInFailed, ', status: failed');
  return [
    one('runs of a task: 50', { path: `${taskRuns}?limit=50` }),
    one(`runs of a task: 50, depth ${at}`, { path: `${taskRuns}?limit=50&cursor=${deepOfTask}` }),
    ask('GraphQL runs: 50', runs('limit: 50')),
    ask(`GraphQL runs: 50, depth ${at}`, runs(`limit: 50, cursor: "${deep}"`)),
    ask('GraphQL runs: 50 completed (9 of 10)', runs('limit: 50, status: completed')),
    ask('GraphQL runs: 50 failed (1 of 20)', runs('limit: 50, status: failed')),
    ask(
      `GraphQL runs: 50 failed, depth ${deepInFailed.toLocaleString('en')}`,
      runs(`limit: 50, status: failed, cursor: "${failed}"`),
    ),
    ask('GraphQL runs: canceled (9 of all, long ago)', runs('limit: 50, status: canceled')),
    ask('GraphQL runs: 20 running', runs('limit: 50, status: running')),
    ask('GraphQL runs: 50 of a project', runs(`limit: 50, ${ofProject}`)),
    ask('GraphQL runs: canceled of a project', runs(`limit: 50, ${ofProject}, status: canceled`)),
    ask('GraphQL runs: 50 of an agent (1 of 4)', runs(`limit: 50, agentId: "${names.agent}"`)),
    ...moreCases(old),
    get('sandboxes: 200', 'sandboxes?limit=200'),
    get('sandboxes: 200 failed (1 of 20)', 'sandboxes?limit=200&status=failed'),
    get('sandboxes: 20 running', 'sandboxes?limit=200&status=running'),
    get(
      `a sandbox of ${size.samples.toLocaleString('en')} samples`,
      `sandboxes/${names.sandbox(Math.round(size.sandboxes / 2))}`,
    ),
    get(`a sandbox of ${size.longest.toLocaleString('en')} samples`, `sandboxes/${names.sandbox(longest(size))}`),
    one('the overview, with 20 sparklines', overview()),
  ];
}

/** The response; throws unless it is successful. */
export async function answerOf<A>(url: string, { path, method, headers, body }: Request): Promise<A> {
  const response = await fetch(url + path, {
    method: method ?? 'GET',
    headers: { ...(headers as Record<string, string>), ...bearer(big) },
    ...(body !== undefined && { body: String(body) }),
  });
  const text = await response.text();
  assert(response.ok && !text.includes('"errors"'), `${response.status} to ${path}: ${text.slice(0, 500)}`);
  return JSON.parse(text) as A;
}

/**
 * Reads the first `depth` records, page by page like any client, and returns the cursor of the next page. @param next Reads the page at a
 * cursor, and returns the cursor of the page after it
 */
async function cursorAt(depth: number, next: (cursor: string) => Promise<string>): Promise<string> {
  let cursor = '';
  for (let at = 0; at < depth; at += 200) cursor = await next(cursor);
  return cursor;
}
