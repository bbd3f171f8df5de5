// `npm run bench:logs-seen [-- --browser] [-- --poll] [-- --no-build]`: the time from when a mission prints a line until a subscriber gets
// it or, with `--browser`, until the console shows it in a followed log; and the cost of such missions. The latest figures and their
// explanation are in bench/README.md.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Browser } from 'playwright-core';
import { openSession } from '#domain/identity/sessions/operations.ts';
import type { Id } from '#foundation/ids.ts';
import { sql } from '#foundation/postgres/database.ts';
import { openBrowser } from '../test/support/browser.ts';
import { eventsOf } from '../test/support/server-sent-events.ts';
import { idOf, secretOf } from './database.ts';
import { openDispatchDatabase } from './dispatch-database.ts';
import { at } from './measure.ts';
import { start } from './process.ts';
import { buildService, root, service } from './the-service.ts';

const { values: options } = parseArgs({
  options: { browser: { type: 'boolean' }, poll: { type: 'boolean' }, 'no-build': { type: 'boolean' } },
});
const [missions, linesEach, meanGapMs, floodSeconds] = [4, 150, 300, 6];
/** A script that prints lines with the current time and a number at random moments, once the client has had time to connect. */
const sparse = `console.log("ready");let n=${linesEach};const next=()=>{console.log("at "+Date.now()+" "+n);if(--n)setTimeout(next,-Math.log(1-Math.random())*${meanGapMs})};setTimeout(next,5000)`;
/** A script that prints 10,000 lines a second. */
const flood = `console.log("ready");let n=${floodSeconds * 10};const next=setInterval(()=>{console.log(("x".repeat(40)+"\\n").repeat(1000));if(--n===0)clearInterval(next)},100)`;

if (!options['no-build']) buildService();
const folder = mkdtempSync(path.join(tmpdir(), 'aep-logs-seen-'));
// If the runner is root, scripts run as separate users.
chmodSync(folder, 0o777);
const secretKey = randomBytes(32);
const database = await openDispatchDatabase(secretKey);
const [org, owner] = [idOf('org', 0) as Id<'organization'>, idOf('usr', 0) as Id<'person'>];
await sql(
  `insert into tokens (id, digest, org_id, user_id, name, scopes, created_at, expires_at)
   values ('${idOf('tok', 1)}', sha256('${secretOf(1)}'), '${org}', '${owner}', 'reader',
     array['missions:run', 'missions:read', 'sandboxes:read'], 0, 99999999999999)`,
);
const server = await start(service({ databaseUrl: database.url, folder, secretKey }, { LOCAL_RUNNER: 'off' }));
const runner = startRunner();
const leaving = new AbortController();
const readText = `query ($sandboxId: String!, $role: AgentRole!, $sessionId: String!, $after: SafeInt) {
  sandboxLog(sandboxId: $sandboxId, role: $role, sessionId: $sessionId, after: $after) { content bytes } }`;

/** Milliseconds from the time when a line was printed until it was seen. */
const times: number[] = [];
try {
  console.log(`${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}, load ${loadavg()[0]!.toFixed(1)}\n`);
  const logs = await Promise.all(Array.from({ length: missions }, () => begin(sparse)));
  const used = await server.cpu();
  if (options.browser) await followInBrowser(logs);
  else await Promise.all(logs.map(follow));
  const perLine = ((await server.cpu()) - used) / times.length / 1_000;
  times.sort((a, b) => a - b);
  const [p50, p99] = [0.5, 0.99].map((share) => at(times, share).toFixed(0));
  console.log(
    `${times.length} lines: seen after p50 ${p50} ms, p99 ${p99} ms; ${perLine.toFixed(1)} ms of CPU per line`,
  );
  if (!options.browser) await measureFlood();
} finally {
  leaving.abort();
  runner.kill('SIGKILL');
  await once(runner, 'exit');
  await server.stop();
  await database.close();
  rmSync(folder, { recursive: true });
}

function startRunner() {
  const env = {
    ...{
      PATH: process.env.PATH,
      TMPDIR: folder,
      PLATFORM_URL: server.url,
      HARNESSES_DIR: path.join(folder, 'harnesses'),
    },
    ...{ CONFINEMENT: 'none', ISOLATION: 'none', HARNESS_INSTALL: 'off', HARNESS_TEST: 'off', POLL_MS: '200' },
    RUNS_AT_ONCE: String(missions),
  };
  const stdio: ['pipe', 'ignore', 'inherit'] = ['pipe', 'ignore', 'inherit'];
  const child = spawn(process.execPath, [path.join(root, 'dist/runner/runner.js')], { env, stdio });
  child.stdin.write(`${database.runtime}\n`);
  return child;
}

