// `npm run bench:dispatch [-- --occurrences=3000] [--processes=4] [--missions=200] [--rounds=1] [--statements] [--floor] [--sources]`: measures
// how many occurrences the scheduler runs per second, their delay, and the time that each of `--missions` takes from "run now" to its end. In
// each round, all occurrences are due at once. `--statements` lists what PostgreSQL does for each occurrence; `--floor` writes the same rows
// without the service. The latest figures and their explanation are in bench/README.md.
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { seconds } from '#foundation/clock.ts';
import { auditSettled } from './database.ts';
import { readCounters, readStatements } from './database-counters.ts';
import { openDispatchDatabase } from './dispatch-database.ts';
import { measureFloor } from './dispatch-floor.ts';
import { at } from './measure.ts';
import { openPostgresMeter } from './postgres-cpu.ts';
import { type Server, start } from './process.ts';
import { buildService, service } from './the-service.ts';

const { values: options } = parseArgs({
  options: {
    occurrences: { type: 'string', default: '3000' },
    processes: { type: 'string', default: '4' },
    missions: { type: 'string', default: '200' },
    rounds: { type: 'string', default: '1' },
    statements: { type: 'boolean', default: false },
    floor: { type: 'boolean', default: false },
    sources: { type: 'boolean', default: false },
  },
});
const [occurrences, processes, missions] = [options.occurrences, options.processes, options.missions].map(Number) as [
  number,
  number,
  number,
];
/** Milliseconds between polls of the runtime. */
const poll = 100;

if (!options.sources && !options.floor) buildService();
const folder = mkdtempSync(path.join(tmpdir(), 'aep-dispatch-out-'));
const secretKey = randomBytes(32);
const database = await openDispatchDatabase(secretKey, { countsStatements: options.statements });
const servers = await Promise.all(
  Array.from({ length: options.floor ? 0 : processes }, (_, n) => {
    const own = path.join(folder, String(n));
    mkdirSync(own);
    return start(service({ databaseUrl: database.url, folder: own, secretKey, fromSources: options.sources }));
  }),
);

const postgresCpu = await openPostgresMeter();
/** Reads the counters of the database, the CPU times in microseconds, and the current time in milliseconds. */
async function read() {
  const cpus = await Promise.all(servers.map((server) => server.cpu()));
  const service = cpus.reduce((sum, cpu) => sum + cpu, 0);
  return { ...(await readCounters()), service, postgres: postgresCpu(), at: performance.now() };
}
type Reading = Awaited<ReturnType<typeof read>>;

/**
 * Describes the cost of one occurrence of a task: the difference between two readings, divided by the number of occurrences. The CPU time
 * that idle processes would have used meanwhile is subtracted. @param idle CPU time of idle processes, in microseconds per millisecond
 */
function costOf(before: Reading, after: Reading, idle: { service: number; postgres: number }): string {
  const each = (figure: keyof Reading, unused = 0) =>
    ((after[figure] - before[figure] - unused * (after.at - before.at)) / occurrences).toFixed(0);
  const cpu = `service ${each('service', idle.service)} us, PostgreSQL ${each('postgres', idle.postgres)} us of CPU`;
  return `${cpu}; ${each('rowsWritten')} rows, ${each('walBytes')} bytes of WAL`;
}

/** Measures the CPU time of processes that have nothing to do, in microseconds per millisecond. */
async function readIdle() {
  const before = await read();
  await wait(seconds(5));
  const after = await read();
  const each = (part: 'service' | 'postgres') => (after[part] - before[part]) / (after.at - before.at);
  return { service: each('service'), postgres: each('postgres') };
}

const ms = (value: number) => value.toFixed(value < 10 ? 1 : 0).padStart(6);
const spread = (times: number[]) => `p50 ${ms(at(times, 0.5))} ms, p99 ${ms(at(times, 0.99))} ms`;

