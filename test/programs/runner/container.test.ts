// Agents in containers, with a stand-in for Docker's command line, because the test machines have no engine.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { discover } from '../../../src/runner/harness/discovery.ts';
import { findContainers, openContainer } from '../../../src/runner/isolation/container.ts';
import { adviceFor, containersFrom, isCapping } from '../../../src/runner/isolation/engine.ts';
import { chooseIsolation, runIn } from '../../../src/runner/isolation/isolation.ts';
import { makePlace } from '../../../src/runner/isolation/place.ts';
import { type Command, startProcess } from '../../../src/runner/isolation/process.ts';
import { reasonOf } from '../../../src/runner/isolation/programs.ts';
import { openMissionWorld, type Runner } from '../../support/mission-world.ts';

const docker = fileURLToPath(new URL('../../support/stand-in-docker.mjs', import.meta.url));
let missions: Awaited<ReturnType<typeof openMissionWorld>>;
let engine: string;
let settings: Record<string, string>;
beforeAll(async () => {
  missions = await openMissionWorld();
  await missions.team('claude-code', 'builder');
  engine = path.join(missions.folder, 'engine');
  mkdirSync(engine);
  settings = { ISOLATION: 'container', CONTAINER_PROGRAM: docker, DOCKER_HOST: `file://${engine}` };
});
afterAll(() => missions.close());

