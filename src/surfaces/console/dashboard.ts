// The dashboard's pages: what missions do, while they do it. The server makes the frame and says whether the record is there; the
// widgets inside are the browser's (dashboard/, built by Vite) and read from /graphql under the session's cookie.
import { readFile } from 'node:fs/promises';
import { admit, type Rule } from '#access/gate.ts';
import { findProject } from '#domain/projects/operations.ts';
import { findRun } from '#domain/runs/operations.ts';
import { findSandbox } from '#domain/sandboxes/operations.ts';
import { addresses } from '#foundation/addresses.ts';
import { assets } from '#foundation/assets.ts';
import { now } from '#foundation/clock.ts';
import { type HtmlValue, html } from '#foundation/html.ts';
import type { Exchange, Handler } from '#foundation/http.ts';
import { answerPage, answerWithoutOrganization, type Visitor } from './layout.ts';
import { noticeList } from './notices.ts';
import { setupCard } from './setup.ts';
import { personsPage } from './visitor.ts';

/** The base path of the files that the pages load. */
export const dashboardBase = '/console/dashboard/';

/** The same from `src/surfaces/console` and from `dist/surfaces/console`. */
const folder = new URL('../../../dist/dashboard/', import.meta.url);
const read = (name: string): Promise<Buffer> => readFile(new URL(name, folder));

interface Manifest {
  script: string;
  style: string;
}

async function manifest(): Promise<Manifest> {
  const text = await read('manifest.json').catch((cause) => {
    throw new Error('the dashboard has not been built: `npm run build` does that', { cause });
  });
  return JSON.parse(text.toString());
}

const files = assets<string>('/console/dashboard', async () => {
  const { script, style } = await manifest();
  return {
    [script]: { type: 'text/javascript; charset=utf-8', content: await read(script) },
    [style]: { type: 'text/css; charset=utf-8', content: await read(style) },
  };
});

/** Answers with a file of the dashboard, or returns false when there is no such file. */
export const answerDashboardFile = (exchange: Exchange): Promise<boolean> =>
  files.answer(exchange, exchange.path.slice(dashboardBase.length));

/** What a page shows: its title, and the page above it. */
interface Subject {
  title: string;
  /** The place above, with its address. */
  above?: readonly [address: string, name: string];
  id?: string;
  /** What the server renders above the widgets. */
  lead?: HtmlValue;
}

const dashboardPage = (page: string, scope: Rule, subjectOf: (visitor: Visitor, path: string) => Promise<Subject>) =>
  personsPage(async (exchange, visitor) => {
    if (!visitor.caller.orgId) return answerWithoutOrganization(exchange, visitor);
    admit(visitor.caller, scope);
    const { title, above, id, lead } = await subjectOf(visitor, exchange.path);
    const [script, style] = Object.values(await files.addresses());
    const body = html`${above && html`<p class="above"><a href="${above[0]}">${above[1]}</a></p>`}
    <h1>${title}</h1>
    ${lead}
    <div id="dashboard" data-page="${page}" data-id="${id ?? ''}" data-csrf="${visitor.csrf}" data-now="${now()}"
      data-api="${addresses().baseHost}/v1" data-scopes="${[...visitor.caller.scopes].join(' ')}"></div>
    <noscript><p class="note">This page shows live data and needs JavaScript. The same is at <a href="/reference">the API</a>.</p></noscript>`;
    return answerPage(exchange, 200, { title, body, visitor, app: { script: script!, style: style! } });
  });

const plain = (title: string) => async () => ({ title });

/** The id in `/console/runs/{id}` and the like. */
const idIn = (path: string): string => path.split('/').slice(3).join('/');

/** Fixed addresses. */
export const dashboardPages: readonly (readonly [path: string, page: Handler])[] = [
  [
    '/console/overview',
    dashboardPage('overview', 'missions:read', async (visitor) => ({
      title: 'Overview',
      lead: await Promise.all([noticeList(visitor), setupCard(visitor)]),
    })),
  ],
  ['/console/projects', dashboardPage('projects', 'projects:read', plain('Projects'))],
  ['/console/runs', dashboardPage('runs', 'missions:read', plain('Runs'))],
  ['/console/artifacts', dashboardPage('artifacts', 'artifacts:read', plain('Artifacts'))],
];

/** Addresses that end in the id of a record. 404 for one that is not there, or is another organization's. */
export const dashboardRecords: readonly (readonly [base: string, parameter: string, page: Handler])[] = [
  [
    '/console/projects/',
    '{projectId}',
    dashboardPage('project', 'projects:read', async ({ caller }, path) => {
      const { id, name } = await findProject(caller, idIn(path));
      return { title: name, id, above: ['/console/projects', 'Projects'] };
    }),
  ],
  [
    '/console/runs/',
    '{runId}',
    dashboardPage('run', 'missions:read', async ({ caller }, path) => {
      const { id, missionTitle } = await findRun(caller, idIn(path));
      return { title: missionTitle ?? 'Run', id, above: ['/console/runs', 'Runs'] };
    }),
  ],
  [
    '/console/sandboxes/',
    '{sandboxId}',
    dashboardPage('sandbox', 'sandboxes:read', async ({ caller }, path) => {
      const { id, runId, role } = await findSandbox(caller, idIn(path));
      const above = runId ? ([`/console/runs/${runId}`, 'Run'] as const) : (['/console/overview', 'Overview'] as const);
      return { title: `Sandbox of the ${role}`, id, above };
    }),
  ],
];
