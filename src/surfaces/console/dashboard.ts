// The pages of the browser application (dashboard/, built by Vite), which reads from /graphql under the session's cookie. The
// server writes the frame and answers 404 for a record that is not there; within the application pages change without a request.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { admit, admits, type Rule } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import { notificationsPath } from '#domain/lifecycle/notices/mails.ts';
import { findAgent } from '#domain/projects/agents/operations.ts';
import { findIssue } from '#domain/projects/issues/operations.ts';
import { findProject } from '#domain/projects/projects/operations.ts';
import { Automation, ScheduledTask } from '#domain/work/recurring/model.ts';
import { findRecurring } from '#domain/work/recurring/operations.ts';
import { findRun } from '#domain/work/runs/operations.ts';
import { findSandbox } from '#domain/work/sandboxes/operations.ts';
import { now } from '#foundation/clock.ts';
import { addresses } from '#foundation/http/addresses.ts';
import { assets } from '#foundation/http/assets.ts';
import { html } from '#foundation/http/html.ts';
import type { Exchange, Handler } from '#foundation/http/http.ts';
import { packageFolder } from '#foundation/package-folder.ts';
import { answerPage, answerWithoutOrganization, type Visitor } from './layout.ts';
import { personsPage } from './visitor.ts';

/** The base path of the files that the pages load. */
export const dashboardBase = '/console/dashboard/';

const read = (name: string): Promise<Buffer> => readFile(path.join(packageFolder, 'dist/dashboard', name));

interface Manifest {
  script: string;
  style: string;
  /** What pages load when they are first opened. */
  chunks: string[];
}

async function manifest(): Promise<Manifest> {
  const text = await read('manifest.json').catch((cause) => {
    throw new Error('the dashboard has not been built: `npm run build` does that', { cause });
  });
  return JSON.parse(text.toString());
}

const files = assets<string>(
  '/console/dashboard',
  async () => {
    const { script, style, chunks } = await manifest();
    const scripts = [script, ...chunks].map(
      async (name) => [name, { type: 'text/javascript; charset=utf-8', content: await read(name) }] as const,
    );
    return {
      ...Object.fromEntries(await Promise.all(scripts)),
      [style]: { type: 'text/css; charset=utf-8', content: await read(style) },
    };
  },
  { namedByContent: true },
);

/** Answers with a file of the dashboard, or returns false when there is no such file. */
export const answerDashboardFile = (exchange: Exchange): Promise<boolean> =>
  files.answer(exchange, exchange.path.slice(dashboardBase.length));

/** What the person may do now: in a closed organization, read. */
const scopesOf = ({ caller }: Visitor) => [...caller.scopes].filter((scope) => admits(caller, scope));

/** `scopes`: any of them will do. */
const dashboardPage = (
  scopes: readonly Rule[],
  titleOf: (visitor: Visitor, path: string) => string | Promise<string>,
) =>
  personsPage(async (exchange, visitor) => {
    if (!visitor.caller.orgId) return answerWithoutOrganization(exchange, visitor);
    if (!scopes.some((scope) => admits(visitor.caller, scope))) admit(visitor.caller, scopes.at(-1)!);
    const title = await titleOf(visitor, exchange.path);
    const { script, style } = await manifest();
    const address = await files.addresses();
    // The heading has its place before the application has it.
    const body = html`<div id="dashboard" data-csrf="${visitor.csrf}" data-org="${visitor.caller.orgId}"
      data-person="${visitor.person.id}" data-now="${now()}"
      data-api="${addresses().baseHost}/v1" data-scopes="${scopesOf(visitor).join(' ')}"><h1>${title}</h1></div>
    <noscript><p class="note">This page shows live data and needs JavaScript. The same is at <a href="/reference">the API</a>.</p></noscript>`;
    const app = { script: address[script]!, style: address[style]! };
    return answerPage(exchange, 200, { title, body, visitor, app });
  });

const fixed = (path: string, title: string, ...scopes: Rule[]) => [path, dashboardPage(scopes, () => title)] as const;

