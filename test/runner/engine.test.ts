// Images and services that missions share, with a script in place of a container engine, so that tests decide when its commands end.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { buildImage, pullImage } from '../../src/runner/isolation/image.ts';
import { openImageStore } from '../../src/runner/isolation/image-store.ts';
import { openServices } from '../../src/runner/isolation/services.ts';
import { parseDocker } from '../support/docker-command-line.mjs';

const folder = mkdtempSync(path.join(tmpdir(), 'engine-'));
const engine = path.join(folder, 'engine');
/**
 * A stand-in for a container engine. Its commands `pull NAME`, `build` and `run --name …-NAME` run until the test writes a file that ends them:
 * `NAME.ok`, or `NAME.end` for the exit code 3. For `build`, NAME is `build`.
 */
const script = `#!/bin/sh
cd ${folder}
{ printf '%s\\037' "$@"; printf '\\036'; } >> commands
until_told() {
  echo $$ > "$1.pid"
  while echo "$1 works" >&2; [ ! -e "$1.ok" ] && [ ! -e "$1.end" ]; do sleep 0.02; done
  [ -e "$1.ok" ] || { echo "$1 is broken" >&2; exit 3; }
}
case "$1 $2" in
  'image inspect') [ -e "$3.image" ] ;;
  'inspect '*) echo true ;;
  'pull '*) until_told "$2"; touch "$2.image" ;;
  'build '*) until_told build ;;
  'run '*) name=$3; until_told "\${name##*-}" ;;
  'rm '*) for name; do :; done; touch "\${name##*-}.ok" ;;
esac
`;
writeFileSync(engine, script, { mode: 0o755 });
afterAll(() => rmSync(folder, { recursive: true }));

const tell = (name: string, how: 'ok' | 'end') => writeFileSync(path.join(folder, `${name}.${how}`), '');
const pidOf = (name: string): number => Number(readFileSync(path.join(folder, `${name}.pid`), 'utf8'));
const hasBegun = (name: string) => vi.waitFor(() => expect(pidOf(name)).toBeGreaterThan(0));
const hasEnded = (pid: number) => vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'));

const images = openImageStore({ folder: path.join(folder, 'images'), keepMs: 1e9, maxBytes: 2 ** 30 });

describe('an image that missions wait for', () => {
  let logs: string[];
  let missions: AbortController[];
  const request = (timeoutMs = 60_000) => {
    const mission = new AbortController();
    const log = (text: string) => void logs.push(`${missions.indexOf(mission)}: ${text}`);
    missions.push(mission);
    return { engine, signal: mission.signal, log, timeoutMs, images };
  };
  beforeEach(() => {
    [logs, missions] = [[], []];
  });
  afterEach(() => missions.map((mission) => mission.abort()));

  it('an image that missions wait for is pulled once, even when the first of the missions is canceled', async () => {
    const first = pullImage(request(), 'shared');
    const second = pullImage(request(), 'shared');
    await hasBegun('shared');
    const lines = [0, 1].map((mission) => expect.stringContaining(`${mission}: shared works`));
    await vi.waitFor(() => expect(logs).toEqual(expect.arrayContaining(lines)));
    const pid = pidOf('shared');
    missions[0]!.abort();
    await expect(first).rejects.toThrow('stopped');
    tell('shared', 'ok');
    await second;
    expect([pidOf('shared'), existsSync(path.join(folder, 'shared.image'))]).toEqual([pid, true]);
  });

  it('an image that missions wait for is no longer pulled once no mission waits, and is pulled anew for the next mission', async () => {
    const stopped = pullImage(request(), 'left');
    const late = pullImage(request(20), 'left');
    await expect(late).rejects.toThrow('the image was not available after 0 s');
    await hasBegun('left');
    const pid = pidOf('left');
    missions[0]!.abort();
    await expect(stopped).rejects.toThrow('stopped');
    await hasEnded(pid);
    const next = pullImage(request(), 'left');
    tell('left', 'ok');
    await next;
    const canceled = request();
    missions.at(-1)!.abort();
    await expect(pullImage(canceled, 'never')).rejects.toThrow();
    expect(existsSync(path.join(folder, 'never.pid'))).toBe(false);
  });

  it('a failed build of an image makes all missions that wait for it fail, with the last lines of the build', async () => {
    const builds = [1, 2].map(() => buildImage(request(), 'FROM x\n', 'none'));
    await hasBegun('build');
    tell('build', 'end');
    const message = expect.stringMatching(/^the image could not be built: (build works )+build is broken$/);
    const failed = { status: 'rejected', reason: { message } };
    expect(await Promise.allSettled(builds)).toMatchObject([failed, failed]);
  });
});

