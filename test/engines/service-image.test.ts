// deploy/Dockerfile, built by the Podman or Docker of this machine on an existing image with Node.js: its size and its user account, and a
// service that runs on a read-only root. `node:22-bookworm-slim`, the default, is not pulled.
import { execFileSync, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type EmbeddedDatabase, startEmbeddedDatabase } from '#foundation/postgres/embedded/database.ts';
import { careless, temporaryHome } from '../support/global-setup.ts';
import { freePort } from '../support/processes.ts';
import { buildImage, realEngine } from '../support/real-engine.ts';

const engine = realEngine();
if (!engine) console.warn('skipped: there is no Podman or Docker with an image that has Node.js');
const name = `aep-service-test-${process.pid}`;
const home = temporaryHome();
let embedded: EmbeddedDatabase;
let settings: string[];
let url: string;

const run = (...args: string[]) => execFileSync(engine!.CONTAINER_PROGRAM, args, { encoding: 'utf8', stdio: 'pipe' });

beforeAll(async () => {
  if (!engine) return;
  const [port, databasePort] = [await freePort(), await freePort()];
  const server = { ...careless, listen_addresses: '127.0.0.1', port: databasePort };
  embedded = await startEmbeddedDatabase({ home, settings: server });
  const { user, password, database } = embedded.connection;
  url = `http://127.0.0.1:${port}`;
  const environment = {
    DATABASE_URL: `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${databasePort}/${database}`,
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    SMTP_URL: 'smtp://127.0.0.1:9',
    HOST: '0.0.0.0',
    PORT: String(port),
    PUBLIC_URL: url,
  };
  settings = Object.entries(environment).flatMap(([key, value]) => ['--env', `${key}=${value}`]);
});
afterAll(async () => {
  if (!engine) return;
  spawnSync(engine.CONTAINER_PROGRAM, ['rm', '--force', name]);
  spawnSync(engine.CONTAINER_PROGRAM, ['rmi', '--force', name]);
  await embedded.stop();
  rmSync(home, { recursive: true });
});

it.skipIf(!engine)(
  'an image of the service is small, and its container runs as an ordinary account on a read-only file system, serves within seconds, and stops',
  { timeout: 1_200_000 },
  async () => {
    buildImage(engine!, 'deploy/Dockerfile', name);
    const sizeOf = (image: string) => Number(run('image', 'inspect', '--format', '{{.Size}}', image));
    const added = sizeOf(name) - sizeOf(engine!.CONTAINER_IMAGE);
    expect(added).toBeLessThan(200e6);

    const sandbox = [
      '--network',
      'host',
      '--read-only',
      '--tmpfs',
      '/tmp',
      '--cap-drop',
      'ALL',
      '--security-opt',
      'no-new-privileges',
    ];
    const { applied } = JSON.parse(
      run('run', '--rm', ...sandbox, ...settings, name, 'node', 'dist/admin.js', 'migrate'),
    );
    expect(applied.length).toBeGreaterThan(100);
    const begun = performance.now();
    run('run', '--detach', '--name', name, ...sandbox, ...settings, name);
    const isReady = () =>
      fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await vi.waitUntil(isReady, { timeout: 60_000 });
    const seconds = (performance.now() - begun) / 1_000;
    console.log(`image: ${Math.round(added / 1e6)} MB beside its base; ready after ${seconds.toFixed(1)} s`);

    expect(run('exec', name, 'id', '-u').trim()).toBe('10001');
    expect(spawnSync(engine!.CONTAINER_PROGRAM, ['exec', name, 'touch', '/app/written']).status).not.toBe(0);
    // The health check of the image, word for word.
    const { Test } = JSON.parse(run('image', 'inspect', '--format', '{{json .Config.Healthcheck}}', name));
    expect(Test[0]).toBe('CMD');
    run('exec', name, ...Test.slice(1));
    run('stop', '--time', '20', name);
    expect(run('inspect', '--format', '{{.State.ExitCode}}', name).trim()).toBe('0');
  },
);
