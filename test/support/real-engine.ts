// Finds Podman or Docker on this machine, for tests in real containers. Such tests are part of `npm run test:engines`, because each
// container takes about a second of processor time.
import { spawnSync } from 'node:child_process';

export interface RealEngine {
  CONTAINER_PROGRAM: string;
  /** An image that has Node.js. */
  CONTAINER_IMAGE: string;
  /** The OCI runtime of the engine, such as `runsc`; absent means the engine's own. */
  CONTAINER_RUNTIME?: string;
}

export const isEngineSuite = process.env.TEST_ENGINES === 'on';

const { CONTAINER_PROGRAM: chosen, CONTAINER_RUNTIME } = process.env;

/**
 * Settings with which a runner of this user starts containers from an image that has Node.js; null outside the engine suite, or if the user
 * has no engine with such an image. `CONTAINER_PROGRAM`, `CONTAINER_IMAGE` and `CONTAINER_RUNTIME` in the environment of the tests choose
 * another engine, image and OCI runtime.
 */
export function realEngine(options: { uid?: number; gid?: number } = {}): RealEngine | null {
  if (!isEngineSuite) return null;
  for (const CONTAINER_PROGRAM of chosen ? [chosen] : ['podman', 'docker']) {
    const listed = ['images', '--format', '{{.Repository}}:{{.Tag}}'];
    const env = { PATH: process.env.PATH, HOME: process.env.HOME };
    const { stdout } = spawnSync(CONTAINER_PROGRAM, listed, {
      ...options,
      env,
      cwd: '/',
      encoding: 'utf8',
      timeout: 60_000,
    });
    const images = stdout?.split('\n') ?? [];
    const CONTAINER_IMAGE = process.env.CONTAINER_IMAGE ?? images.find((name) => /\bnode\b/.test(name));
    if (CONTAINER_IMAGE && images.includes(CONTAINER_IMAGE))
      return { CONTAINER_PROGRAM, CONTAINER_IMAGE, ...(CONTAINER_RUNTIME && { CONTAINER_RUNTIME }) };
  }
  return null;
}
