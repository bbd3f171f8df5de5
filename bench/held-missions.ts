// `npm run bench:held [-- --missions=2000] [--seconds=30] [--action=10] [--harness=claude-code]`: missions that runners execute at the
// same time, on one process of the service: cost and delay of their heartbeats. bench/README.md explains the figures, and has the last
// ones.
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { sql } from '#foundation/postgres/database.ts';
import { unrecorded } from '#foundation/postgres/origin.ts';
import { idOf } from './database.ts';
import { readCounters } from './database-counters.ts';
import { openDispatchDatabase } from './dispatch-database.ts';
import { createRunners, type HeldMission } from './held-runners.ts';
import { at } from './measure.ts';
import { openPostgresMeter } from './postgres-cpu.ts';
import { start } from './process.ts';
import { service } from './the-service.ts';

const { values: options } = parseArgs({
  options: {
    missions: { type: 'string', default: '2000' },
    seconds: { type: 'string', default: '30' },
    samples: { type: 'string', default: '5000' },
    action: { type: 'string', default: '10' },
    harness: { type: 'string', default: 'claude-code' },
  },
});
const [missions, lasts] = [Number(options.missions), Number(options.seconds)];
const { harness } = options;
/** Time in which missions begin their heartbeats, and in which caches and prepared statements are filled. */
const rampUpMs = 10_000;
const claimsAtOnce = 24;
/** The service runs from its sources, so that this module can count its statements. */
const statementCount = new URL('./servers/statement-count.ts', import.meta.url).href;

const folder = mkdtempSync(path.join(tmpdir(), 'aep-held-'));
const secretKey = randomBytes(32);
const database = await openDispatchDatabase(secretKey);
await unrecorded(() => seed());
const postgresCpu = await openPostgresMeter();
const launch = service({ databaseUrl: database.url, folder, secretKey, fromSources: true });
const server = await start({ ...launch, node: [...launch.node!, '--import', statementCount] });
const runners = createRunners(server.url, database.runtime, harness, {
  samplesMs: Number(options.samples),
  actionMs: Number(options.action) * 1_000,
});

/** Counts of the database and CPU times in microseconds. */
async function read() {
  const cpu = { service: await server.cpu(), postgres: postgresCpu() };
  return { ...(await readCounters()), ...cpu, statements: await server.statements(), time: performance.now() };
}

console.log(`${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}\n`);
try {
  const begun = performance.now();
  const held: HeldMission[] = [];
  for (let n = 0; n < missions; n += claimsAtOnce) {
    const some = Array.from({ length: Math.min(claimsAtOnce, missions - n) }, (_, i) => runners.claim(n + i));
    held.push(...(await Promise.all(some)));
  }
  console.log(`${missions} missions of ${harness} claimed in ${((performance.now() - begun) / 1_000).toFixed(1)} s`);
  runners.hold(held, rampUpMs);
  await wait(rampUpMs + 5_000);
  runners.times.length = 0;
  runners.refusals.clear();
  const [before, reportsBefore] = [await read(), runners.reports()];
  await wait(lasts * 1_000);
  const [after, times] = [await read(), [...runners.times].sort((a, b) => a - b)];
  const reports = runners.reports() - reportsBefore;
  const rss = await server.rss();
  const lost = runners.lost();
  const refused = [...runners.refusals].map(([code, count]) => `${count} ${code}`).join(', ') || 'no';
  const took = (after.time - before.time) / 1_000;
  const each = (figure: keyof typeof after, digits = 0) =>
    ((after[figure] - before[figure]) / times.length).toFixed(digits);
  const perSecond = (figure: keyof typeof after) => ((after[figure] - before[figure]) / took).toFixed(0);
  const percent = (figure: 'service' | 'postgres') => ((after[figure] - before[figure]) / took / 1e4).toFixed(0);
  console.log(
    `${(times.length / took).toFixed(0)} heartbeats and ${(reports / took).toFixed(0)} reports a second: p50 ${at(times, 0.5).toFixed(1)} ms, p99 ${at(times, 0.99).toFixed(1)} ms for a heartbeat; ${refused} refusals`,
  );
  console.log(
    `service: ${percent('service')} % of one core, ${each('service')} us for a heartbeat with its share of reports, ${(rss / 1e6).toFixed(0)} MB`,
  );
  console.log(`PostgreSQL: ${percent('postgres')} % of one core, ${each('postgres')} us for a heartbeat`);
  console.log(
    `a second: ${perSecond('statements')} statements, ${perSecond('transactions')} transactions, ${perSecond('rowsWritten')} rows written, ${perSecond('walBytes')} bytes of WAL`,
  );
  console.log(
    `for a heartbeat: ${each('statements', 2)} statements, ${each('transactions', 2)} transactions, ${each('rowsWritten', 2)} rows, ${each('walBytes')} bytes`,
  );
  assert.equal(lost, 0, 'no mission is lost');
} finally {
  await runners.end();
  await server.stop();
  await database.close();
  rmSync(folder, { recursive: true });
}

/** Creates missions that wait for a runtime, with an agent of the harness. */
async function seed(): Promise<void> {
  const [org, agent] = [idOf('org', 0), idOf('agn', 1)];
  await sql(
    `insert into agents (id, org_id, name, role, harness, model, skill_repos, sandbox_template_id, created_at, updated_at)
     values ($1, $2, 'Builder', 'builder', $3, $4, '{}', 'standard', 0, 0)`,
    [agent, org, harness, harness === 'shell' ? 'none' : 'claude-sonnet-5'],
  );
  await sql(
    `insert into runs (id, org_id, project_id, kind, status, prompt, mission_title, agent_id, issue_id, billing_actor_user_id, scheduled_for,
       created_at, updated_at)
     select 'run_' || lpad(to_hex(n), 32, '0'), $1, 'prj_' || 1 + n % 20, 'manual', 'dispatching', 'true', 'Mission ' || n, $2, 'P-' || n, $3,
       $4, $4, $4 from generate_series(0, $5::int - 1) n`,
    [org, agent, idOf('usr', 0), Date.now(), missions],
  );
}
