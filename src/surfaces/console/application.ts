// The pages of the browser application (src/console, built by Vite), which reads its data from /graphql with the session's cookie. The
// server writes the frame of the page, and answers 404 for an unknown record. The application changes from page to page without a request
// for the page.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { admit, admits, type Rule } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import { findEndpoint } from '#domain/lifecycle/webhooks/operations.ts';
import { findAgent } from '#domain/projects/agents/operations.ts';
import { findIssue } from '#domain/projects/issues/operations.ts';
import { findProject } from '#domain/projects/projects/operations.ts';
import { findTemplate } from '#domain/projects/sandbox-templates/operations.ts';
import { findGroup } from '#domain/work/attempts/operations.ts';
import { findHook } from '#domain/work/inbound-hooks/operations.ts';
import { Automation, ScheduledTask } from '#domain/work/recurring/model.ts';
import { findRecurring } from '#domain/work/recurring/operations.ts';
import { findRun } from '#domain/work/runs/operations.ts';
import { findSandbox } from '#domain/work/sandboxes/operations.ts';
import { now } from '#foundation/clock.ts';
import { addresses, organizationPath } from '#foundation/http/addresses.ts';
import { assets } from '#foundation/http/assets.ts';
import { html } from '#foundation/http/html.ts';
import type { Exchange } from '#foundation/http/http.ts';
import { packageFolder } from '#foundation/package-folder.ts';
import { isShowingFile } from '#foundation/read-only.ts';
import { answerPage, type OrganizationVisitor, type Visitor } from './layout.ts';
import { type PageAddress, pageEntries } from './pages.ts';

/** The base path of the files that the pages load. */
export const applicationBase = '/console/application/';

const read = (name: string): Promise<Buffer> => readFile(path.join(packageFolder, 'dist/console', name));

interface Manifest {
  script: string;
  style: string;
  /** Names of the files that every page loads first. */
  chunks: string[];
}

async function manifest(): Promise<Manifest> {
  const text = await read('manifest.json').catch((cause) => {
    throw new Error('the console has not been built: run `npm run build`', { cause });
  });
  return JSON.parse(text.toString());
}

const files = assets<string>(
  '/console/application',
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

/** Answers with a file of the console, or returns false when there is no such file. */
export const answerApplicationFile = (exchange: Exchange): Promise<boolean> =>
  files.answer(exchange, exchange.path.slice(applicationBase.length));

/**
 * The scopes that the person can use. In a closed organization, and in the console of an organization file, these are only scopes for
 * reading.
 */
const scopesOf = ({ caller }: Visitor) =>
  [...caller.scopes].filter((scope) => admits(caller, scope) && (scope.endsWith(':read') || !isShowingFile()));

/**
 * Handlers of a page of an organization. `find` looks up the record that the URL names.
 * @throws 404 when there is none
 */
export interface OrganizationRoute {
  /** URL path relative to that of the organization; `:id` stands for the id of a record. */
  address: string;
  GET(exchange: Exchange, visitor: OrganizationVisitor, id: string): Promise<void>;
  POST?(exchange: Exchange, visitor: OrganizationVisitor, id: string, form: URLSearchParams): Promise<void>;
  find?(caller: Caller, id: string): Promise<unknown>;
}

type RecordAddress = Extract<PageAddress, `${string}:id${string}`>;

type FindTitle = (caller: Caller, id: string) => Promise<string>;

/** The titles of records that have a page. @throws 404 for an unknown record, and for a record of another organization */
const recordTitles: Record<RecordAddress, FindTitle> & Partial<Record<PageAddress, FindTitle>> = {
  '/projects/:id': async (caller, id) => (await findProject(caller, id)).name,
  '/projects/:id/settings': async (caller, id) => (await findProject(caller, id)).name,
  '/projects/:id/mcp': async (caller, id) => (await findProject(caller, id)).name,
  '/tasks/:id': async (caller, id) => (await findRecurring(ScheduledTask, caller, id)).name,
  '/automations/:id': async (caller, id) => (await findRecurring(Automation, caller, id)).name,
  '/runs/:id': async (caller, id) => (await findRun(caller, id)).missionTitle ?? 'Untitled mission',
  '/runs/:id/changes': async (caller, id) => `Changes of ${(await findRun(caller, id)).missionTitle ?? 'the mission'}`,
  '/runs/:id/replay': async (caller, id) => `Replay of ${(await findRun(caller, id)).missionTitle ?? 'the mission'}`,
  '/runs/:id/terminal': async (caller, id) =>
    `Terminal of ${(await findRun(caller, id)).missionTitle ?? 'the mission'}`,
  '/attempts/:id': async (caller, id) => (await findGroup(caller, id)).title,
  '/sandboxes/:id': async (caller, id) => `Sandbox of the ${(await findSandbox(caller, id)).role}`,
  '/issues/:id': async (caller, id) => (await findIssue(caller, id)).title,
  '/webhooks/:id': async (caller, id) => (await findEndpoint(caller, id)).name,
  '/hooks/:id': async (caller, id) => (await findHook(caller, id)).name,
  '/agents/:id': async (caller, id) => (await findAgent(caller, id)).name,
  '/templates/:id': async (caller, id) => (await findTemplate(caller, id)).name,
};

export const applicationRoutes = pageEntries.map(([address, { title, scopes }]): OrganizationRoute => {
  const find = recordTitles[address];
  return {
    address,
    async GET(exchange, visitor, id) {
      const rules = scopes as readonly Rule[];
      if (!rules.some((rule) => admits(visitor.caller, rule))) admit(visitor.caller, rules.at(-1)!);
      const found = await find?.(visitor.caller, id);
      await answerApplication(exchange, visitor, title ?? found!);
    },
    ...(find && { find }),
  };
});

async function answerApplication(exchange: Exchange, visitor: OrganizationVisitor, title: string): Promise<void> {
  const { script, style } = await manifest();
  const address = await files.addresses();
  const { id, slug } = visitor.organization;
  // The title is rendered by the server, so that nothing moves when the application renders its heading.
  const body = html`<div id="application" data-csrf="${visitor.csrf}" data-org="${id}" data-base="${organizationPath(slug)}"
      data-person="${visitor.person.id}" data-now="${now()}"
      data-api="${addresses().baseHost}/v1" data-scopes="${scopesOf(visitor).join(' ')}"><h1>${title}</h1></div>
    <noscript><p class="note">This page shows live data and needs JavaScript. The same data is available through <a href="/reference">the API</a>.</p></noscript>`;
  const app = { script: address[script]!, style: address[style]! };
  return answerPage(exchange, 200, { title, body, visitor, app });
}
