// Webhooks of processes that are killed with SIGKILL in the middle of deliveries: no event is lost, and a repeated event keeps its id.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { openOutbound } from '#foundation/http/outbound.ts';
import { type Account, createOwner } from '../../support/callers.ts';
import { startSenders } from '../../support/killed-senders.ts';
import { openWorld, type World } from '../../support/world.ts';

interface Received {
  path: string;
  id: string;
  body: string;
}

let world: World;
let owner: Account;
const received: Received[] = [];
/** Called for each event that the receiver gets. Returns whether the receiver answers the request. */
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

it('no webhook event is lost while the sending processes are killed, and repeated events keep their id and body', {
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
  let lives = 2;
  arrived = (count) => {
    if (count % 130 !== 0 || lives === 0) return true;
    lives--;
    senders.replace();
    return false;
  };
  const senders = startSenders(world, {
    wanted: 'number the changes|deliveries of webhooks|send webhooks',
    queues: [],
  });
  try {
    await vi.waitFor(
      async () => {
        const delivered = world.knex('webhook_deliveries').where({ status: 'delivered' }).count();
        expect(await delivered).toEqual([{ count: paths.length * events }]);
      },
      { timeout: 100_000, interval: 100 },
    );
  } finally {
    senders.stop();
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
  expect(senders.complaints()).toBe('');
});
