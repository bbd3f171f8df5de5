// `npm run bench:console`: measures the console in a real browser on a processor that is slowed down fourfold. The figures are the times
// until its heaviest pages can be used, the size of their scripts, and the clicks, keys and seconds that the daily tasks of a team lead
// take. The latest figures are in bench/README.md.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { openBrowser } from '../test/support/browser.ts';
import { type Seeded, seedOrganization } from './console/organization.ts';
import { type Counted, type Hands, type Task, tasks } from './console/tasks.ts';
import { openDispatchDatabase } from './dispatch-database.ts';
import { start } from './process.ts';
import { buildService, service } from './the-service.ts';

const slowdown = 4;
const rounds = 5;

if (!process.argv.includes('--no-build')) buildService();
const folder = mkdtempSync(path.join(tmpdir(), 'aep-console-'));
const secretKey = randomBytes(32);
const database = await openDispatchDatabase(secretKey);
const server = await start(
  service({ databaseUrl: database.url, folder, secretKey }, { SCHEDULER: 'off', LOCAL_RUNNER: 'off' }),
);
// Contents of artifacts are served at the public address only.
const origin = server.url.replace('127.0.0.1', 'localhost');
const browser = await openBrowser();
try {
  if (typeof browser === 'string') throw new Error(browser);
  const seeded = await seedOrganization(path.join(folder, 'artifacts'));
  console.log(`${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}, ${browser.version()}\n`);
  const { big } = seeded;
  console.log('| page | script kB | shown ms | interactive ms |\n| --- | --- | --- | --- |');
  for (const [name, address, ready] of [
    ['inbox', '/inbox', 'article'],
    ['missions', '/runs', '.run-row'],
    ['mission, 100,000 lines, 500 files', `/runs/${big}`, '.fragment'],
    ['its log', '/log', '.log-line'],
    ['its change', `/runs/${big}/changes`, '.code tr'],
  ] as const) {
    const at = address === '/log' ? await logOf(browser, seeded) : address;
    const all: Awaited<ReturnType<typeof load>>[] = [];
    for (let round = 0; round < rounds; round++) all.push(await load(browser, seeded, at, ready));
    const middle = (of: (one: (typeof all)[number]) => number) => all.map(of).sort((a, b) => a - b)[rounds >> 1]!;
    const [size, shown, interactive] = [
      middle((one) => one.size),
      middle((one) => one.shown),
      middle((one) => one.interactive),
    ];
    console.log(`| ${name} | ${(size / 1_000).toFixed(0)} | ${shown.toFixed(0)} | ${interactive.toFixed(0)} |`);
  }
  console.log('\n| task | clicks | s | keys | s |\n| --- | --- | --- | --- | --- |');
  for (const task of tasks) {
    const mouse = await perform(browser, seeded, task, task.byMouse);
    const keys = task.byKey && (await perform(browser, seeded, task, task.byKey));
    console.log(
      `| ${task.name} | ${mouse.clicks} | ${mouse.seconds} | ${keys?.keys ?? '–'} | ${keys?.seconds ?? '–'} |`,
    );
  }
} finally {
  if (typeof browser !== 'string') await browser.close();
  await server.stop();
  await database.close();
  rmSync(folder, { recursive: true });
}

async function open(browser: Browser, { session }: Seeded): Promise<Page> {
  const context = await browser.newContext({ baseURL: origin, viewport: { width: 1440, height: 900 } });
  await context.addCookies([{ name: 'session', value: session, url: origin }]);
  return context.newPage();
}

function addressOf(at: string): string {
  return `/console/o/acme${at}`;
}

async function logOf(browser: Browser, seeded: Seeded): Promise<string> {
  const page = await open(browser, seeded);
  await page.goto(addressOf(`/runs/${seeded.big}`));
  const link = page.getByRole('link', { name: /^Sandbox and logs/ });
  const address = (await link.getAttribute('href'))!;
  await page.context().close();
  return address.replace('/console/o/acme', '');
}

/**
 * Measures one visit with cached files, like every visit after the first one of a release. A page is interactive when its content is shown
 * and no later task of the browser takes 50 ms.
 */
async function load(browser: Browser, seeded: Seeded, at: string, ready: string) {
  const page = await open(browser, seeded);
  await page.goto(addressOf(at));
  await page.locator(ready).first().waitFor();
  const size = await page.evaluate<number>(
    `performance.getEntriesByType('resource').filter(({ initiatorType, name }) => /\\.js$/.test(name)).reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`,
  );
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
  await page.addInitScript(`
    self.marks = { shown: 0, busy: 0 };
    new PerformanceObserver((list) => {
      for (const { startTime, duration } of list.getEntries()) marks.busy = startTime + duration;
    }).observe({ type: 'longtask', buffered: true });
    new MutationObserver(() => {
      if (!marks.shown && document.querySelector('${ready}')) requestAnimationFrame(() => (marks.shown = performance.now()));
    }).observe(document, { childList: true, subtree: true });
  `);
  await page.goto(addressOf(at));
  const isQuiet = 'marks.shown > 0 && performance.now() > Math.max(marks.shown, marks.busy) + 1500';
  while (!(await page.evaluate<boolean>(isQuiet))) await wait(200);
  const { shown, busy } = await page.evaluate<{ shown: number; busy: number }>('marks');
  await page.context().close();
  return { size, shown, interactive: Math.max(shown, busy) };
}

/** Performs a task on a page of its own. The responses of the service are not needed: a task ends when its request is sent. */
async function perform(browser: Browser, seeded: Seeded, task: Task, way: Task['byMouse']) {
  const page = Object.assign(await open(browser, seeded), { clicks: 0, keys: 0 }) as Counted;
  await page.route('**/graphql', (route) =>
    /^\[?\{"query":"mutation/.test(route.request().postData() ?? '') ? route.abort() : route.continue(),
  );
  const from = task.from.startsWith('/')
    ? task.from
    : `/runs/${seeded[task.from as 'big']}${task.from === 'changed' ? '/changes' : ''}`;
  await page.goto(addressOf(from));
  await page.getByText(task.ready).first().waitFor();
  const hands: Hands = {
    page,
    async click(role, name) {
      page.clicks++;
      await page.getByRole(role, { name }).last().click();
    },
    async press(...keys) {
      page.keys += keys.length;
      for (const key of keys) await page.keyboard.press(key);
    },
    sent: (operation) => page.waitForRequest((request) => request.postData()?.includes(operation) ?? false),
  };
  const begun = performance.now();
  await way(hands, seeded);
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
  const { clicks, keys } = page;
  await page.context().close();
  return { clicks, keys, seconds };
}
