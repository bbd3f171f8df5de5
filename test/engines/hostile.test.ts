// An agent tries to escape from its mission, with a stand-in harness that does what its prompt says. The test runs for each user account of
// a runner and each isolation level. It uses a real container engine if this machine has one for that user.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { createProject } from '../support/callers.ts';
import { openMissionWorld, standInClaude } from '../support/mission-world.ts';
import { compiled, projectFolder } from '../support/processes.ts';
import { combinations, isRoot, type RunnerUser, settingsOf } from '../support/runner-levels.ts';

const docker = fileURLToPath(new URL('../support/stand-in-docker.mjs', import.meta.url));
const attacker = readFileSync(new URL('../support/attacker.mjs', import.meta.url), 'utf8');
let missions: Awaited<ReturnType<typeof openMissionWorld>>;
beforeAll(async () => {
  missions = await openMissionWorld();
  await missions.team('claude-code', 'builder');
});
afterEach(() => missions.killRunners());
afterAll(() => missions.close());

const content = async (runId: string, caption: string): Promise<string> => {
  const { body } = await missions.world.rest('GET', `/artifacts?runId=${runId}`, { token: missions.alice.token });
  const artifact = body.data.find((one: { caption: string; runId: string }) => one.caption === caption);
  return (await fetch(artifact.url)).text();
};

/** Settings of an isolation level. If the user has no container engine, the settings name a stand-in for the engine. */
function settingsFor(user: RunnerUser, level: string, own: string): Record<string, string> | string {
  const settings = settingsOf(user, level);
  if (typeof settings !== 'string' || level !== 'container' || user.missing) return settings;
  if (typeof settingsOf(user, 'cell') === 'string') return settings;
  mkdirSync(`${own}/engine`);
  return { CONTAINER_PROGRAM: docker, DOCKER_HOST: `file://${own}/engine` };
}

const cancel = (r: string) => missions.graphql('mutation ($r: String!) { cancelRun(runId: $r) { id } }', { r });
const missionsIn = (own: string) => readdirSync(own).filter((name) => name.startsWith('mission-'));

/**
 * Accesses of the attacker that succeed in a mission without isolation. The test expects all of them there, which proves that the attacker
 * would also find a gap in an isolation level.
 */
const withoutIsolation = [
  'a file that every user may read',
  'the files of another mission',
  'the temporary files of another mission',
  'the environment of the runner',
  'the end of the runner',
  'a process of another mission',
  'more privileges',
  'the platform',
  'the model',
];
/** Podman lets a program in a container create namespaces. The program sees no more in such a namespace than in the container. */
const ofContainers = ['a user namespace'];
/** An engine without root cannot limit processes with cgroups of version 1. */
const uncapped = ['any number of processes'];