/** Fixed addresses. */
export const dashboardPages: readonly (readonly [path: string, page: Handler])[] = [
  fixed('/console/overview', 'Overview', 'missions:read'),
  fixed('/console/projects', 'Projects', 'projects:read'),
  fixed('/console/projects/new', 'Create a project', 'projects:write'),
  fixed('/console/tasks/new', 'Create a scheduled task', 'scheduled-tasks:write'),
  fixed('/console/automations/new', 'Create an automation', 'automations:write'),
  fixed('/console/runs', 'Missions', 'missions:read'),
  fixed('/console/runs/new', 'Start a mission', 'missions:run'),
  fixed('/console/agents', 'Agents', 'agents:read'),
  fixed('/console/agents/new', 'Create an agent', 'agents:write'),
  fixed('/console/runtimes', 'Runtimes', 'agents:read'),
  fixed('/console/artifacts', 'Artifacts', 'artifacts:read'),
  fixed('/console/issues', 'Issues', 'missions:read'),
  fixed('/console/members', 'Members', 'members:read'),
  fixed('/console/integrations', 'Integrations', 'integrations:read'),
  fixed('/console/mcp', 'MCP servers', 'mcp:read'),
  fixed('/console/billing', 'Billing', 'billing:read', 'missions:run'),
  fixed('/console/billing/buy', 'Buy credits', 'billing:write'),
  fixed('/console/billing/ledger', 'Ledger', 'billing:read'),
  fixed('/console/settings', 'Settings', 'organizations:read'),
  fixed('/console/tokens', 'Personal access tokens', 'person'),
  fixed('/console/connected-agents', 'Connected agents', 'person'),
  fixed(notificationsPath, 'Notifications', 'person'),
];

const ofRecord = (
  pattern: RegExp,
  route: string,
  scope: Rule,
  titleOf: (caller: Caller, id: string) => Promise<string>,
) => [pattern, route, dashboardPage([scope], ({ caller }, path) => titleOf(caller, pattern.exec(path)![1]!))] as const;

/** Addresses with the id of a record. 404 for one that is not there, or is another organization's. */
export const dashboardRecords: readonly (readonly [pattern: RegExp, route: string, page: Handler])[] = [
  ofRecord(
    /^\/console\/projects\/([^/]+)$/,
    '/console/projects/{projectId}',
    'projects:read',
    async (caller, id) => (await findProject(caller, id)).name,
  ),
  ofRecord(
    /^\/console\/projects\/([^/]+)\/settings$/,
    '/console/projects/{projectId}/settings',
    'projects:write',
    async (caller, id) => {
      await findProject(caller, id);
      return 'Project settings';
    },
  ),
  ofRecord(
    /^\/console\/projects\/([^/]+)\/mcp$/,
    '/console/projects/{projectId}/mcp',
    'mcp:read',
    async (caller, id) => {
      await findProject(caller, id);
      return 'MCP servers';
    },
  ),
  ofRecord(
    /^\/console\/tasks\/([^/]+)$/,
    '/console/tasks/{taskId}',
    'scheduled-tasks:read',
    async (caller, id) => (await findRecurring(ScheduledTask, caller, id)).name,
  ),
  ofRecord(
    /^\/console\/automations\/([^/]+)$/,
    '/console/automations/{automationId}',
    'automations:read',
    async (caller, id) => (await findRecurring(Automation, caller, id)).name,
  ),
  ofRecord(
    /^\/console\/runs\/([^/]+)$/,
    '/console/runs/{runId}',
    'missions:read',
    async (caller, id) => (await findRun(caller, id)).missionTitle ?? 'Untitled run',
  ),
  ofRecord(
    /^\/console\/sandboxes\/([^/]+)$/,
    '/console/sandboxes/{sandboxId}',
    'sandboxes:read',
    async (caller, id) => `Sandbox of the ${(await findSandbox(caller, id)).role}`,
  ),
  ofRecord(
    /^\/console\/issues\/([^/]+)$/,
    '/console/issues/{issueId}',
    'missions:read',
    async (caller, id) => (await findIssue(caller, id)).title,
  ),
  ofRecord(
    /^\/console\/agents\/([^/]+)$/,
    '/console/agents/{agentId}',
    'agents:read',
    async (caller, id) => (await findAgent(caller, id)).name,
  ),
];
