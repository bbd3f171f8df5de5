// npm installs harnesses from a package registry that listens on loopback.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { discover, tryProgram } from '../../../src/runner/harness/discovery.ts';
import { install } from '../../../src/runner/harness/install.ts';
import { wantedHarnesses } from '../../../src/runner/harness/installer.ts';
import {
  type Lock,
  type Machine,
  type Pinned,
  pinned,
  programIn,
  thisMachine,
} from '../../../src/runner/harness/pinned.ts';
import { isTested, rangeOf, testedVersions } from '../../../src/runner/harness/versions.ts';
import { runDirectly } from '../../../src/runner/isolation/programs.ts';
import { compiled, projectFolder } from '../../support/processes.ts';
import { startRegistry } from '../../support/stand-in-registry.ts';

const machine: Machine = { name: 'test-x64', isMusl: false, hasAvx2: true };
const version = testedVersions.opencode.from;
const codexVersion = (pinned('codex', { name: 'linux-x64', isMusl: false, hasAvx2: true }) as Pinned).version;
let registry: Awaited<ReturnType<typeof startRegistry>>;
let home: string;
let folder: string;
let opencode: Pinned;
let opencodeLock: Lock;

beforeAll(async () => {
  registry = await startRegistry();
  home = mkdtempSync(path.join(tmpdir(), 'aep-install-'));
  // npm waits for ten seconds before it asks a second time.
  writeFileSync(path.join(home, '.npmrc'), 'fetch-retry-mintimeout=10\n');
  const script = `#!/bin/sh\necho ${version}\n`;
  const entry = registry.publish('opencode-test-x64', version, 'bin/opencode', script);
  opencodeLock = { packages: { 'node_modules/opencode-test-x64': { ...entry, optional: true } } };
  opencode = pinned('opencode', machine, opencodeLock) as Pinned;
});
beforeEach(() => {
  folder = mkdtempSync(path.join(home, 'harnesses-'));
  registry.asked.length = 0;
});
afterAll(async () => {
  await registry.close();
  rmSync(home, { recursive: true });
});

const environment = (more: Record<string, string> = {}) => ({
  PATH: process.env.PATH!,
  HOME: home,
  npm_config_registry: registry.url,
  ...more,
});
const check = async (program: string): Promise<void> => {
  const tried = await tryProgram('opencode', program, { run: runDirectly });
  if ('why' in tried) throw new Error(tried.why);
};
const run = (more: Partial<Parameters<typeof install>[0]> = {}) =>
  install({
    folder,
    pinned: opencode,
    check,
    progress: () => {},
    signal: new AbortController().signal,
    env: environment(),
    ...more,
  });
/** A lock entry with the checksum of something else. */
const broken = (): Pinned => {
  const entry = opencodeLock.packages['node_modules/opencode-test-x64']!;
  const packages = { 'node_modules/opencode-test-x64': { ...entry, integrity: `sha512-${'A'.repeat(86)}==` } };
  return pinned('opencode', machine, { packages }) as Pinned;
};

it('the pinned harnesses are the releases that their drivers are tested with', () => {
  const linux = { name: 'linux-x64', isMusl: false, hasAvx2: true };
  for (const harness of ['opencode', 'codex'] as const) {
    const { version: own, files } = pinned(harness, linux) as Pinned;
    expect(isTested(harness, own)).toBe(true);
    expect(files['package-lock.json']).not.toMatch(/https?:/);
  }
  expect(pinned('opencode', { ...linux, hasAvx2: false })).toMatchObject({
    program: 'node_modules/opencode-linux-x64-baseline/bin/opencode',
  });
  expect(pinned('opencode', { ...linux, name: 'darwin-arm64' })).toBe(
    `OpenCode has no checksum here for darwin-arm64: run npm install --prefix ~/agents 'opencode-darwin-arm64@${rangeOf('opencode')}', and set ` +
      'OPENCODE_PROGRAM=~/agents/node_modules/opencode-darwin-arm64/bin/opencode',
  );
  expect(pinned('opencode', { ...linux, isMusl: true })).toContain(
    `opencode-linux-x64-musl@${rangeOf('opencode')}', and set`,
  );
  for (const name of ['linux-arm64', 'darwin-arm64', 'darwin-x64'])
    expect(pinned('codex', { ...linux, name })).toMatchObject({ version: codexVersion });
});

