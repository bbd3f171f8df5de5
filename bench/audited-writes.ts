// Measures the CPU time that the audit log adds to a write, in the service and in PostgreSQL:
// `npm run bench:audit [-- --creations=3000] [--rounds=4] [--sources]`. For each write, a trigger records the change, and the service later
// numbers it, stores it as an event and adds a leaf to the tree of the log. The latest figures and their explanation are in bench/README.md.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { seconds } from '#foundation/clock.ts';
import { sql } from '#foundation/postgres/database.ts';
import { auditSettled, idOf, secretOf } from './database.ts';
import { openDispatchDatabase } from './dispatch-database.ts';
import { median } from './measure.ts';
import { openPostgresMeter } from './postgres-cpu.ts';
import { start } from './process.ts';
import { buildService, service } from './the-service.ts';

const { values: options } = parseArgs({
  options: {
    creations: { type: 'string', default: '3000' },
    rounds: { type: 'string', default: '4' },
    sources: { type: 'boolean', default: false },
  },
});
const [creations, rounds] = [Number(options.creations), Number(options.rounds)];

if (!options.sources) buildService();
const folder = mkdtempSync(path.join(tmpdir(), 'aep-audit-'));
const secretKey = randomBytes(32);
const database = await openDispatchDatabase(secretKey);
const org = idOf('org', 0);
await sql(`insert into tokens (id, digest, org_id, user_id, name, scopes, created_at, expires_at)
  values ('${idOf('tok', 1)}', sha256('${secretOf(1)}'), '${org}', '${idOf('usr', 0)}', 'bench', array['projects:write'], 0, 99999999999999)`);
const server = await start(service({ databaseUrl: database.url, folder, secretKey, fromSources: options.sources }));
const postgres = await openPostgresMeter();

interface Used {
  service: number;
  postgres: number;
}
const used = async (): Promise<Used> => ({ service: await server.cpu(), postgres: postgres() });
let created = 0;

/** Creates projects, and waits until the audit log has an event and a leaf for each of them. Returns the CPU time per creation in microseconds. */
async function turn(count: number, idle: Used): Promise<Used> {
  const before = await used();
  const begun = performance.now();
  const request = { method: 'POST', path: '/v1/projects', headers: { 'content-type': 'application/json' } } as const;
  const result = await autocannon({
    ...{ url: server.url, connections: 8, amount: count, headers: { authorization: `Bearer ${secretOf(1)}` } },
    requests: [{ ...request, setupRequest: (one) => ({ ...one, body: bodyOf(++created) }) }],
  });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${result.non2xx} refusals, ${result.errors} errors`);
  await auditSettled();
  const [after, took] = [await used(), (performance.now() - begun) / 1_000];
  const each = (part: keyof Used) => (after[part] - before[part] - idle[part] * took) / count;
  return { service: each('service'), postgres: each('postgres') };
}

const bodyOf = (n: number) => JSON.stringify({ name: `Creation ${n}`, repoFullName: `acme/creation-${n}` });
/** Returns the CPU time per second of a service that gets no requests: only its background jobs look for work. */
async function measureIdle(): Promise<Used> {
  const before = await used();
  await wait(seconds(5));
  const after = await used();
  return { service: (after.service - before.service) / 5, postgres: (after.postgres - before.postgres) / 5 };
}

console.log(`${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}, ${process.platform} ${process.arch}\n`);
try {
  await turn(creations, { service: 0, postgres: 0 });
  const idle = await measureIdle();
  const turns: Record<'unrecorded' | 'recorded', Used[]> = { unrecorded: [], recorded: [] };
  for (let round = 0; round < rounds; round++) {
    for (const [mode, state] of [
      ['unrecorded', 'disable'],
      ['recorded', 'enable'],
    ] as const) {
      await sql(`alter table projects ${state} trigger projects_audit_created`);
      turns[mode].push(await turn(creations, idle));
    }
  }
  for (const part of ['service', 'postgres'] as const) {
    const [without, recorded] = [turns.unrecorded, turns.recorded].map((all) => median(all.map((one) => one[part])));
    const added = `${(recorded! - without!).toFixed(0)} us more, ${((recorded! / without! - 1) * 100).toFixed(0)} percent`;
    console.log(
      `${part.padEnd(9)} ${without!.toFixed(0)} us without events, ${recorded!.toFixed(0)} with them: ${added}`,
    );
  }
} finally {
  await server.stop();
  await database.close();
  rmSync(folder, { recursive: true });
}