const said = (): string[][] =>
  readFileSync(path.join(engine, 'commands'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
const containers = () => readdirSync(engine).filter((name) => name.endsWith('.pid'));
/** Returns the name of the pid file of the container in which an agent was started last. Containers that only save checkpoints do not count. */
function ofAgent(): string {
  const run = said().findLast(
    ([command, ...args]) => command === 'run' && args.some((word) => word.includes('claude')),
  )!;
  return `${run[run.indexOf('--name') + 1]}.pid`;
}

describe('a mission in a container', () => {
  let runner: Runner;
  beforeAll(() => {
    runner = missions.startRunner({ ...settings, MEMORY_MB: '700' });
  });

  it('a mission in a container runs its harness through the gateway, and leaves no container', async () => {
    const runId = await missions.mission('Work.');
    expect(await missions.ended(runId), runner.output).toMatchObject({ status: 'completed', lastError: null });
    expect(await missions.log(runId, 'system')).toContain('Missions run in containers: no network but');
    expect(runner.output).toContain('capped by its container');
    expect(containers()).toEqual([]);
    const args = said().findLast(([command]) => command === 'run')!;
    expect(args).toEqual(expect.arrayContaining(['--memory', '--pids-limit', '--user', '--read-only']));
    // The commands contain neither a key nor a token of the runner. The configuration of MCP servers contains only the name of the variable that
    // holds the key.
    const words = JSON.stringify(said()).replaceAll(/\$\{GATEWAY_KEY\}/g, '');
    expect(words).not.toMatch(/real-key|srv_|GATEWAY_KEY|ANTHROPIC/);
    expect(missions.models.seen.at(-1)!.headers['x-api-key']).toBe('real-key');
  });

  it('a mission in a container is asked to end before its container is removed', async () => {
    const runId = await missions.mission('[wait]');
    await missions.until(async () => (await missions.look(runId)).steps[0]?.inputTokens > 0);
    expect(containers()).toContain(ofAgent());
    await missions.graphql('mutation ($r: String!) { cancelRun(runId: $r) { id } }', { r: runId });
    await missions.until(async () => containers().length === 0);
    expect(await missions.ended(runId)).toMatchObject({ status: 'canceled' });
    expect(said().map(([command]) => command)).toEqual(expect.arrayContaining(['kill', 'inspect', 'rm']));
  });

  it('a mission in a container ends with the reason when it runs out of memory', async () => {
    const runId = await missions.mission('[wait]');
    await missions.until(async () => (await missions.look(runId)).steps[0]?.inputTokens > 0);
    const pid = ofAgent();
    writeFileSync(path.join(engine, pid.replace('.pid', '.oom')), '');
    process.kill(-Number(readFileSync(path.join(engine, pid))), 'SIGKILL');
    expect(await missions.ended(runId), runner.output).toMatchObject({
      status: 'failed',
      lastError: 'It exceeded its memory limit: 700 MB.',
    });
  });

  it('a mission in a container ends when its runner ends, even by SIGKILL', async () => {
    const runId = await missions.mission('[wait]');
    await missions.until(async () => (await missions.look(runId)).steps[0]?.inputTokens > 0);
    const pid = Number(readFileSync(path.join(engine, ofAgent())));
    await missions.killRunners();
    await missions.until(async () => containers().length === 0 && !existsSync(`/proc/${pid}`));
  });
});

describe('containers', () => {
  it('containers are rejected with a reason on machines where they do not work', async () => {
    const asked = (env: Record<string, string>) =>
      chooseIsolation('container', 'http://localhost:4000', undefined, () => findContainers(env));
    await expect(asked({ PATH: '/nowhere' })).rejects.toThrow(
      'ISOLATION=container does not work on this machine: there is neither docker nor podman in PATH',
    );
    process.env.DOCKER_HOST = settings.DOCKER_HOST;
    await expect(asked({ CONTAINER_PROGRAM: docker, CONTAINER_IMAGE: 'nowhere' })).rejects.toThrow(
      "Unable to find image 'nowhere'",
    );
    const none = asked({ CONTAINER_PROGRAM: docker, CONTAINER_RUNTIME: 'runsc' });
    await expect(none).rejects.toThrow(
      /containers cannot be started with CONTAINER_RUNTIME runsc: .*unknown or invalid runtime name: runsc$/,
    );
    await expect(asked({ CONTAINER_PROGRAM: docker, CONTAINER_RUNTIME: '--x' })).rejects.toThrow(
      'CONTAINER_RUNTIME: must',
    );
    delete process.env.DOCKER_HOST;
  });

  it('containers run in Podman when the Docker client has no running engine', async () => {
    const folder = path.join(missions.folder, 'engines');
    mkdirSync(folder);
    const put = (name: string, script: string) =>
      writeFileSync(path.join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    put('docker', 'exit 0');
    const programOf = async () => path.basename((await containersFrom({ PATH: folder })).program);
    expect(await programOf()).toBe('docker');
    put('podman', 'exit 0');
    expect(await programOf()).toBe('docker');
    put('docker', 'echo "Cannot connect to the Docker daemon" >&2; exit 1');
    expect(await programOf()).toBe('podman');
    const failure = new Error(
      "docker: Cannot connect to the Docker daemon.\n\nRun 'docker run --help' for more information\n",
    );
    expect(reasonOf(failure)).toBe('docker: Cannot connect to the Docker daemon.');
  });

  it('a runner logs advice if Podman copies the image for each container', async () => {
    const podman = path.join(missions.folder, 'podman');
    for (const [driver, advice] of [
      ['vfs', /^Podman copies the image for every container/],
      ['overlay', /^$/],
    ] as const) {
      writeFileSync(podman, `#!/bin/sh\necho ${driver}\n`, { mode: 0o755 });
      expect(await adviceFor({ program: podman, image: 'node' })).toMatch(advice);
    }
    expect(await adviceFor({ program: '/nowhere/podman', image: 'node' })).toBe('');
    expect(await adviceFor({ program: docker, image: 'node' })).toBe('');
  });

  it('a harness that containers cannot run is rejected with a reason', async () => {
    process.env.DOCKER_HOST = settings.DOCKER_HOST;
    const run = runIn({ level: 'container', description: '', containers: { program: docker, image: 'node:22' } });
    const put = (name: string, script: string, mode: number) => {
      const file = path.join(missions.folder, name);
      writeFileSync(file, script);
      chmodSync(file, mode);
      return file;
    };
    const CLAUDE_CODE_PROGRAM = put('claude', '#!/nowhere/python\n', 0o755);
    const CODEX_PROGRAM = put('codex', '#!/bin/sh\necho 0.0.1\n', 0o700);
    // The programs are tested one after the other, because without bubblewrap the containers of the stand-in share
    // their network, and so their port.
    const first = await discover({ CLAUDE_CODE_PROGRAM, CODEX_PROGRAM: '/nowhere' }, { run });
    const second = await discover({ CLAUDE_CODE_PROGRAM: '/nowhere', CODEX_PROGRAM }, { run });
    const missing = [first.missing[0]!, ...second.missing.slice(1)];
    expect(missing.map(({ why }) => why)).toEqual([
      `${CLAUDE_CODE_PROGRAM} cannot be run: the container lacks the program, its interpreter or one of its libraries`,
      process.getuid!() === 0
        ? `${CODEX_PROGRAM} cannot be run: the user that agents run as cannot read ${CODEX_PROGRAM}`
        : expect.stringMatching(/^0\.0\.1 is not among the tested releases/),
      expect.stringMatching(/^there is no opencode/),
    ]);
    delete process.env.DOCKER_HOST;
  });

  it('the error of the container engine is reported when the engine cannot start a container', async () => {
    const container = { ask: async () => {}, remove: async () => {} };
    const wrap = (): Command => ['sh', ['-c', 'echo "Cannot connect to the Docker daemon" >&2; exit 125']];
    const launch = { cwd: engine, env: {}, account: undefined, graceMs: 100, isIsolated: true, wrap, container };
    const [out, err] = [() => {}, () => {}];
    const started = startProcess(launch, { program: '', args: [], hasInput: false, maxLineBytes: 100, out, err });
    expect(await started.ended).toBe('the container engine failed: Cannot connect to the Docker daemon');
  });

  it('containers have the requested isolation, and get their variables from a file that only the runner can read', async () => {
    const place = await makePlace('');
    const account = { uid: 61_200, gid: 61_200 };
    const limits = { cpus: 0.5, memoryBytes: 2 ** 30, processes: 100, diskBytes: 2 ** 30 };
    const container = openContainer({ program: 'podman', image: 'node:22' }, place, account, limits, true);
    const [program, args, env] = container.wrap(process.execPath, ['--version'], {
      PATH: '/x',
      HOME: place.home,
      KEY: 'k',
    });
    const text = args.join(' ');
    expect([program, env!.HOME]).toEqual(['podman', process.env.HOME]);
    expect(text).toContain('--network none --cap-drop ALL --security-opt no-new-privileges --read-only');
    const bounds = '--memory 1073741824b --memory-swap 1073741824b --pids-limit 100 --cpus 0.5';
    expect(text).toContain(`${isCapping('podman') ? `${bounds} ` : ''}--user 61200:61200`);
    expect(args.filter((word) => word.startsWith('type=bind')).map((word) => /source=([^,]*)/.exec(word)![1])).toEqual([
      place.work,
      place.work,
      place.home,
      place.artifacts,
      place.root,
      place.home,
      place.skills,
      place.file,
      path.dirname(process.execPath),
    ]);
    expect(text).toContain('--entrypoint sh node:22 -c ulimit -f "$0" && exec "$@" 2097152 node --eval');
    expect(text).not.toContain('KEY');
    expect(readFileSync(args[args.indexOf('--env-file') + 1]!, 'utf8')).toBe(`HOME=${place.home}\nKEY=k\n`);
    await place.remove();
  });
});