it('the pinned harnesses are installed when a model that they support is connected: one harness for built-in agents, other harnesses if an agent names them', () => {
  const wanted = (modelVendors: string[], harnesses: string[], found: string[] = [], env = {}, own: string[] = []) =>
    wantedHarnesses({ modelVendors, harnesses } as never, {
      own: own as never,
      found: found.map((harness) => ({ harness })) as never,
      env,
    });
  expect(wanted([], ['opencode', 'codex'])).toEqual([]);
  expect(wanted(['anthropic'], [])).toEqual(wanted([], [], [], {}, ['anthropic']));
  expect(wanted(['anthropic'], ['codex', 'opencode'], ['claude-code'])).toEqual(['opencode']);
  expect(wanted(['openai'], ['codex'], ['opencode'])).toEqual(['codex']);
  expect(wanted(['openai'], [], ['claude-code'])).toEqual([]);
  expect(wanted(['anthropic'], [], ['acp'])).toEqual(wanted(['anthropic'], []));
  expect(wanted(['anthropic'], [], [], { OPENCODE_PROGRAM: '/opt/opencode' })).toEqual([]);
});

it('the installation of a harness leaves only the program, which all accounts can read; it removes other releases of the harness, and repairs a broken installation', async () => {
  for (const left of ['.installing-1', 'opencode-0.0.1', 'codex-0.0.1']) mkdirSync(path.join(folder, left));
  const program = await run();
  expect(program).toBe(programIn(folder, opencode));
  await check(program);
  expect(readdirSync(folder).sort()).toEqual(['codex-0.0.1', `opencode-${version}`]);
  expect(statSync(program).mode & 0o777).toBe(0o755);
  const asked = registry.tarballs().length;
  expect(await run()).toBe(program);
  expect([asked, registry.tarballs().length]).toEqual([1, 1]);
  rmSync(program);
  expect(await run()).toBe(program);
  await check(program);
});

it('the installation of a harness is downloaded only once when two runners start it at the same time', async () => {
  const [one, other] = await Promise.all([run(), run()]);
  expect(one).toBe(other);
  expect(registry.tarballs()).toHaveLength(1);
});

it('the installation of a harness leaves out packages for other machines', async () => {
  const codex = codexVersion;
  const os = ['none'];
  const platforms = Object.fromEntries(
    ['test-x64', 'other-x64'].map((name) => [`@openai/codex-${name}`, `npm:@openai/codex@${codex}-${name}`]),
  );
  const script = `#!/bin/sh\necho codex-cli ${codex}\n`;
  const publish = (at: string, manifest = {}) =>
    registry.publish('@openai/codex', at, 'bin/codex.js', script, manifest);
  const native = { name: '@openai/codex', optional: true };
  const packages = {
    'node_modules/@openai/codex-other-x64': { ...publish(`${codex}-other-x64`, { os }), ...native },
    'node_modules/@openai/codex-test-x64': { ...publish(`${codex}-test-x64`), ...native },
    'node_modules/@openai/codex': publish(codex, { optionalDependencies: platforms }),
  };
  const own = pinned('codex', machine, { packages }) as Pinned;
  const program = await run({ pinned: own, check: async (at) => void statSync(at) });
  const modules = path.join(folder, own.folder, 'node_modules/@openai');
  expect(path.relative(modules, program)).toBe('codex/bin/codex.js');
  expect(readdirSync(modules).sort()).toEqual(['codex', 'codex-test-x64']);
});

it('the installation of a harness continues where a killed process left it', async () => {
  registry.hold(true);
  const source = `import { install } from './src/runner/harness/install.ts';
      await install({ ...JSON.parse(process.env.OPTIONS), env: process.env, progress() {}, check: async () => { throw new Error(); },
        signal: new AbortController().signal });`;
  const env = environment({ OPTIONS: JSON.stringify({ folder, pinned: opencode }) });
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', source], {
    cwd: projectFolder,
    env,
    detached: true,
    stdio: 'inherit',
  });
  await vi.waitUntil(() => registry.held.length > 0);
  process.kill(-child.pid!, 'SIGKILL');
  await once(child, 'exit');
  registry.hold(false);
  const lock = path.join(folder, '.lock');
  expect(existsSync(lock)).toBe(true);
  utimesSync(lock, 0, 0);
  await check(await run());
  expect(readdirSync(folder)).toEqual([`opencode-${version}`]);
});