async function ask<T>(query: string, variables: object, accept = 'application/json'): Promise<T> {
  const response = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secretOf(1)}`, 'content-type': 'application/json', accept },
    body: JSON.stringify({ query, variables }),
    signal: leaving.signal,
  });
  if (accept !== 'application/json') return response as T;
  const { data, errors } = (await response.json()) as { data: T; errors?: unknown };
  if (errors) throw new Error(JSON.stringify(errors));
  return data;
}

interface Log {
  sandboxId: string;
  role: string;
  sessionId: string;
}

/** Starts a mission that executes a Node.js script. Resolves when its log has its first line. */
async function begin(program: string): Promise<Log> {
  const query =
    'mutation ($prompt: String!, $agentId: String!) { startMission(projectId: "prj_1", prompt: $prompt, agentId: $agentId) { id } }';
  const prompt = `exec '${process.execPath}' -e '${program}'`;
  const { startMission } = await ask<{ startMission: { id: string } }>(query, { prompt, agentId: idOf('agn', 0) });
  for (;;) {
    const [log] = await sql<Log>(
      `select p.sandbox_id, p.role, p.session_id from sandbox_log_parts p join sandboxes s on s.id = p.sandbox_id
       where s.run_id = $1 and p.part = 'session' and strpos(p.content, 'ready') > 0`,
      [startMission.id],
    );
    if (log) return log;
    const [failed] = await sql<{ lastError: string }>(
      `select last_error from runs where id = $1 and status = 'failed'`,
      [startMission.id],
    );
    if (failed) throw new Error(failed.lastError);
    await wait(100);
  }
}

/** Moments at which a client reads: after each event of the subscription, or every two seconds. */
async function* moments(sandboxId: string): AsyncGenerator {
  if (options.poll) for (;;) yield await wait(2_000);
  const query = 'subscription ($sandboxId: String!) { sandboxUpdated(sandboxId: $sandboxId) { sandbox { status } } }';
  yield* eventsOf(await ask<Response>(query, { sandboxId }, 'text/event-stream'));
}

/** Follows a log until every line of the form `at <time> <number>` has been read, and records how long each of these lines took to arrive. */
async function follow(log: Log): Promise<void> {
  let [bytes, left] = [0, linesEach];
  for await (const _ of moments(log.sandboxId)) {
    const { sandboxLog } = await ask<{ sandboxLog: { content: string; bytes: number } }>(readText, {
      ...log,
      after: bytes,
    });
    const seen = Date.now();
    for (const [, printed] of sandboxLog.content.matchAll(/^at (\d+) \d+$/gm)) {
      times.push(seen - Number(printed));
      left--;
    }
    bytes = sandboxLog.bytes;
    if (left <= 0) return;
  }
}

async function followInBrowser(logs: Log[]): Promise<void> {
  const browser = (await openBrowser()) as Browser | string;
  if (typeof browser === 'string') throw new Error(browser);
  const { id, secret } = await openSession(owner, { userAgent: 'bench', address: '127.0.0.1' });
  await sql('update sessions set org_id = $1 where id = $2', [org, id]);
  const origin = server.url.replace('127.0.0.1', 'localhost');
  const context = await browser.newContext({ baseURL: origin });
  await context.addCookies([{ name: 'session', value: secret, url: origin }]);
  await context.addInitScript(`
    self.seen = new Map();
    new MutationObserver(() => {
      for (const { textContent } of document.querySelectorAll('.log-line')) {
        const [, printed] = /^at (\\d+) \\d+$/.exec(textContent) ?? [];
        if (printed && !seen.has(textContent)) seen.set(textContent, Date.now() - printed);
      }
    }).observe(document, { childList: true, characterData: true, subtree: true });
  `);
  try {
    // Only one log is opened, because the console does not update pages in hidden tabs.
    const [log] = logs;
    const page = await context.newPage();
    await page.goto(`/console/o/acme/sandboxes/${log!.sandboxId}`);
    await page.getByRole('button', { name: 'Follow' }).click();
    while ((await page.evaluate<number>('seen.size')) < linesEach) await wait(200);
    times.push(...(await page.evaluate<number[]>('[...seen.values()]')));
  } finally {
    await browser.close();
  }
}

/** Prints how much CPU time the service spends on a mission that prints 10,000 lines a second, while nobody reads its log. */
async function measureFlood(): Promise<void> {
  const { sandboxId } = await begin(flood);
  const [used, begun] = [await server.cpu(), performance.now()];
  await wait(1_000 * (floodSeconds - 2));
  const share = ((await server.cpu()) - used) / 10 / (performance.now() - begun);
  const [row] = await sql<{ pieces: number }>(
    'select count(*)::int as pieces from sandbox_log_parts where sandbox_id = $1',
    [sandboxId],
  );
  console.log(`10,000 lines a second: ${share.toFixed(0)} % of one core, ${row!.pieces} pieces so far`);
}