// Without isolation, an attacker that runs as root would change this machine.
const attacked = combinations.filter(({ user, level }) => level !== 'none' || user.account || !isRoot);
describe.each(attacked)('an attacker in a mission of $user.name with the isolation $level', ({ user, level }) => {
  it('an attacker in a mission can reach nothing outside the mission and harm nobody; a mission that exceeds a limit ends with an error that says so', async ({
    skip,
  }) => {
    const own = path.join(missions.folder, `${level}-${user.account ? 'user' : 'own'}`);
    mkdirSync(`${own}/data/environments/other`, { recursive: true });
    const settings = settingsFor(user, level, own);
    if (typeof settings === 'string') return skip(settings);
    chmodSync(own, 0o711);
    if (user.account) execFileSync('chown', ['-R', `${user.account.uid}`, own]);
    const others = path.join(missions.folder, 'secret');
    writeFileSync(others, 'of-somebody-else', { mode: 0o644 });
    const bounds = { RUNS_AT_ONCE: '5', PROCESSES: '250', MEMORY_MB: '400', DISK_MB: '80' };
    const places = { TMPDIR: own, HOME: own, DATA_DIR: `${own}/data` };
    const runner = missions.startRunner({ ISOLATION: level, ...places, ...bounds, ...settings }, user.account);

    const mark = `${path.basename(missions.folder)}-${level}`;
    const marks = ['/tmp', '/dev/shm'].map((at) => `${at}/${mark}`);
    const sleep = `sleep 612.${process.pid}`;
    const neighbour = await missions.mission(
      `[run]\necho of-the-neighbour > a.txt; touch ${marks.join(' ')}; ${sleep}; true`,
    );
    const isAt = (name: string) => existsSync(path.join(own, name, 'work/a.txt'));
    await missions.until(async () => missionsIn(own).some(isAt));
    const about = {
      folder: own,
      file: others,
      word: 'of-the-neighbour',
      marks,
      sleep: sleep.replace(' ', '\0'),
      store: `${own}/data/environments`,
      project: projectFolder,
      key: 'real-key',
      runner: runner.process.pid,
      outside: [`${own}/mark`, `${projectFolder}/mark`, '/etc/mark', '/mark'],
      harness: standInClaude,
      // The attacker searches the command lines of all processes for this text, which ends with a NUL byte. In its own command line, the text
      // is part of a JSON argument, where the NUL is written as \u0000. So the search does not find the attacker's own process.
      program: `${compiled('runner/runner')}\0`,
      neighbours: missionsIn(own),
      platform: Number(new URL(missions.world.url).port),
      model: Number(new URL(missions.models.url).port),
      processes: 400,
    };
    const run = `node --input-type=module - '${JSON.stringify(about)}' <<'END'\n${attacker}\nEND`;
    const runId = await missions.mission(`[run]\n${run}`);
    expect(await missions.ended(runId), runner.output).toMatchObject({ status: 'completed', lastError: null });
    const reached: string[] = JSON.parse(await content(runId, 'reached.json'));
    if (level === 'none') {
      await cancel(neighbour);
      for (const file of [...marks, ...about.outside]) rmSync(file, { force: true });
      return expect(reached).toEqual(expect.arrayContaining(withoutIsolation));
    }
    const isStandIn = settings.CONTAINER_PROGRAM === docker;
    const excused = level === 'cell' ? [] : user.account || !isRoot ? [...ofContainers, ...uncapped] : ofContainers;
    expect(reached.filter((name) => !excused.includes(name))).toEqual([]);
    for (const file of about.outside) expect(existsSync(file), file).toBe(false);

    // An attacker that uses up memory or disk, or that sends signals, ends only its own mission.
    const [memory, disk, signals] = await Promise.all(
      [
        `node -e "const kept = Buffer.alloc(600 * 2 ** 20, 1); require('fs').writeFileSync(process.env.ARTIFACTS + '/all.txt', 'all'); setTimeout(() => kept, 6e5)"`,
        `for i in 1 2 3; do head -c 50000000 /dev/zero > $i; done; sleep 600`,
        `kill -9 -1; sleep 600`,
      ].map((script) => missions.mission(`[run]\n${script}`)),
    );
    // Either the kernel kills the program when it exceeds the memory limit, so that it writes no artifact, or the runner measures the
    // excess and ends the mission.
    const greedy = await missions.ended(memory!);
    if (greedy.status === 'completed') expect(greedy.artifacts).toEqual([]);
    else expect(greedy.lastError).toBe('It exceeded its memory limit: 400 MB.');
    const lastError = 'It exceeded its disk limit: 80 MB.';
    expect(await missions.ended(disk!)).toMatchObject({ status: 'failed', lastError });
    expect(await missions.ended(signals!)).toMatchObject({
      status: 'failed',
      lastError: expect.stringMatching(/SIGKILL/),
    });
    expect(runner.process.exitCode).toBeNull();
    expect(await missions.look(neighbour)).toMatchObject({ lastError: null, sandboxes: [{ status: 'running' }] });

    // The containers of the runner are removed by force: the mission fails with the reason, and leaves nothing behind.
    if (level === 'container' && !isStandIn) {
      const engine = (...args: string[]) =>
        execFileSync(settings.CONTAINER_PROGRAM!, args, {
          ...user.account,
          encoding: 'utf8',
          stdio: 'pipe',
          env: { ...process.env, ...settings },
        });
      const of = ['ps', '--all', '--format', '{{.Names}}', '--filter', `name=-${runner.process.pid}-`];
      const names = () =>
        engine(...of)
          .split('\n')
          .filter(Boolean);
      engine('rm', '--force', ...names());
      expect(await missions.ended(neighbour)).toMatchObject({
        status: 'failed',
        lastError: 'killed by SIGKILL',
      });
      await missions.until(async () => names().length === 0 && missionsIn(own).length === 0);
    } else await cancel(neighbour);
  });
});

