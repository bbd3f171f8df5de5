// `npm run bench:big [-- --scale=0.1] [--explain] [--only=word] [--sources]`: the cost of a page when the tables are big. The latest
// figures and their explanation are in bench/README.md.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { answerOf, bigCases } from './big-cases.ts';
import { fullSize, openBigDatabase, type Size } from './big-database.ts';
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

if (!options.sources) buildService();
const folder = mkdtempSync(path.join(tmpdir(), 'aep-big-out-'));
const database = await openBigDatabase(size, (line) => console.log(line));
const secretKey = randomBytes(32);
const settings = { databaseUrl: database.url, folder, secretKey, fromSources: options.sources };
// The scheduler is off, so that the service does no other work.
const server = await start(service(settings, { SCHEDULER: 'off' }));

console.log(`\n${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}, ${process.platform} ${process.arch}\n`);
const lines = (cells: string[]) => `| ${cells.join(' | ')} |`;
const width = 52;
try {
  const cases = (await bigCases(server, size)).filter(({ name }) => name.includes(options.only));
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
} finally {
  await server.stop();
  await database.close();
  rmSync(folder, { recursive: true });
}