describe('services of a mission in containers', () => {
  const services = ['db', 'cache'].map((name) => ({
    name,
    image: 'there',
    variables: [],
    command: null,
    healthCheck: 'true',
  }));
  const limits = { cpus: null, memoryBytes: 2 ** 30, processes: 64, diskBytes: 2 ** 30 };
  const source = { signal: new AbortController().signal, log: () => {}, timeoutMs: 10_000, images };
  beforeEach(() => {
    writeFileSync(path.join(folder, 'there.image'), '');
    // The name of the container that holds the network ends with the id of this process.
    for (const name of ['db', 'cache', process.pid])
      for (const how of ['ok', 'end']) rmSync(path.join(folder, `${name}.${how}`), { force: true });
  });

  it('when a service of a mission in containers ends, this is reported immediately, with the exit code and the last lines of the service', async () => {
    const opened = openServices(services, { program: engine, image: 'there' }, limits);
    await opened.start(source, 10_000);
    expect([opened.failure(), await opened.diskBytes()]).toEqual(['', 0]);
    tell('db', 'end');
    const why = await opened.failed;
    expect(why).toMatch(/^the service db has ended with the exit code 3\n(db works\n)+db is broken$/);
    expect(opened.failure()).toBe(why);
    await opened.remove();
  });

  it('services of a mission in containers are not reported to have ended when their mission removes them', async () => {
    const opened = openServices(services, { program: engine, image: 'there' }, limits);
    await opened.start(source, 10_000);
    await opened.remove();
    await hasEnded(pidOf('db'));
    expect(await Promise.race([opened.failed, new Promise((resolve) => setImmediate(resolve, 'nothing'))])).toBe(
      'nothing',
    );
  });
});

describe("Docker's command line", () => {
  it('Docker’s command line has each command, option and value that images and services use', async () => {
    await openImageStore({ folder: path.join(folder, 'images'), keepMs: -1e12, maxBytes: 1 }).sweep(engine);
    const said = readFileSync(path.join(folder, 'commands'), 'utf8').split('\x1e').slice(0, -1);
    const parsed = said.map((words) => parseDocker(words.split('\x1f').slice(0, -1)));
    const commands = ['run', 'exec', 'inspect', 'rm', 'pull', 'build', 'image inspect'];
    expect([...new Set(parsed.map(({ command }) => command))]).toEqual(expect.arrayContaining(commands));
    const service = parsed.find(({ options, words }) => words[0] === 'there' && options['cap-add'][0])!;
    expect(service.options).toMatchObject({ 'cap-drop': ['ALL'], 'log-driver': ['none'], 'stop-timeout': ['0'] });
  });

  it.each([
    ['unknown flag: --time', ['rm', '--force', '--time', '0', 'a']],
    ['--userns: invalid USER mode: keep-id', ['run', '--userns', 'keep-id', 'node']],
    ['conflicting options: hostname', ['run', '--network', 'container:a', '--hostname', 'b', 'node']],
    ['invalid argument "1 GB" for "--memory"', ['run', '--memory', '1 GB', 'node']],
    ['Minimum memory limit allowed is 6MB', ['run', '--memory', '4m', 'node']],
    ['Minimum memoryswap limit', ['run', '--memory', '1g', '--memory-swap', '512m', 'node']],
    ["invalid field 'U'", ['run', '--mount', 'type=bind,source=/a,target=/a,U', 'node']],
    ["'unshare' is not a docker command", ['unshare', 'du']],
    ["can't evaluate field GraphDriver", ['image', 'inspect', '--format', '{{.GraphDriver.Name}}', 'node']],
  ])('the stand-in for Docker refuses a command that Docker itself would refuse, with the error: %s', (why, words) => {
    expect(() => parseDocker(words)).toThrow(why);
  });
});
