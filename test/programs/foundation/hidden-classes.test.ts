// On Node.js 20, V8 creates new hidden classes each time an object literal that begins with a spread adds further members. They stay in the
// old generation until the next full garbage collection, and make the code slower that reads the objects (bench/README.md).
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { createOwner, createProject } from '../../support/callers.ts';
import { freePort, startService } from '../../support/processes.ts';
import { requestsTo } from '../../support/requests.ts';
import { openWorld } from '../../support/world.ts';

const rounds = 40;

/** The members that objects got after a time, each with its position in the code, if it made a new hidden class in every second round. */
function frequentTransitions(log: string, afterMs: number): string[] {
  const counts = new Map<string, number>();
  for (const line of log.split('\n')) {
    const [event, kind, time, , , , row, column, , name] = line.split(',');
    if (event !== 'map' || kind !== 'Transition' || Number(time) < afterMs * 1_000) continue;
    const member = `${name} (${row}:${column})`;
    counts.set(member, (counts.get(member) ?? 0) + 1);
  }
  return [...counts].flatMap(([member, count]) => (count >= rounds / 2 ? [member] : []));
}

it('frequent requests create no hidden classes', async () => {
  const world = await openWorld();
  const folder = mkdtempSync(path.join(tmpdir(), 'aep-classes-'));
  const log = path.join(folder, 'v8.log');
  const { token, organization } = await createOwner(world, 'Ada', 'Acme');
  await world.lift(organization);
  const projectId = await createProject(world, { token }, 'A');
  const startedAt = performance.now();
  // Without scheduled work, everything that the process does often belongs to the requests, however slow the machine is.
  const settings = { SCHEDULER: 'off', DATA_DIR: folder };
  const flags = ['--log-maps', '--no-log-maps-details', '--no-logfile-per-isolate', `--logfile=${log}`];
  const service = startService(world.connection, await freePort(), settings, flags);
  const request = requestsTo(service.url);
  const query = '{ projects(limit: 20) { data { id name organization { id memberships { role } } } nextCursor } }';
  const call = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });
  const tool = { name: 'get_project', arguments: { projectId } };
  const mcp = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' };
  let created = 0;
  const round = async () => {
    const n = ++created;
    const answers = await Promise.all([
      request('GET', `/v1/projects/${projectId}`, { token }),
      request('GET', '/v1/projects?limit=20', { token }),
      request('GET', '/v1/runs?limit=20', { token }),
      request('POST', '/v1/projects', { token, body: { name: `B ${n}`, repoFullName: `acme/b-${n}` } }),
      request('POST', '/graphql', { token, body: { query } }),
      request('POST', '/graphql', { token, body: [{ query }, { query }] }),
      request('POST', '/mcp', { token, body: call('tools/call', tool), headers: mcp }),
      request('POST', '/a2a', { token, body: call('ListTasks', {}), headers: { 'a2a-version': '1.0' } }),
    ]);
    expect(answers.map(({ status, body }) => body.error ?? status)).toEqual([200, 200, 200, 201, 200, 200, 200, 200]);
  };
  try {
    await service.ready;
    for (let n = 0; n < 20; n++) await round();
    const warmMs = performance.now() - startedAt;
    for (let n = 0; n < rounds; n++) await round();
    service.process.kill('SIGTERM');
    await once(service.process, 'exit');
    expect(frequentTransitions(readFileSync(log, 'latin1'), warmMs)).toEqual([]);
  } finally {
    service.process.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
    await world.close();
  }
});
