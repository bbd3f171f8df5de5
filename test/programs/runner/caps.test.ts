// Limits of a mission: memory and processes, by whatever mechanism the test machine has.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { chooseCaps, prefixOf } from '../../../src/runner/isolation/caps.ts';
import { findCgroups, ownGroups } from '../../../src/runner/isolation/cgroup.ts';
import { meter } from '../../../src/runner/isolation/measure.ts';
import { startProcess } from '../../../src/runner/isolation/process.ts';
import { isOffered } from '../../../src/runner/isolation/script-isolation.ts';
import { openMissionWorld } from '../../support/mission-world.ts';
import { knownRuntime } from '../../support/world.ts';

let missions: Awaited<ReturnType<typeof openMissionWorld>>;
beforeAll(async () => {
  missions = await openMissionWorld();
  await missions.team('shell', 'builder');
});
afterEach(() => missions.killRunners());
afterAll(() => missions.close());

it('the first sample of a running process has no exaggerated CPU value; CPU is in percent of all cores', async () => {
  const sample = meter(process.pid);
  expect((await sample()).cpuPct).toBe(0);
});

describe('a mission', () => {
  it('a mission fails and shows the reason when it exceeds its memory limit; the system log says how its memory is limited', async () => {
    const runner = missions.startRunner({ MEMORY_MB: '150' });
    const greedy = `const kept = Buffer.alloc(300 * 1024 ** 2, 1); setTimeout(() => kept.length, 600_000)`;
    const runId = await missions.mission(`${process.execPath} -e "${greedy}" & wait`);
    expect(await missions.ended(runId)).toMatchObject({
      status: 'failed',
      lastError: 'It exceeded its memory limit: 150 MB.',
    });
    expect(await missions.log(runId, 'system')).toMatch(/cgroups|memory limit when measured/);
    expect(runner.output).toMatch(/cgroups|memory limit when measured/);
    const { data } = await missions.graphql('{ runtimes { data { name isolation } } }', {});
    expect(data.find(({ name }: { name: string }) => name !== knownRuntime).isolation).toMatch(
      /^none, (capped by cgroups|(processes capped by rlimits, )?memory measured)$/,
    );
  });

  it('a mission fails and shows the reason when it exceeds its disk limit; its sandbox shows how much of the limit is used', async () => {
    missions.startRunner({ DISK_MB: '20', RUNS_AT_ONCE: '2' });
    const go = path.join(missions.folder, 'go');
    const write = (file: string, bytes: number) => `head -c ${bytes} /dev/zero > ${file}`;
    const waits = `until [ -e ${go} ]; do sleep 0.05; done`;
    const slow = await missions.mission(`${write('a', 12_000_000)}; ${waits}; ${write('b', 12_000_000)}; sleep 600`);
    // The kernel limits the size of a single file, if it can.
    const big = await missions.mission(`${write('big', 30_000_000)} && sleep 600`);
    const lastError = 'It exceeded its disk limit: 20 MB.';
    expect(await missions.ended(big)).toMatchObject({ status: 'failed', lastError });
    const share = () => missions.world.knex('sandboxes').where({ runId: slow }).first('lastDiskUsedPct');
    await missions.until(async () => (await share())?.lastDiskUsedPct > 55);
    expect((await share()).lastDiskUsedPct).toBeLessThan(65);
    writeFileSync(go, '');
    expect(await missions.ended(slow)).toMatchObject({ status: 'failed', lastError });
  });

  it('a mission cannot harm the machine or other missions with a fork bomb', async () => {
    const level = (await isOffered('cell')) ? 'cell' : (await isOffered('unshare')) ? 'unshare' : 'none';
    const caps = await chooseCaps(level);
    // On a machine without cgroups and rlimits, a runner cannot limit processes, and its description of the limits says so.
    if (!caps.cgroups && !caps.isCounting) return expect(caps.description).toContain('NOT capped');
    missions.startRunner({
      PROCESSES: '60',
      CONFINEMENT: level === 'cell' ? 'bubblewrap' : level,
      RUNS_AT_ONCE: '3',
      MEMORY_MB: '150',
    });
    const bomb =
      'for i in 1 2 3 4 5 6 7 8 9 10; do for j in 1 2 3 4 5 6 7 8 9 10; do sleep 600 & done; done; echo "all of them"';
    const [first, second] = [await missions.mission(bomb), await missions.mission('sleep 0.1; (echo unharmed)')];
    expect(await missions.ended(second)).toMatchObject({ status: 'completed' });
    expect(await missions.log(second)).toBe('unharmed\n');
    expect(await missions.ended(first)).toMatchObject({ status: 'failed' });
    expect(await missions.log(first)).toMatch(/fork/i);
    expect(await missions.log(first)).not.toContain('all of them');
    // Files count as memory if /tmp is in memory.
    if (level === 'none') return;
    const full = await missions.mission('head -c 200000000 /dev/zero > /tmp/full; sleep 600');
    expect(await missions.ended(full)).toMatchObject({ lastError: 'It exceeded its memory limit: 150 MB.' });
  });
});

