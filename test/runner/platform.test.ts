// Calls of a runner to an unreachable platform, with a clock that the test moves.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { heartbeat } from '../../src/runner/generated/operations.ts';
import { connect, PlatformUnreachable } from '../../src/runner/protocol/platform.ts';

let server: Server;
let now: number;
/** The time at which the platform answers again. */
let back: number;
const clock = {
  now: () => now,
  wait: async (ms: number) => {
    now += ms;
  },
};
beforeEach(async () => {
  [now, back] = [0, 0];
  server = createServer((request, response) => {
    const isBack = now >= back;
    response.writeHead(isBack ? 200 : now % 2 === 0 ? 503 : 500, { 'content-type': 'application/json' });
    const answer = { runs: [], sandboxes: [], environments: [], nextHeartbeatMs: 10_000 };
    const problem = { code: 'unavailable', description: 'The database is away.', retryable: true };
    request.resume().on('end', () => response.end(JSON.stringify(isBack ? { data: { answer } } : problem)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});
const platform = (stopping = new AbortController().signal) =>
  connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'srv_x', stopping, clock);

it('a report of the runner is repeated until the platform answers, even after an outage longer than the lease', async () => {
  back = 100_000;
  const { mutate, isAway } = platform();
  const answer = mutate(heartbeat, { runs: [] });
  expect(await answer).toMatchObject({ nextHeartbeatMs: 10_000 });
  expect(now).toBeGreaterThanOrEqual(back);
  expect(isAway()).toBe(false);
});

it('the runner abandons a report before the platform fails the run; a runner that is stopped abandons its reports within seconds', async () => {
  back = Number.POSITIVE_INFINITY;
  await expect(platform().mutate(heartbeat, { runs: [] })).rejects.toThrow(PlatformUnreachable);
  expect(now / 60_000).toBeGreaterThan(8);
  expect(now / 60_000).toBeLessThan(10);
  now = 0;
  await expect(platform(AbortSignal.abort()).mutate(heartbeat, { runs: [] })).rejects.toThrow('The database is away.');
  expect(now).toBeLessThanOrEqual(2_000);
});
