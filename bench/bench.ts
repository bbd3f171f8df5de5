// `npm run bench [-- --quick] [--only=page] [--check] [--save]`: compares the built service with other servers that do the same work. The
// latest figures and their explanation are in bench/README.md.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Comparison, Servers } from './cases.ts';
import { openBenchDatabase } from './database.ts';
import { graphqlComparisons } from './graphql-cases.ts';
import { type Ratios, readLastFigures, regressions, saveFigures } from './last-figures.ts';
import { type Figures, ratiosOf, table, turn } from './measure.ts';
import { type Launch, start } from './process.ts';
import { protocolComparisons } from './protocol-cases.ts';
import { deepComparisons, restComparisons } from './rest-cases.ts';
import { assertSame } from './same-answers.ts';
import { buildService, root, service } from './the-service.ts';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    check: { type: 'boolean', default: false },
    save: { type: 'boolean', default: false },
  },
});
const rounds = options.quick ? 1 : 3;
const seconds = { warmUp: 1, turn: options.quick ? 1 : 4 };

buildService();

const folder = mkdtempSync(path.join(tmpdir(), 'aep-bench-out-'));
const database = await openBenchDatabase();
const other = (name: string, file: string, ...more: string[]): Launch => ({
  name,
  file: path.join(root, 'bench', file),
  args: (port) => [String(port), database.url, ...more],
  node: ['--import', 'tsx'],
  output: path.join(folder, `${path.basename(file)}${more}.log`),
});
const launches: Record<keyof Servers, Launch> = {
  bare: other('(a) node:http + pg', 'servers/bare.ts'),
  fastify: other('(b) Fastify + pg', 'servers/fastify.ts'),
  prepared: other('(b) prepared', 'servers/fastify.ts', '--prepared'),
  yoga: other('Yoga, DataLoader, prepared', 'peers/yoga.ts', '--prepared'),
  mercurius: other('Mercurius, jit, prepared', 'peers/mercurius.ts', '--prepared'),
  service: service({ databaseUrl: database.url, folder, secretKey: randomBytes(32) }),
};
const started = await Promise.all(
  Object.entries(launches).map(async ([name, launch]) => [name, await start(launch)] as const),
);
const servers = Object.fromEntries(started) as unknown as Servers;

/** Returns the figures of each contender, round by round. */
async function measure({ contenders }: Comparison): Promise<Figures[][]> {
  const turns: Figures[][] = contenders.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (let step = 0; step < contenders.length; step++) {
      // Each round begins with another contender, so that the order of contenders varies.
      const place = (round + step) % contenders.length;
      const one = contenders[place]!;
      await turn(one.server, one, seconds.warmUp);
      turns[place]!.push(await turn(one.server, one, seconds.turn));
      if (one.writes) await database.empty(one.organization);
    }
  }
  return turns;
}

console.log(`${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}, ${process.platform} ${process.arch}\n`);
try {
  const ratios: Ratios = {};
  const all = [
    ...restComparisons(servers),
    ...(await deepComparisons(servers)),
    ...graphqlComparisons(servers),
    ...protocolComparisons(servers),
  ];
  const comparisons = all.filter(({ name }) => name.includes(options.only));
  for (const comparison of comparisons) {
    await assertSame(comparison);
    for (const one of comparison.contenders) if (one.writes) await database.empty(one.organization);
  }
  for (const comparison of comparisons) {
    const turns = await measure(comparison);
    ratios[comparison.name] = ratiosOf(comparison, turns);
    console.log(`${table(comparison, turns)}\n`);
  }
  if (options.check) {
    const worse = regressions(readLastFigures(), ratios);
    for (const line of worse) console.error(line);
    if (worse.length > 0) process.exitCode = 1;
    else console.log('No comparison takes more than 10 percent more CPU than last time.');
  }
  if (options.save) saveFigures(ratios);
} finally {
  await Promise.all(Object.values(servers).map((server) => server.stop()));
  await database.close();
  rmSync(folder, { recursive: true });
}