// The test needs bash: other shells allow only file descriptors up to 9, and Node.js closes the first fifteen itself.
it.skipIf(spawnSync('bash', ['-c', 'true']).status !== 0)(
  'agents do not inherit open files of the runner',
  async () => {
    const { folder } = missions;
    missions.startRunner({}, { launcher: ['bash', '-c', `exec 60<'${folder}'; exec "$@"`, 'bash'] });
    const runId = await missions.mission('[run]\n[ -e /proc/self/fd/60 ] && echo leaks > "$ARTIFACTS/saw.txt"; true');
    expect(await missions.ended(runId)).toMatchObject({ status: 'completed', artifacts: [] });
    await missions.killRunners();
  },
);

it('an agent that leaves hostile git hooks, git settings and symbolic links runs nothing outside its own processes, and uploads nothing through symbolic links', async () => {
  const { folder, alice } = missions;
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a', ...args], { cwd: folder, encoding: 'utf8' });
  git('init', '-q', '-b', 'main', 'acme/site');
  writeFileSync(path.join(folder, 'acme/site/a.txt'), 'old\n');
  git('-C', 'acme/site', 'add', '.');
  git('-C', 'acme/site', 'commit', '-qm', 'first');
  const { id: orgId } = alice.organization;
  const origin = { vendor: 'builtin', vendorKind: 'scm', displayName: 'Code', externalOrgId: folder } as const;
  await connectIntegration({ orgId, ...origin });
  const projectId = await createProject(missions.world, alice, 'Site', { repoFullName: 'acme/site' });
  const secret = path.join(folder, 'secret.txt');
  writeFileSync(secret, 'of-somebody-else');
  const mark = path.join(folder, 'sprung');
  // The script `trap` creates the file `mark` only if HOME is /nonexistent, which is the case only when the runner's git executes the
  // script. The agent's own git has another HOME, so a script that the agent's git executes does nothing.
  const trap = `#!/bin/sh\nif [ "$HOME" = /nonexistent ]; then touch ${mark}; fi\n`;
  missions.startRunner();
  const runId = await missions.mission(
    `[run]
printf '%s' '${trap}' > trap.sh; chmod +x trap.sh; mkdir .hooks; cp trap.sh .hooks/pre-push; cp trap.sh .hooks/reference-transaction
for key in core.fsmonitor core.sshCommand uploadpack.packObjectsHook diff.external core.pager; do git config $key "$PWD/trap.sh"; done
git config core.hooksPath "$PWD/.hooks"; git config filter.evil.smudge "$PWD/trap.sh"; echo '* filter=evil' > .gitattributes
ln -s ${secret} link.txt; ln -s ${folder} outside; ln -s ${secret} "$ARTIFACTS/link.txt"; ln -s / "$ARTIFACTS/root"
echo harmless > "$ARTIFACTS/change.diff"; git -c core.fsmonitor= add -A; git -c core.hooksPath=/dev/null commit -qm 'Plant traps'; echo planted`,
    projectId,
  );
  const run = await missions.ended(runId);
  expect(run).toMatchObject({ status: 'completed', lastError: null });
  // The agent has submitted a file with the name change.diff, which is also the name of the diff that the runner reports. The agent's
  // file is an artifact like any other; people review the runner's diff.
  const names = run.artifacts.map(({ caption }: { caption: string }) => caption);
  expect(names).toEqual(['change.commits.json', 'change.diff', 'change.diff']);
  const ask = 'query ($r: String!) { run(runId: $r) { changeDiff { url } } }';
  const { changeDiff } = await missions.graphql(ask, { r: runId });
  const diff = await (await fetch(changeDiff.url)).text();
  expect(diff).toContain('+++ b/link.txt');
  expect(diff).not.toContain('of-somebody-else');
  expect(git('-C', 'acme/site', 'log', '-1', '--format=%s', `mission/${runId}`)).toBe('Plant traps\n');
  expect(readdirSync(folder)).not.toContain('sprung');
});
