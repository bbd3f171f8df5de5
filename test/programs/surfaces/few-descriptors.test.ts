// The readiness probe of a service that has no file descriptor left. The service is a process with a low limit.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect, it, vi } from 'vitest';
import { compiled, databaseUrl, freePort, projectFolder } from '../../support/processes.ts';
import { openWorld } from '../../support/world.ts';

const limit = 100;

it.skipIf(process.platform === 'win32')(
  '503 · /readyz reports that file descriptors are exhausted, and recovers',
  async () => {
    const world = await openWorld();
    const port = await freePort();
    const env = {
      PATH: process.env.PATH,
      PORT: `${port}`,
      DATABASE_URL: databaseUrl(world.connection),
      LOG_LEVEL: 'silent',
    };
    const command = `ulimit -n ${limit} && exec "${process.execPath}" "${compiled('main')}" serve`;
    const service = spawn('sh', ['-c', command], { cwd: projectFolder, env, stdio: 'ignore' });
    // A probe on a connection that is already open, because the service accepts no new connection.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const held: Socket[] = [];
    const probe = () =>
      new Promise<unknown[]>((resolve, reject) => {
        get(`http://localhost:${port}/readyz`, { agent }, async (response) => {
          const text = (await response.toArray()).join('');
          resolve([response.statusCode, JSON.parse(text)]);
        }).on('error', reject);
      });
    const ready = [200, { status: 'ready', database: 'reachable', migrations: 'current' }];
    try {
      await vi.waitFor(async () => expect(await probe()).toEqual(ready), { interval: 100 });
      const exhausted = [503, { status: 'unready', descriptors: 'exhausted' }];
      await vi.waitFor(
        async () => {
          // Each attempt opens as many connections as the service may have descriptors. One attempt may not be enough, because the service
          // may then close idle connections to the database, which makes their descriptors free again.
          for (let n = 0; n < limit; n++) held.push(connect(port, 'localhost').on('error', () => {}));
          expect(await probe()).toEqual(exhausted);
        },
        { interval: 200 },
      );
      for (const socket of held) socket.destroy();
      await vi.waitFor(async () => expect(await probe()).toEqual(ready));
    } finally {
      for (const socket of held) socket.destroy();
      agent.destroy();
      const ended = once(service, 'exit');
      service.kill('SIGTERM');
      await ended;
      await world.close();
    }
  },
);
