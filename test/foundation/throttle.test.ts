// Tests of the throttle that counts in the database and of the throttle that counts in memory. The throttle in the database counts concurrent
// calls of several processes exactly, and begins at zero again after its window. All addresses of one IPv6 network count as one client.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { networkOf } from '#foundation/http/network.ts';
import { createSharedThrottle, createThrottle, sweepThrottleCounts } from '#foundation/http/throttle.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

describe('createSharedThrottle', () => {
  it('a shared throttle counts concurrent calls of several processes exactly', async () => {
    const processes = [1, 2, 3].map(() => createSharedThrottle('race', 20, 60));
    const calls = Array.from({ length: 60 }, (_, n) => processes[n % 3]!.take('one@example.com'));
    const done = await Promise.allSettled(calls);
    expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(20);
    const { reason } = done.find(({ status }) => status === 'rejected') as PromiseRejectedResult;
    expect(reason).toMatchObject({ status: 429, headers: { 'retry-after': '60' } });
  });

  it('a shared throttle counts each name and key separately, and from zero after its window', async () => {
    const throttle = createSharedThrottle('window', 2, 60, 'Too many windows.');
    expect(await throttle.take('a', 2)).toEqual({ limit: 2, windowSeconds: 60, remaining: 0, reset: 60 });
    expect(await throttle.isOver('a')).toBe(false);
    world.clock.turn(30_500);
    await expect(throttle.take('a')).rejects.toThrow('Too many windows. Try again in 30 s.');
    expect(await throttle.isOver('a')).toBe(true);
    await throttle.take('b');
    await createSharedThrottle('another', 2, 60).take('a');
    world.clock.turn(29_500);
    expect(await throttle.isOver('a')).toBe(false);
    expect(await throttle.take('a')).toMatchObject({ remaining: 1 });
  });

  it('a shared throttle stores no key in plain text, and deletes counts after their window', async () => {
    await createSharedThrottle('private', 2, 3_600).take('someone@example.com');
    const rows = await world.knex('throttle_counts');
    expect(JSON.stringify(rows)).not.toContain('someone');
    expect(rows.map(({ key }) => key.toString())).not.toContain('someone@example.com');
    world.clock.turn(3_600_000);
    await sweepThrottleCounts();
    expect(await world.knex('throttle_counts')).toEqual([]);
  });
});

describe('createThrottle', () => {
  it('a throttle in memory refuses calls above the limit, and can report the count without adding to it', async () => {
    const throttle = createThrottle('memory', 3, 60);
    expect(await throttle.take('a', 3)).toMatchObject({ remaining: 0 });
    expect(await throttle.isOver('a')).toBe(false);
    await expect(throttle.take('a')).rejects.toMatchObject({ status: 429 });
    expect(await throttle.isOver('a')).toBe(true);
  });
});

describe('networkOf', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:DB8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
  ])('the network of %s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
