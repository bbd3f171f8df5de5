// `npm run bench [-- --quick] [-- --only=page]`: the built service against the least that could do the same work. How to read
// the figures, and the last ones: bench/README.md.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { assertSame, casesOf } from './cases.ts';
import { creating, openBenchDatabase } from './database.ts';
import { type Figures, table, turn } from './measure.ts';
import { type Launch, start } from './process.ts';
import { buildService, root, service } from './the-service.ts';

const { values: options } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string', default: '' } },
});
const rounds = options.quick ? 1 : 3;
const seconds = { warmUp: 1, turn: options.quick ? 1 : 4 };

buildService();

const folder = mkdtempSync(path.join(tmpdir(), 'aep-bench-out-'));
const database = await openBenchDatabase();
const byHand = (name: string, file: string, ...more: string[]): Launch => ({
  name,
  file: path.join(root, 'bench/servers', file),
  args: (port) => [String(port), database.url, ...more],
  node: ['--import', 'tsx'],
  output: path.join(folder, `${name}.log`),
});
const servers = await Promise.all(
  [
    byHand('(a) node:http + pg', 'bare.ts'),
    byHand('(b) Fastify + pg', 'fastify.ts'),
    byHand('(b) prepared', 'fastify.ts', '--prepared'),
    service({ databaseUrl: database.url, folder, secretKey: randomBytes(32) }),
  ].map(start),
);

console.log(`${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}, ${process.platform} ${process.arch}\n`);
try {
  const cases = await Promise.all(servers.map(casesOf));
  await assertSame(servers, cases);
  for (const [place] of servers.entries()) await database.empty(creating(place));

  for (const [n, { name }] of cases[0]!.entries()) {
    if (!name.includes(options.only)) continue;
    const turns: Figures[][] = servers.map(() => []);
    for (let round = 0; round < rounds; round++) {
      for (let step = 0; step < servers.length; step++) {
        // Each round begins with another server, so that none always follows the same one.
        const place = (round + step) % servers.length;
        const one = cases[place]![n]!;
        await turn(servers[place]!, one, seconds.warmUp);
        turns[place]!.push(await turn(servers[place]!, one, seconds.turn));
        if (one.writes) await database.empty(one.organization);
      }
    }
    console.log(`${table(name, servers, turns)}\n`);
  }
} finally {
  await Promise.all(servers.map((server) => server.stop()));
  await database.close();
  rmSync(folder, { recursive: true });
}
