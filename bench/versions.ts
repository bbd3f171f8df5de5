// `npm run bench:versions -- --other=FOLDER [--only=A2A] [--starts=4] [--seconds=8]`: compares the CPU time of the built service with that of
// another version, such as a git worktree in which `npm ci && npm run build` has been run. How to read the figures is in bench/README.md.
import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Request } from 'autocannon';
import { bearer, type Case } from './cases.ts';
import { graphqlComparisons } from './graphql-cases.ts';
import { median } from './measure.ts';
import { type Server, start } from './process.ts';
import { protocolComparisons } from './protocol-cases.ts';
import { restComparisons } from './rest-cases.ts';
import { buildService, root, service } from './the-service.ts';

const { values: options } = parseArgs({
  options: {
    other: { type: 'string' },
    only: { type: 'string', default: '' },
    starts: { type: 'string', default: '4' },
    seconds: { type: 'string', default: '8' },
  },
});
if (!options.other || !existsSync(path.join(options.other, 'dist/main.js'))) {
  console.error('--other must be the folder of another version in which `npm ci && npm run build` has been run.');
  process.exit(1);
}

/** The versions take turns of this length, so that a slow phase of the host, which may last for tens of seconds, affects both alike. */
const turnMs = 50;
const connections = 16;
/** The young generation of a new process does not grow for ten seconds (foundation/v8-flags.ts). */
const settleMs = 15_000;
const warmUpMs = 5_000;

/** The versions share a core, because cores of a virtual machine differ. The client and the databases use the others. */
const pinned = spawnSync('taskset', ['--version']).status === 0 ? ['taskset', '-c', '0'] : [];
if (pinned.length > 0) spawnSync('taskset', ['-cp', '1-1023', String(process.pid)]);

interface Version {
  name: string;
  folder: string;
  /** A process with the database of this version, which may have other tables. */
  database: ChildProcess;
  databaseUrl: string;
}

async function openVersion(name: string, folder: string): Promise<Version> {
  const database = fork(path.join(root, 'bench/versions-database.ts'), [path.join(folder, 'bench/database.ts')], {
    execArgv: ['--import', 'tsx'],
    cwd: folder,
  });
  const [databaseUrl] = await once(database, 'message');
  return { name, folder, database, databaseUrl };
}

const agent = new http.Agent({ keepAlive: true, maxSockets: connections });

function send({ url }: Server, { organization, name }: Case, template: Request): Promise<void> {
  const { setupRequest } = template;
  const {
    method = 'GET',
    path: at,
    headers,
    body,
  } = typeof setupRequest === 'function' ? setupRequest(template, {}) : template;
  const settings = { agent, method, headers: { ...bearer(organization), ...(headers as Record<string, string>) } };
  return new Promise((resolve, reject) => {
    const request = http.request(`${url}${at}`, settings, (response) => {
      if (response.statusCode! >= 300) reject(new Error(`${name}: ${response.statusCode}`));
      response.resume().on('end', resolve);
    });
    request.on('error', reject).end(body);
  });
}

/** Sends requests on all connections for the time of a turn, and returns their number. */
async function turn(server: Server, one: Case): Promise<number> {
  const until = performance.now() + turnMs;
  let sent = 0;
  const connection = async () => {
    while (performance.now() < until) await send(server, one, one.requests[sent++ % one.requests.length]!);
  };
  await Promise.all(Array.from({ length: connections }, connection));
  return sent;
}

/** The cases of `npm run bench` that need no preparation, each as the service does it. */
function casesOf(server: Server): Case[] {
  const servers = { bare: server, fastify: server, prepared: server, yoga: server, mercurius: server, service: server };
  const all = [...restComparisons(servers), ...graphqlComparisons(servers), ...protocolComparisons(servers)];
  const cases = all.map(({ name, contenders }) => ({ ...contenders.at(-1)!, name }));
  return cases.filter(({ name }) => name.includes(options.only));
}

/** Lets the servers take turns for a time, and returns the microseconds of CPU time per request of each. */
async function measure(servers: readonly Server[], cases: readonly Case[], ms: number): Promise<number[]> {
  const before = await Promise.all(servers.map((server) => server.cpu()));
  const sent = servers.map(() => 0);
  const until = performance.now() + ms * servers.length;
  for (let round = 0; performance.now() < until; round++) {
    for (let step = 0; step < servers.length; step++) {
      const place = (round + step) % servers.length;
      sent[place]! += await turn(servers[place]!, cases[place]!);
    }
  }
  const after = await Promise.all(servers.map((server) => server.cpu()));
  return after.map((cpu, place) => (cpu - before[place]!) / sent[place]!);
}

const folder = mkdtempSync(path.join(tmpdir(), 'aep-bench-versions-'));
const secretKey = randomBytes(32);

/** Starts both versions and measures each case. Returns the quotients of the CPU times, by the name of the case. */
async function measureStart(versions: readonly Version[], number: number): Promise<Map<string, number>> {
  const servers = await Promise.all(
    versions.map(({ name, folder: at, databaseUrl }) => {
      const launch = service({ databaseUrl, folder: path.join(folder, `${name}-${number}`), secretKey });
      return start({
        ...launch,
        name,
        file: path.join(at, 'dist/main.js'),
        output: path.join(folder, `${name}.log`),
        pinned,
      });
    }),
  );
  try {
    await wait(settleMs);
    const cases = servers.map(casesOf);
    const quotients = new Map<string, number>();
    for (const [n, { name, writes, organization }] of cases[0]!.entries()) {
      const both = cases.map((own) => own[n]!);
      await measure(servers, both, warmUpMs);
      const [other, own] = await measure(servers, both, Number(options.seconds) * 1_000);
      quotients.set(name, own! / other!);
      console.log(
        `${number}: ${name.padEnd(36)} ${other!.toFixed(0)} → ${own!.toFixed(0)} us, ${(own! / other!).toFixed(2)}`,
      );
      for (const { database } of writes ? versions : []) {
        database.send(organization);
        await once(database, 'message');
      }
    }
    return quotients;
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

buildService();
const versions = await Promise.all([openVersion('other', path.resolve(options.other)), openVersion('this', root)]);
try {
  const starts: Map<string, number>[] = [];
  for (let number = 1; number <= Number(options.starts); number++) starts.push(await measureStart(versions, number));
  console.log('\n| operation | starts | median |\n| --- | --- | --- |');
  for (const name of starts[0]!.keys()) {
    const values = starts.map((start) => start.get(name)!).sort((a, b) => a - b);
    console.log(`| ${name} | ${values.map((value) => value.toFixed(2)).join(', ')} | ${median(values).toFixed(2)} |`);
  }
} finally {
  for (const { database } of versions) database.disconnect();
  rmSync(folder, { recursive: true, force: true });
}
