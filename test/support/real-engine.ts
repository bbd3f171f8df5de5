// Finds Podman or Docker on this machine, for tests in real containers. Such tests are part of `npm run test:engines`, because each
// container takes about a second of processor time.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { projectFolder } from './processes.ts';

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

const npmSetting = (key: string) => execFileSync('npm', ['config', 'get', key], { encoding: 'utf8' }).trim();

/** Builds an image from a Dockerfile of the project, with the image of the engine as its base. */
export function buildImage({ CONTAINER_PROGRAM, CONTAINER_IMAGE }: RealEngine, dockerfile: string, tag: string): void {
  // Settings and cache of npm, so that packages come from the registry or cache that this machine uses.
  const mounts = [
    [npmSetting('userconfig'), '/root/.npmrc:ro'],
    [npmSetting('cache'), '/root/.npm'],
  ].flatMap(([from, to]) => (existsSync(from!) ? ['--volume', `${from}:${to}`] : []));
  // With --layers=false, Podman keeps no images of the build steps, which would pile up. The format is Docker's, because an image in
  // Podman's default format has no health check.
  const podman = ['--format', 'docker', '--layers=false', ...mounts];
  const options = CONTAINER_PROGRAM.endsWith('podman') ? podman : [];
  const base = ['--build-arg', `BASE=${CONTAINER_IMAGE}`];
  execFileSync(
    CONTAINER_PROGRAM,
    ['build', ...options, '--network', 'host', ...base, '--file', dockerfile, '--tag', tag, '.'],
    { cwd: projectFolder, stdio: 'pipe', maxBuffer: 2 ** 26 },
  );
}
