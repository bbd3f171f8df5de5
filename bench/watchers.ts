// Measures live pages of running missions on one process of the service: how long a change takes to reach all watchers, and what it costs.
// The command is `npm run bench:watchers [-- --watchers=1000] [--runs=100] [--every=5]`. The latest figures and their explanation are in
// bench/README.md.
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { seconds } from '#foundation/clock.ts';
import { announcing } from '#foundation/postgres/changes.ts';
import { sql } from '#foundation/postgres/database.ts';
import { subscriptions } from '#limits.ts';
import { runLive } from '../src/console/generated/documents.ts';
import { idOf, secretOf } from './database.ts';
import { openDispatchDatabase } from './dispatch-database.ts';
import { at } from './measure.ts';
import { start } from './process.ts';
import { buildService, service } from './the-service.ts';

const { values: options } = parseArgs({
  options: {
    watchers: { type: 'string', default: '1000' },
    runs: { type: 'string', default: '100' },
    every: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '30' },
  },
});
const [watchers, runs, every, lasts] = [options.watchers, options.runs, options.every, options.seconds].map(Number) as [
  number,
  number,
  number,
  number,
];

buildService();
const folder = mkdtempSync(path.join(tmpdir(), 'aep-watchers-'));
const secretKey = randomBytes(32);
const database = await openDispatchDatabase(secretKey);
const people = Math.ceil(watchers / subscriptions.perPerson);
const tokensEach = subscriptions.perPerson / subscriptions.perCredential;
await seed();
const server = await start(
  service(
    { databaseUrl: database.url, folder, secretKey },
    {
      SUBSCRIPTIONS_PER_ORGANIZATION: String(subscriptions.perProcess),
      SCHEDULER: 'off',
    },
  ),
);

/** Milliseconds from a change to its arrival at a watcher. */
let times: number[] = [];
const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
try {
  const opened = performance.now();
  await Promise.all(Array.from({ length: watchers }, (_, n) => watch(n)));
  console.log(`${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}\n`);
  console.log(`${watchers} watchers opened in ${((performance.now() - opened) / 1_000).toFixed(1)} s`);
  times = [];
  const [used, begun] = [await server.cpu(), performance.now()];
  let changes = 0;
  for (; performance.now() - begun < seconds(lasts); changes++) {
    const due = begun + (changes * seconds(every)) / runs;
    await wait(Math.max(0, due - performance.now()));
    await change(changes % runs);
  }
  await wait(seconds(2));
  const took = performance.now() - begun;
  const cpu = ((await server.cpu()) - used) / 1_000 / took;
  times.sort((a, b) => a - b);
  const ms = (share: number) => at(times, share).toFixed(0);
  const expected = (changes * watchers) / runs;
  console.log(
    `${runs} running missions, each changes every ${every} s: ${(times.length / (took / 1_000)).toFixed(0)} events a second, ${((100 * times.length) / expected).toFixed(0)} % of what changed (changes between two reads are one event)`,
  );
  console.log(
    `seen after p50 ${ms(0.5)} ms, p99 ${ms(0.99)} ms; ${(100 * cpu).toFixed(0)} % of one core, ${((await server.rss()) / 1e6).toFixed(0)} MB`,
  );
} finally {
  agent.destroy();
  await server.stop();
  await database.close();
  rmSync(folder, { recursive: true });
}

/**
 * Creates the running missions, and access tokens for the watchers. The tokens belong to several people, because each person may have only a
 * limited number of streams.
 */
async function seed(): Promise<void> {
  const org = idOf('org', 0);
  const person = `'usr_' || lpad(to_hex(n), 32, '0')`;
  for (const statement of [
    `insert into people (id, email, name, created_at) select ${person}, 'p' || n || '@example.com', 'P' || n, 0 from generate_series(1, ${people}) n`,
    `insert into memberships (org_id, user_id, role, created_at) select '${org}', ${person}, 'viewer', 0 from generate_series(1, ${people}) n`,
    `insert into runs (id, org_id, project_id, kind, status, prompt, scheduled_for, created_at, updated_at, started_at, claimed_by, lease_id, lease_until)
     select 'run_' || lpad(to_hex(n), 32, '0'), '${org}', 'prj_1', 'manual', 'running', 'Work.', n, n, n, n, 'bench', 'lease-' || n, 99999999999999 from generate_series(0, ${runs - 1}) n`,
  ]) {
    await sql(statement);
  }
  for (let n = 0; n < people * tokensEach; n++) {
    await sql(
      `insert into tokens (id, digest, org_id, user_id, name, scopes, created_at, expires_at)
       values ($1, sha256($2), $3, $4, 'bench', array['missions:read', 'sandboxes:read', 'artifacts:read', 'issues:read', 'projects:read'], 0, 99999999999999)`,
      [idOf('tok', n + 1), Buffer.from(secretOf(n + 1)), org, idOf('usr', 1 + Math.floor(n / tokensEach))],
    );
  }
}

function runOf(n: number): string {
  return idOf('run', n);
}

/** Writes and announces a change, as a report of a runtime would. The text of the activity is the current time. */
async function change(n: number): Promise<void> {
  await sql(announcing('update runs set mission_activity = $2 where id = $1'), [runOf(n), String(performance.now())]);
}

/** Opens a live page; resolves with its first event. */
function watch(n: number): Promise<void> {
  const body = JSON.stringify({ query: runLive.text, variables: { runId: runOf(n % runs) } });
  const headers = {
    authorization: `Bearer ${secretOf(1 + Math.floor(n / subscriptions.perCredential))}`,
    'content-type': 'application/json',
    accept: 'text/event-stream',
  };
  return new Promise((resolve, reject) => {
    const sent = request(`${server.url}/graphql`, { method: 'POST', headers, agent }, (response) => {
      assert.equal(response.statusCode, 200, 'a live page opens');
      response.setEncoding('utf8').on('data', (text: string) => {
        const activity = /"missionActivity":(null|"([\d.]+)")/.exec(text);
        if (!activity) return text.includes('"errors"') ? reject(new Error(text)) : undefined;
        if (activity[2]) times.push(performance.now() - Number(activity[2]));
        resolve();
      });
    });
    sent.on('error', reject).end(body);
  });
}
