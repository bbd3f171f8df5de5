// A real runner that updates itself from a registry between missions, or reports why it cannot.
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, expect, it } from 'vitest';
import { isNewer } from '../../../src/runner/update.ts';
import { compiled, projectFolder } from '../../support/processes.ts';
import { openScriptWorld } from '../../support/script-world.ts';
import { startRegistry } from '../../support/stand-in-registry.ts';

const registry = await startRegistry();
const { world, alice, folder, service, startRunner, mission, look, until, ended, killRunners, close } =
  await openScriptWorld();
afterEach(killRunners);
afterAll(close);
afterAll(registry.close);

const packageName = 'agent-engineering-platform';
const releases = `${registry.url}/${packageName}/-/`;
const updating = { RUNNER_UPDATE: releases, RUNS_AT_ONCE: '1', HOME: folder, npm_config_registry: registry.url };
/** An older release of the runner. */
const older = path.join(folder, 'older');
cpSync(compiled('runner/runner'), path.join(older, 'dist/runner/runner.js'));
writeFileSync(path.join(older, 'package.json'), '{"type": "module", "version": "0.0.1"}');
const olderProgram = path.join(older, 'dist/runner/runner.js');
const startOlder = () => startRunner(undefined, updating, olderProgram);
/** The release of the service. */
const { version } = JSON.parse(readFileSync(path.join(projectFolder, 'package.json'), 'utf8'));
const says = (runner: { output: string }, words: string) =>
  until(
    async () => runner.output,
    (output) => output.includes(words),
  );

it('versions are compared by their numbers, and only a newer one is an update', () => {
  const newer = ['0.2.1', '0.10.0', '1.0.0'].map((version) => isNewer(version, '0.2.0'));
  expect(newer).toEqual([true, true, true]);
  const others = ['0.2.0', '0.1.9', '', '1.0.0-beta', 'latest'].map((version) => isNewer(version, '0.2.0'));
  expect(others).toEqual([false, false, false, false, false]);
});

it('a runner refuses to update itself from a package of an unknown source', async () => {
  for (const source of ['on', packageName, 'http://downloads.example.com/aep']) {
    const runner = startRunner(undefined, { ...updating, RUNNER_UPDATE: source }, olderProgram);
    expect(await once(runner.process, 'exit')).toEqual([1, null]);
    expect(runner.output).toContain('RUNNER_UPDATE: must be off, or the https address of a folder');
  }
});

it('a runner whose update fails reports the reason in its output and in the list of runtimes, and continues to run missions', async () => {
  const runner = startOlder();
  await says(runner, `because its update to ${version} failed: the package registry does not have it (E404)`);
  const notice = async () => (await world.field('{ runtimes { data { notice } } }', { token: alice })).data[0]?.notice;
  expect(await until(notice, (text) => text?.startsWith('The runner stays at 0.0.1') ?? false)).toContain('E404');
  expect((await ended(await mission('true'))).status).toBe('completed');
});

it('a runner finishes its mission, and is then replaced by the release of the service, which gets its arguments and token', async () => {
  const [started, next, broken] = ['started', 'next.mjs', 'broken.mjs'].map((name) => path.join(folder, name));
  const text = `import { createInterface } from 'node:readline';
import { writeFileSync } from 'node:fs';
createInterface({ input: process.stdin }).once('line', (token) => writeFileSync(${JSON.stringify(started)}, token));
process.once('SIGTERM', () => process.exit(7));
setInterval(() => {}, 1_000);`;
  writeFileSync(next!, text);
  writeFileSync(broken!, 'process.exit(3);');
  // The source of a release that asks to be replaced by a newer release. The newer release does not work, so this release then asks to be replaced by
  // another release, which works.
  const program = `if (process.argv[2] !== 'help') {
  process.once('SIGTERM', () => process.exit(0));
  process.send({ program: ${JSON.stringify(broken)} });
  process.once('message', ({ code }) => process.send({ program: code === 3 && ${JSON.stringify(next)} }));
}`;
  registry.publish(packageName, '99.0.0', 'dist/runner/runner.js', 'throw new Error();');
  registry.publish(packageName, version, 'dist/runner/runner.js', program, { type: 'module' });
  const drafts = ['.installing-killed', '.installing-present'].map((name) => path.join(folder, 'releases', name));
  for (const draft of drafts) mkdirSync(draft, { recursive: true });
  const twoHoursAgo = Date.now() / 1_000 - 7_200;
  utimesSync(drafts[0]!, twoHoursAgo, twoHoursAgo);
  const mark = path.join(folder, 'updated');
  const first = await mission(`until [ -e ${mark} ]; do sleep 0.05; done`);
  const runner = startOlder();
  const exited = once(runner.process, 'exit');
  await until(
    () => look(first),
    ({ status }) => status === 'running',
  );
  await says(runner, `The release ${version} is installed.`);
  expect(drafts.map((draft) => existsSync(draft))).toEqual([false, true]);
  expect(registry.asked).toContain(`/${packageName}/-/${packageName}-${version}.tgz`);
  expect(registry.asked).not.toContain(`/${packageName}`);
  const second = await mission('true');
  writeFileSync(mark, '');
  expect((await ended(first)).status).toBe('completed');
  await says(runner, `The runner continues as release ${version}.`);
  await until(
    async () => existsSync(started!),
    (exists) => exists,
  );
  expect(readFileSync(started!, 'utf8')).toBe(service);
  expect((await look(second)).status).toBe('dispatching');
  const { data } = await world.field('{ runtimes { data { name } } }', { token: alice });
  expect(data.filter(({ name }: { name: string }) => name.endsWith(`:${runner.process.pid}`))).toEqual([]);
  runner.process.kill('SIGTERM');
  expect(await exited).toEqual([7, null]);
});

it('a release asks the runner that started it to start the next release, and continues if the next release fails', async () => {
  const runner = startRunner(undefined, { ...updating, EXIT_WITH_PARENT: 'updater' }, olderProgram);
  const [asked] = await once(runner.process, 'message');
  const installed = 'node_modules/agent-engineering-platform/dist/runner/runner.js';
  expect(asked).toEqual({ program: path.join(folder, 'releases', version, installed) });
  runner.process.send({ code: 3 });
  await says(runner, `its update to ${version} failed: the new release exited at once with code 3`);
  const exited = once(runner.process, 'exit');
  runner.process.stdin!.end();
  expect(await exited).toEqual([0, null]);
});
