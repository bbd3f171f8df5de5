// `npm run bench:big [-- --scale=0.1] [--explain] [--only=word] [--sources]`: the cost of a page when the tables are big. The latest
// figures and their explanation are in bench/README.md.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { sql } from '#foundation/postgres/database.ts';
import { bindSecretKey } from '#foundation/secrets/secrets.ts';
import { folderStorage } from '#foundation/storage/folder.ts';
import { openStorage } from '#foundation/storage/storage.ts';
import { answerOf, bigCases } from './big-cases.ts';
import { openBigDatabase } from './big-database.ts';
import { findOldMissions, missionTables } from './big-missions.ts';
import { fullSize, runsOf, type Size } from './big-size.ts';
import { p50, p99, runJobs, startAndClaim } from './big-writes.ts';
import { explain } from './explain.ts';
import { turn } from './measure.ts';
import { start } from './process.ts';
import { buildService, service } from './the-service.ts';

const { values: options } = parseArgs({
  options: {
    scale: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    explain: { type: 'boolean', default: false },
    sources: { type: 'boolean', default: false },
  },
});
const scaled = (n: number) => Math.round(n * Number(options.scale));
const size: Size = {
  ...fullSize,
  runs: scaled(fullSize.runs),
  runsOfOthers: scaled(fullSize.runsOfOthers),
  sandboxes: scaled(fullSize.sandboxes),
};
const seconds = { warmUp: 1, turn: 5 };
const lines = (cells: string[]) => `| ${cells.join(' | ')} |`;
const width = 52;

if (!options.sources) buildService();
const folder = mkdtempSync(path.join(tmpdir(), 'aep-big-out-'));
const database = await openBigDatabase(size, (line) => console.log(line));
const secretKey = randomBytes(32);
bindSecretKey(secretKey);
openStorage(folderStorage(path.join(folder, 'artifacts')));
const old = await findOldMissions();
const settings = { databaseUrl: database.url, folder, secretKey, fromSources: options.sources };
// The scheduler is off, so that the service does no other work.
const server = await start(service(settings, { SCHEDULER: 'off' }));

console.log(`\n${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}, ${process.platform} ${process.arch}\n`);
try {
  await reportSizes();
  const cases = (await bigCases(server, size, old)).filter(({ name }) => name.includes(options.only));
  console.log(lines(['one request at a time'.padEnd(width), 'p50 ms', 'p99 ms', ' CPU us']));
  console.log(lines(['---', '---', '---', '---']));
  for (const one of cases) {
    await answerOf(server.url, one.requests[0]!);
    await turn(server, one, seconds.warmUp, 1);
    const { p50, p99, cpu } = await turn(server, one, seconds.turn, 1);
    const figures = [p50.toFixed(2).padStart(6), p99.toFixed(2).padStart(6), cpu.toFixed(0).padStart(7)];
    console.log(lines([one.name.padEnd(width), ...figures]));
  }
  if (options.explain) {
    for (const one of cases) console.log(`\n## ${one.name}\n\n${(await explain(one, secretKey)).join('\n\n')}`);
  }
  if (options.only === '') await measureWrites();
} finally {
  await server.stop();
  await database.close();
  rmSync(folder, { recursive: true });
}

/** Number of rows and bytes of the largest tables, partitions together. Bytes include indexes and texts that are stored apart. */
async function reportSizes(): Promise<void> {
  const sizes = await sql<{ name: string; rows: number; bytes: number }>(
    `select coalesce(i.inhparent, c.oid)::regclass::text as name, sum(greatest(c.reltuples, 0))::bigint as rows, sum(pg_total_relation_size(c.oid))::bigint as bytes
     from pg_class c left join pg_inherits i on i.inhrelid = c.oid
     where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace group by 1 order by 3 desc`,
  );
  const count = runsOf(size);
  const line = (name: string, rows: number, bytes: number) =>
    lines([name.padEnd(20), (bytes / 1e9).toFixed(2), (rows / count).toFixed(2), (bytes / count).toFixed(0)]);
  console.log(`\n${lines(['table'.padEnd(20), 'GB', 'rows of a mission', 'bytes of a mission'])}`);
  for (const { name, rows, bytes } of sizes.slice(0, 12)) console.log(line(name, rows, bytes));
  const ofMissions = sizes.filter(({ name }) => missionTables.includes(name));
  const sum = (key: 'rows' | 'bytes') => ofMissions.reduce((total, one) => total + one[key], 0);
  console.log(line('tables of missions', sum('rows'), sum('bytes')));
}

async function measureWrites(): Promise<void> {
  console.log(`\n${lines(['write'.padEnd(width), 'p50 ms', 'p99 ms'])}`);
  for (const one of await startAndClaim(server)) console.log(lines([one.name.padEnd(width), p50(one), p99(one)]));
  const slow: string[] = [];
  console.log(`\n${lines(['job of the scheduler'.padEnd(width), 'first ms', 'again ms'])}`);
  for (const [first, again] of await runJobs((line) => slow.push(line)))
    console.log(lines([first.name.padEnd(width), p50(first), p50(again)]));
  console.log(['', ...new Set(slow)].join('\n'));
}