console.log(`${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}, ${process.platform} ${process.arch}\n`);
try {
  if (options.floor) await measureFloor(database, { occurrences, connections: processes, postgresCpu });
  else {
    for (let round = 0; round < Number(options.rounds); round++) await dispatchAll('due at once', 0);
    await dispatchAll('due over 30 seconds', seconds(30));
    await runMissions(servers[0]!);
  }
} finally {
  await Promise.all(servers.map((server) => server.stop()));
  await database.close();
  rmSync(folder, { recursive: true });
}

async function dispatchAll(name: string, over: number): Promise<void> {
  const idle = await readIdle();
  const due = Date.now() + seconds(5);
  await database.plan(occurrences, due, over);
  await wait(due - Date.now());
  const before = await read();
  const statements = options.statements ? await readStatements(occurrences) : null;
  while (await database.isLeft(due + over)) await wait(50);
  const after = await read();
  const done = await statements?.();
  const made = await database.made();
  assert.equal(made.length, occurrences, 'every occurrence has one issue');
  const took = Math.max(...made.map((one) => one.issued)) - Math.min(...made.map((one) => one.begun));
  const late = made.map(({ issued, scheduledFor }) => issued - scheduledFor).sort((a, b) => a - b);
  const rate = over === 0 ? `, ${((occurrences / took) * 1_000).toFixed(0)} a second` : '';
  console.log(`${occurrences} occurrences ${name}, ${processes} processes: from due to issue ${spread(late)}${rate}`);
  console.log(`  for each: ${costOf(before, after, idle)}`);
  if (over === 0) {
    await Promise.all([auditSettled(), database.isExplained()]);
    console.log(`  with events of the audit log and what the run waits for: ${costOf(before, await read(), idle)}`);
  }
  for (const line of done ?? []) console.log(line);
  await database.empty();
}

/** Runs one mission after another; a runtime claims each and ends it at once. */
async function runMissions({ url }: Server): Promise<void> {
  await database.plan(1, Date.UTC(2100, 0), 0);
  const [answered, claimed, finished]: [number[], number[], number[]] = [[], [], []];
  for (let n = 0; n < missions; n++) {
    const done = takeOne(url);
    // Starts the mission at a random time between two polls of the runtime.
    await wait(Math.random() * poll);
    const begun = performance.now();
    await ask(`${url}/v1/scheduled-tasks/${database.task}/run`, database.person);
    answered.push(performance.now() - begun);
    const times = await done;
    claimed.push(times.claimed - begun);
    finished.push(times.finished - begun);
  }
  for (const times of [answered, claimed, finished]) times.sort((a, b) => a - b);
  console.log(`${missions} missions, from "run now" to`);
  console.log(`  its answer               ${spread(answered)}`);
  console.log(`  a runtime has it         ${spread(claimed)} (it asks every ${poll} ms)`);
  console.log(`  its end                  ${spread(finished)}`);
}

async function takeOne(url: string): Promise<{ claimed: number; finished: number }> {
  const runtime = (query: string) => ask(`${url}/graphql`, database.runtime, { query });
  for (const begun = performance.now(); ; await wait(poll)) {
    const answer = await runtime(
      'mutation { claimRun(input: { runtime: "bench", harnesses: [shell] }) { runId leaseId prompt } }',
    );
    const run = (answer as { data: { claimRun: { runId: string; leaseId: string } | null } }).data.claimRun;
    if (run) {
      const claimed = performance.now();
      const input = `runId: "${run.runId}", leaseId: "${run.leaseId}", status: completed`;
      await runtime(`mutation { finishRun(input: { ${input} }) { ok } }`);
      return { claimed, finished: performance.now() };
    }
    assert(performance.now() - begun < seconds(30), 'a run that is asked for comes to a runtime');
  }
}

async function ask(address: string, token: string, body: object = {}): Promise<unknown> {
  const response = await fetch(address, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  assert(response.ok && !text.includes('"errors"'), `${response.status} to ${address}: ${text}`);
  return JSON.parse(text);
}
