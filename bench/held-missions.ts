// `npm run bench:held [-- --missions=2000] [--seconds=30] [--action=10] [--price=0] [--harness=claude-code]`: the cost and delay of
// heartbeats while runners execute many missions at the same time, on one process of the service. The latest figures and their explanation
// are in bench/README.md.
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { sql } from '#foundation/postgres/database.ts';
import { unrecorded } from '#foundation/postgres/origin.ts';
import { idOf } from './database.ts';
import { readCounters } from './database-counters.ts';
import { openDispatchDatabase } from './dispatch-database.ts';
import { createRunners, places, runnerName } from './held-runners.ts';
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
    price: { type: 'string', default: '0' },
    harness: { type: 'string', default: 'claude-code' },
  },
});
const [missions, lasts] = [Number(options.missions), Number(options.seconds)];
const { harness } = options;
/**
 * How long the bench waits between the last claim and the measurement. In this time the intervals between heartbeats grow to their final
 * length, and caches and prepared statements fill.
 */
const settleMs = 15_000;
const claimsAtOnce = 16;
/** The service runs from its sources, so that this module can count its statements. */
const statementCount = new URL('./servers/statement-count.ts', import.meta.url).href;

const folder = mkdtempSync(path.join(tmpdir(), 'aep-held-'));
const secretKey = randomBytes(32);
const database = await openDispatchDatabase(secretKey);
await unrecorded(() => seed());
const postgresCpu = await openPostgresMeter();
const launch = service(
  { databaseUrl: database.url, folder, secretKey, fromSources: true },
  { INSTANCE_PRICES: JSON.stringify({ 'standard-1': Number(options.price) }) },
);
const server = await start({
  ...launch,
  node: [...launch.node!, '--import', statementCount],
});
const runners = createRunners(server.url, database.runtime, harness, {
  samplesMs: Number(options.samples),
  actionMs: Number(options.action) * 1_000,
});

/** Reads the counters of the database, and CPU times in microseconds. */
async function read() {
  const { user, system } = process.cpuUsage();
  const cpu = { service: await server.cpu(), postgres: postgresCpu(), client: user + system };
  return { ...(await readCounters()), ...cpu, statements: await server.statements(), time: performance.now() };
}

console.log(`${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}\n`);
try {
  const begun = performance.now();
  let claimed = 0;
  // Each mission sends heartbeats as soon as it is claimed, as a real runner does.
  const claimSome = async () => {
    while (claimed < missions) {
      const n = claimed++;
      runners.hold(await runners.claim(n));
      if ((n + 1) % 500 === 0)
        console.log(`${n + 1} missions at ${((performance.now() - begun) / 1_000).toFixed(0)} s`);
    }
  };
  await Promise.all(Array.from({ length: claimsAtOnce }, claimSome));
  runners.askForOrders(Array.from({ length: Math.ceil(missions / places) }, (_, n) => runnerName(n)));
  console.log(`${missions} missions of ${harness} claimed in ${((performance.now() - begun) / 1_000).toFixed(1)} s`);
  await wait(settleMs);
  runners.reset();
  const before = await read();
  await wait(lasts * 1_000);
  const [after, { times, reports, longestGapMs, refusals, lost }] = [await read(), runners.read()];
  const rss = await server.rss();
  const refused = refusals.map(([code, count]) => `${count} ${code}`).join(', ') || 'no';
  const took = (after.time - before.time) / 1_000;
  const each = (figure: keyof typeof after, digits = 0) =>
    ((after[figure] - before[figure]) / times.length).toFixed(digits);
  const perSecond = (figure: keyof typeof after) => ((after[figure] - before[figure]) / took).toFixed(0);
  const percent = (figure: 'service' | 'postgres' | 'client') =>
    ((after[figure] - before[figure]) / took / 1e4).toFixed(0);
  const [load] = loadavg();
  console.log(
    `${took.toFixed(0)} s, ${(times.length / took).toFixed(0)} heartbeats and ${(reports / took).toFixed(0)} other requests a second: p50 ${at(times, 0.5).toFixed(1)} ms, p99 ${at(times, 0.99).toFixed(1)} ms for a heartbeat, at most ${(longestGapMs / 1_000).toFixed(1)} s between two of a mission; ${refused} refusals, ${lost} missions lost`,
  );
  console.log(
    `service: ${percent('service')} % of one core, ${each('service')} us for a heartbeat with its share of reports, ${(rss / 1e6).toFixed(0)} MB`,
  );
  console.log(`PostgreSQL: ${percent('postgres')} % of one core, ${each('postgres')} us for a heartbeat`);
  console.log(`this client: ${percent('client')} % of one core; load of the machine ${load!.toFixed(1)}`);
  console.log(
    `a second: ${perSecond('statements')} statements, ${perSecond('transactions')} transactions, ${perSecond('rowsWritten')} rows written, ${perSecond('walBytes')} bytes of WAL`,
  );
  console.log(
    `for a heartbeat: ${each('statements', 2)} statements, ${each('transactions', 2)} transactions, ${each('rowsWritten', 2)} rows, ${each('walBytes')} bytes`,
  );
  assert.equal(lost, 0, 'no mission is lost');
} finally {
  runners.end();
  await server.stop();
  await database.close();
  rmSync(folder, { recursive: true });
}

/** Creates an agent that uses the chosen harness, and missions of this agent, which wait for a runtime. */
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
