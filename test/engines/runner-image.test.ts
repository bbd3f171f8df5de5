// deploy/kubernetes/runner.Dockerfile, built by the Podman or Docker of this machine on an existing image with Node.js. `node:22-bookworm`,
// the default, is not pulled.
import { spawnSync } from 'node:child_process';
import { afterAll, expect, it } from 'vitest';
import { buildImage, realEngine } from '../support/real-engine.ts';

const engine = realEngine();
if (!engine) console.warn('skipped: there is no Podman or Docker with an image that has Node.js');
const name = `aep-runner-test-${process.pid}`;

afterAll(() => {
  if (engine) spawnSync(engine.CONTAINER_PROGRAM, ['rmi', '--force', name]);
});

/** Runs a program in a container of the image, as restricted as the pod of a runner, and returns its exit code and output. */
function runIn(options: string[], ...args: string[]): { status: number | null; output: string } {
  const sandbox = [
    '--network=none',
    '--read-only',
    '--tmpfs=/tmp',
    '--cap-drop=ALL',
    '--security-opt=no-new-privileges',
  ];
  const all = ['run', '--rm', ...sandbox, ...options, name, ...args];
  const { status, stdout, stderr } = spawnSync(engine!.CONTAINER_PROGRAM, all, { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

it.skipIf(!engine)(
  'an image of the runner for clusters has git and the client of Kubernetes, and its container runs as an ordinary account on a read-only file system',
  { timeout: 1_200_000 },
  () => {
    buildImage(engine!, 'deploy/kubernetes/runner.Dockerfile', name);
    expect(runIn([], 'help')).toEqual({ status: 0, output: expect.stringContaining('reads a service token') });
    expect(runIn([])).toEqual({ status: 1, output: expect.stringContaining('A service token is required') });
    expect(runIn(['--entrypoint=id'], '-u')).toEqual({ status: 0, output: '10001\n' });
    expect(runIn(['--entrypoint=git'], '--version').status).toBe(0);
    const program = "await import('@kubernetes/client-node')";
    expect(runIn(['--entrypoint=node'], '--input-type=module', '--eval', program)).toEqual({ status: 0, output: '' });
    expect(runIn(['--entrypoint=touch'], '/app/written').status).not.toBe(0);
  },
);
