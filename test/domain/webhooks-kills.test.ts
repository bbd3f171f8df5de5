// Webhooks of processes that are killed with SIGKILL in the middle of deliveries: no event is lost, and one that is repeated has its id.
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { openOutbound } from '#foundation/http/outbound.ts';
import { type Account, createOwner } from '../support/callers.ts';
import { programArguments } from '../support/processes.ts';
import { openWorld, present, type World } from '../support/world.ts';

interface Received {
  path: string;
  id: string;
  body: string;
}

let world: World;
let owner: Account;
const received: Received[] = [];
/** Called with each event that has arrived. Returns whether it is answered. */
let arrived: (count: number) => boolean = () => true;
const receiver = createServer(async (req, res) => {
  let body = '';
  for await (const chunk of req) body += chunk;
  received.push({ path: req.url!, id: req.headers['webhook-id'] as string, body });
  if (arrived(received.length)) res.end();
});

beforeAll(async () => {
  openOutbound({ allowLoopback: true });
  world = await openWorld();
  owner = await createOwner(world, 'Ada', 'Acme');
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  openOutbound({ allowLoopback: false });
  receiver.closeAllConnections();
  await Promise.all([world.close(), new Promise((resolve) => receiver.close(resolve))]);
});

const events = 200;
const paths = ['/any', '/ordered'];

it('no webhook event is lost while four processes are killed, and repeated events keep their id and body', {
  timeout: 120_000,
}, async () => {
  const session = await world.session(owner.person, owner.organization.id);
  for (const path of paths) {
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}${path}`;
    const body = { name: path, url, types: ['invite.created'], ordered: path === '/ordered' };
    expect((await world.rest('POST', '/webhook-endpoints', { session, body })).status).toBe(201);
  }
  await world.knex.raw(
    `insert into invites (id, org_id, email, role, invited_by_user_id, expires_at, created_at)
     select 'inv_' || n, :org, 'person' || n || '@example.com', 'viewer', :owner, 8e12, 0 from generate_series(1, :events::int) n`,
    { org: owner.organization.id, owner: owner.person.id, events },
  );
  const orders = {
    connection: world.connection,
    url: world.url,
    clock: { at: Date.now(), shows: present(), speed: 60 },
  };
  const processes = new Set<ChildProcess>();
  let complaints = '';
  const begin = () => {
    const args = [...programArguments('test/webhooks-process'), JSON.stringify(orders)];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    child.stderr!.on('data', (text) => {
      complaints += text;
    });
    processes.add(child);
  };
  const kill = (child: ChildProcess) => {
    child.kill('SIGKILL');
    processes.delete(child);
  };
  let lives = 2;
  arrived = (count) => {
    if (count % 130 !== 0 || lives === 0) return true;
    lives--;
    // Both processes are killed, so that neither records the event that has just arrived.
    for (const child of [...processes]) kill(child);
    for (const _ of [1, 2]) begin();
    return false;
  };
  try {
    for (const _ of [1, 2]) begin();
    await vi.waitFor(
      async () => {
        const delivered = world.knex('webhook_deliveries').where({ status: 'delivered' }).count();
        expect(await delivered).toEqual([{ count: paths.length * events }]);
      },
      { timeout: 100_000, interval: 100 },
    );
  } finally {
    for (const child of processes) kill(child);
  }
  expect(lives).toBe(0);
  expect(received.length).toBeGreaterThan(paths.length * events);
  for (const path of paths) {
    const bodies = new Map<string, string>();
    for (const { id, body } of received.filter((one) => one.path === path)) {
      expect(bodies.get(id) ?? body).toBe(body);
      bodies.set(id, body);
    }
    const numbers = [...bodies.values()].map((body) => JSON.parse(body).data.number);
    expect(numbers).toHaveLength(events);
    if (path === '/ordered') expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  }
  expect(complaints).toBe('');
});