describe('control groups', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'cgroup-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const limits = { cpus: null, memoryBytes: 2 ** 30, processes: 100, diskBytes: 2 ** 30 };

  // A folder in place of the kernel's control groups: it stores what is written and has no effect.
  it('control groups have their limits before a process joins, and report when memory ran out', async () => {
    writeFileSync(path.join(folder, 'cgroup.controllers'), 'cpu memory pids\n');
    const open = (await findCgroups([path.join(folder, 'nowhere'), folder], async () => true))!;
    const group = open('step_1', { ...limits, cpus: 0.25 });
    const of = (name: string) => readFileSync(path.join(group.folder, name), 'utf8');
    expect([of('memory.max'), of('pids.max'), of('memory.oom.group')]).toEqual([String(2 ** 30), '100', '1']);
    expect(of('cpu.max')).toBe('25000 100000');
    const lines: string[] = [];
    const launch = { cwd: folder, env: { PATH: process.env.PATH! }, account: undefined, graceMs: 100 };
    const wrap = () => ['sh', ['-c', `cat ${group.folder}/cgroup.procs; echo " $$"`]] as [string, string[]];
    const program = { program: '', args: [], hasInput: false, maxLineBytes: 100, err: () => {} };
    const child = startProcess(
      { ...launch, wrap, group, isIsolated: false },
      { ...program, out: (line) => void lines.push(line) },
    );
    expect(await child.silent).toBe('');
    expect(lines).toEqual([`${child.pid} ${child.pid}\n`]);
    writeFileSync(path.join(group.folder, 'memory.events'), 'low 0\noom 1\noom_kill 0\n');
    expect(await group.isOverMemory()).toBe(false);
    writeFileSync(path.join(group.folder, 'memory.events'), 'low 0\noom 2\noom_kill 2\n');
    expect(await group.isOverMemory()).toBe(true);
  });

  it('control groups are not used if memory and processes are not delegated or nothing is capped', async () => {
    expect(await findCgroups([folder], async () => false)).toBeNull();
    writeFileSync(path.join(folder, 'cgroup.controllers'), 'cpu\n');
    expect(await findCgroups([folder], async () => true)).toBeNull();
  });

  it('control groups are not used if the group is shared, and the runner stays in the shared group', async () => {
    const shared = path.join(folder, 'shared');
    // The runner writes to the file `cgroup.subtree_control` of a group to divide the group into subgroups. The kernel refuses this write while other
    // processes are in the group. In this test, a folder at the path of the file makes the write fail.
    mkdirSync(path.join(shared, 'cgroup.subtree_control'), { recursive: true });
    writeFileSync(path.join(shared, 'cgroup.controllers'), 'memory pids\n');
    expect(await findCgroups([shared], async () => true)).toBeNull();
    expect(readFileSync(path.join(shared, 'cgroup.procs'), 'utf8')).toBe(String(process.pid));
  });

  it('control groups are created below the group of this process; root can also create them below the root group', () => {
    writeFileSync(path.join(folder, 'cgroup'), '1:name=systemd:/\n0::/user.slice/runner.scope\n');
    writeFileSync(path.join(folder, 'mountinfo'), '30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n');
    const own = '/sys/fs/cgroup/user.slice/runner.scope';
    expect([ownGroups(folder, false), ownGroups(folder, true)]).toEqual([[own], [own, '/sys/fs/cgroup']]);
    expect(ownGroups(path.join(folder, 'nowhere'), true)).toEqual([]);
  });
});

describe('the caps of missions', () => {
  it('the caps of missions are enforced by cgroups if these are available, else by rlimits and measurement, and the runner says which', async () => {
    const limits = { cpus: null, memoryBytes: 2 ** 30, processes: 100, diskBytes: 2 ** 30 };
    const tried =
      (counted: string) =>
      async (_kind: string, [program]: string[]) =>
        program === 'choom' ? '1000' : counted;
    const [cgroups, rlimits, nothing] = await Promise.all([
      chooseCaps('unshare', async () => () => ({}) as never, tried('')),
      chooseCaps('unshare', async () => null, tried('begun')),
      chooseCaps('unshare', async () => null, tried('begundone')),
    ]);
    expect(cgroups.description).toContain('The kernel caps memory and processes');
    expect(rlimits.description).toContain('capped by rlimits');
    expect(nothing.description).toContain('NOT capped');
    expect(prefixOf(cgroups, limits)).toEqual(['choom', '-n', '1000', '--']);
    expect(prefixOf(rlimits, limits)).toEqual([
      ...prefixOf(nothing, limits),
      'prlimit',
      '--nproc=100',
      `--data=${2 ** 32}`,
      '--',
    ]);
  });
});