describe('the command of the runner', () => {
  const byNpm = ['npm', 'run', '--silent', 'runner', '--'];
  const command = async (
    args: string[],
    [program, ...before]: string[] = [process.execPath, compiled('runner/runner')],
  ) => {
    const env = environment({ HARNESSES_DIR: folder, ISOLATION: 'none', CONFINEMENT: 'none' });
    const child = spawn(program!, [...before, ...args], { cwd: projectFolder, env });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += bytes));
    child.stdin.end();
    const [code] = await once(child, 'close');
    return { code, output };
  };

  it('the command of the runner installs a harness from the registry, prints its path or the error, and lists the harnesses', async () => {
    const there = programIn(folder, pinned('codex', { ...thisMachine(), name: 'linux-x64' }) as Pinned);
    mkdirSync(path.dirname(there), { recursive: true });
    const codex = codexVersion;
    writeFileSync(there, `#!/bin/sh\necho codex-cli ${codex}\n`, { mode: 0o755 });
    expect(await command(['install', 'codex'], byNpm)).toEqual({
      code: 0,
      output: `Installing Codex ${codex} in ${folder}\ncodex ${codex}: ${there}\n`,
    });
    const { code, output } = await command(['install']);
    expect([code, output]).toEqual([1, expect.stringMatching(/^(Installing )?OpenCode /)]);
    expect(await command(['install', 'vim'])).toEqual({ code: 1, output: 'vim: must be one of opencode, codex.\n' });
    expect(await command(['instal'])).toMatchObject({
      code: 1,
      output: expect.stringContaining('instal: is not a command.'),
    });
    expect(await command(['--help'])).toMatchObject({
      code: 0,
      output: expect.stringContaining('install [opencode] [codex]'),
    });
  });
});

describe('an installation that fails', () => {
  const failing: [string, () => Partial<Parameters<typeof install>[0]>][] = [
    ['a package does not have the checksum in the lock file (EINTEGRITY)', () => ({ pinned: broken() })],
    [
      'the package registry cannot be reached (ECONNREFUSED)',
      () => ({ env: environment({ npm_config_registry: 'http://127.0.0.1:9' }) }),
    ],
    [
      'the package registry does not have it (E404)',
      () => ({ env: environment({ npm_config_registry: `${registry.url}/elsewhere` }) }),
    ],
    [
      'the program cannot be used here: no such library',
      () => ({ check: () => Promise.reject(new Error('no such library')) }),
    ],
    ['its folder cannot be written (ENOTDIR)', () => ({ folder: path.join(process.execPath, 'harnesses') })],
  ];
  for (const [reason, options] of failing) {
    it(`a failed installation of a harness reports the reason and leaves no files: ${reason}`, async () => {
      await expect(run(options())).rejects.toThrow(reason);
      expect(readdirSync(folder)).toEqual([]);
    });
  }

  it('a failed installation of a harness reports that npm is missing', async () => {
    vi.spyOn(process, 'execPath', 'get').mockReturnValue('/nowhere/node');
    await expect(run({ env: environment({ PATH: '/nowhere' }) })).rejects.toThrow('there is no npm in PATH');
    vi.restoreAllMocks();
  });
});

it('a harness in PATH or named by a setting is used instead of an installed one', async () => {
  const at = pinned('opencode');
  if (typeof at === 'string') return;
  const program = programIn(folder, at);
  mkdirSync(path.dirname(program), { recursive: true });
  writeFileSync(program, `#!/bin/sh\necho ${version}\n`);
  chmodSync(program, 0o755);
  const look = async (env: Record<string, string>) => (await discover(env, { run: runDirectly }, folder)).found;
  expect(await look({ PATH: '/nowhere' })).toEqual([{ harness: 'opencode', program, version }]);
  expect(await look({ PATH: '/nowhere', OPENCODE_PROGRAM: '/nowhere/opencode' })).toEqual([]);
});
