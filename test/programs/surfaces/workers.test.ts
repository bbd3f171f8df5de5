// The processes that WORKERS starts. They share one port and count requests together for the limits. A dead process is replaced, and all processes
// stop together.
import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { createOwner } from '../../support/callers.ts';
import { childrenOf, freePort, isRunning, type ServiceProcess, startService } from '../../support/processes.ts';
import { openWorld, type World } from '../../support/world.ts';

let world: World;
let alice: Person;
let acme: Organization;
/** One service for all tests, because each of its processes takes seconds to start. */
let service: ServiceProcess;
const limit = 20;

beforeAll(async () => {
  world = await openWorld();
  ({ person: alice, organization: acme } = await createOwner(world, 'Alice', 'Acme'));
  service = startService(world.connection, await freePort(), {
    WORKERS: '2',
    SMTP_URL: 'smtp://127.0.0.1:9',
    MAIL_FROM: 'platform@example.com',
    REQUESTS_PER_MINUTE: String(limit),
  });
  await service.ready;
});
afterAll(async () => {
  const child = service.process;
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  await world.close();
});

const workersOf = ({ process: { pid } }: ServiceProcess): number[] => childrenOf(pid!);

/** Requests on separate connections, which are distributed round-robin. */
const ask = (path: string, token?: string): Promise<{ status: number; body: string }> =>
  new Promise((resolve, reject) => {
    const headers = { connection: 'close', ...(token && { authorization: `Bearer ${token}` }) };
    request(`${service.url}${path}`, { agent: false, headers }, (response) => {
      let body = '';
      response.on('data', (text) => (body += text));
      response.on('end', () => resolve({ status: response.statusCode!, body }));
    })
      .on('error', reject)
      .end();
  });

it('worker processes serve one port, and share limits and metrics', async () => {
  const token = await world.token(alice, acme);
  expect(workersOf(service)).toHaveLength(2);
  const statuses: number[] = [];
  for (let n = 0; n < limit + 10; n++) statuses.push((await ask('/v1/me', token)).status);
  expect(statuses).toEqual([...Array(limit).fill(200), ...Array(10).fill(429)]);
  const { body } = await ask('/metrics');
  const counted = /^http_requests_total\{[^}]*route="\/me"[^}]*status="200"[^}]*\} (\d+)$/m.exec(body);
  expect(Number(counted?.[1]), body.slice(0, 2_000)).toBe(limit);
});

it('503 · metrics are refused while one worker does not answer', async () => {
  const [frozen] = workersOf(service);
  process.kill(frozen!, 'SIGSTOP');
  try {
    // Connections are distributed round-robin, so the frozen process gets one of the two.
    const answers = [ask('/metrics'), ask('/metrics')];
    for (const answer of answers) answer.catch(() => {});
    expect(await Promise.race(answers)).toMatchObject({
      status: 503,
      body: expect.stringContaining('does not respond'),
    });
  } finally {
    process.kill(frozen!, 'SIGCONT');
  }
});

it('a dead worker process is replaced while other processes serve; all workers end with their parent', async () => {
  const token = await world.token(alice, acme);
  const before = workersOf(service);
  process.kill(before[0]!, 'SIGKILL');
  await expect.poll(() => workersOf(service).filter((pid) => !before.includes(pid))).toHaveLength(1);
  for (let n = 0; n < 4; n++) expect((await ask('/v1/me', token)).status).toBe(200);
  const { process: child } = service;
  const all = workersOf(service);
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(all.filter((pid) => isRunning(pid))).toEqual([]);
});
