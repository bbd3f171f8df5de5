// Runs `npm run release` in a checkout of its own. The packages can be installed, the list of components is complete, and other tools
// accept the signatures.
import { execFileSync, spawn } from 'node:child_process';
import { generateKeyPairSync, verify } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { freePort, projectFolder } from '../support/processes.ts';

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
let folder: string;
let source: string;
const run = (program: string, args: string[], cwd: string, env: NodeJS.ProcessEnv = {}) =>
  execFileSync(program, args, { cwd, encoding: 'utf8', env: { ...process.env, ...env }, stdio: 'pipe' });
const file = (name: string) => readFileSync(path.join(source, 'dist/release', name), 'utf8');

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'aep-release-'));
  source = path.join(folder, 'source');
  run('git', ['clone', '--quiet', '--depth', '1', `file://${projectFolder}`, source], folder);
  symlinkSync(path.join(projectFolder, 'node_modules'), path.join(source, 'node_modules'));
  writeFileSync(path.join(folder, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('a release is refused while a file is not committed', () => {
  const added = path.join(source, 'added.txt');
  writeFileSync(added, '');
  expect(() => run('npm', ['run', 'release'], source)).toThrow('added.txt');
  rmSync(added);
});

it('a release has three packages, a list of their components, signed provenance and signed checksums', {
  timeout: 600_000,
}, () => {
  run('npm', ['run', 'release'], source, { RELEASE_KEY: path.join(folder, 'key.pem') });
  const { version, dependencies, devDependencies } = JSON.parse(
    readFileSync(path.join(source, 'package.json'), 'utf8'),
  );
  const packages = ['', '-cli', '-client'].map((name) => `agent-engineering-platform${name}-${version}.tgz`);
  expect(readdirSync(path.join(source, 'dist/release')).sort()).toEqual(
    [...packages, 'SHA256SUMS', 'SHA256SUMS.sig', 'provenance.dsse.json', 'sbom.cdx.json'].sort(),
  );

  run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], path.join(source, 'dist/release'));
  const sums = file('SHA256SUMS');
  expect(verify(null, Buffer.from(sums), publicKey, Buffer.from(file('SHA256SUMS.sig'), 'base64'))).toBe(true);

  const { payloadType, payload, signatures } = JSON.parse(file('provenance.dsse.json'));
  const statement = Buffer.from(payload, 'base64');
  const signed = Buffer.concat([
    Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${statement.length} `),
    statement,
  ]);
  expect(verify(null, signed, publicKey, Buffer.from(signatures[0].sig, 'base64'))).toBe(true);
  const { subject, predicate } = JSON.parse(statement.toString());
  const commit = run('git', ['rev-parse', 'HEAD'], source).trim();
  expect(predicate.buildDefinition.resolvedDependencies[0]).toEqual({ name: 'source', digest: { gitCommit: commit } });
  for (const { name, digest } of subject) expect(sums).toContain(`${digest.sha256}  ${name}\n`);
  expect(subject.map(({ name }: { name: string }) => name)).toEqual([...packages, 'sbom.cdx.json'].sort());

  const { components } = JSON.parse(file('sbom.cdx.json'));
  const listed = components.map(({ name, version }: Record<string, string>) => `${name}@${version}`);
  const versioned = ([name, version]: [string, unknown]) => `${name}@${version}`;
  expect(listed).toEqual(expect.arrayContaining(Object.entries(dependencies).map(versioned)));
  // Development dependencies that are listed: those in the bundles of the console and of `aep`.
  const lock = JSON.parse(readFileSync(path.join(source, 'package-lock.json'), 'utf8')).packages;
  const bundled = Object.entries(devDependencies).filter(
    (entry) => lock[`node_modules/${entry[0]}`].dev && listed.includes(versioned(entry)),
  );
  expect(bundled.map(([name]) => name)).toEqual(
    '@xterm/addon-fit @xterm/xterm commander diff highlight.js marked preact preact-iso uplot'.split(' '),
  );
  expect(JSON.stringify(components)).not.toContain('cdx:npm:package:development');
  // `npm sbom` describes this version as a development dependency, because it describes only the first copy of it.
  expect(listed).toContain(`lodash@${lock['node_modules/knex/node_modules/lodash'].version}`);

  writeFileSync(path.join(folder, 'package.json'), '{}');
  const npm = { npm_config_cache: path.join(folder, 'cache'), npm_config_offline: 'true' };
  run('npm', ['install', path.join(source, 'dist/release', packages[1]!)], folder, npm);
  expect(run('npx', ['--offline', 'aep', '--version'], folder, npm)).toContain(version);
});

it('a release starts with one command, and each of its packages installs with one command, without development dependencies', {
  timeout: 900_000,
}, async () => {
  const release = path.join(source, 'dist/release');
  const { version } = JSON.parse(readFileSync(path.join(source, 'package.json'), 'utf8'));
  const [PORT, home] = [String(await freePort()), path.join(folder, 'home')];
  const env = { PATH: process.env.PATH!, HOME: process.env.HOME!, npm_config_prefer_offline: 'true' };
  const url = `http://localhost:${PORT}`;
  mkdirSync(home);
  const output: string[] = [];
  const child = spawn('npx', ['--yes', `file:${release}/agent-engineering-platform-${version}.tgz`, 'start'], {
    // The program starts outside of the checkout, because the .npmrc of the checkout turns warnings about engines into errors.
    cwd: folder,
    env: { ...env, PORT, DATA_DIR: home, LOCAL_RUNNER: 'off' },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(String(chunk)));
  try {
    const isReady = () =>
      fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => child.exitCode !== null,
      );
    await vi.waitUntil(isReady, { timeout: 600_000, interval: 500 });
    expect(child.exitCode, output.join('')).toBe(null);
    await vi.waitUntil(() => output.join('').includes('pat_'), { timeout: 60_000 });
    const token = /pat_[\w-]+/.exec(output.join(''))![0];
    const page = await fetch(`${url}/console`, { headers: { accept: 'text/html' } });
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<title>')]);

    const place = path.join(folder, 'client');
    mkdirSync(place);
    writeFileSync(path.join(place, 'package.json'), '{"type": "module"}');
    const offline = { npm_config_cache: path.join(folder, 'cache'), npm_config_offline: 'true' };
    run('npm', ['install', path.join(release, `agent-engineering-platform-client-${version}.tgz`)], place, offline);
    const program = `import { createClient } from 'agent-engineering-platform-client';
      for await (const { name } of createClient({ url: '${url}', token: '${token}' }).projects()) console.log(name);`;
    expect(run(process.execPath, ['--input-type=module', '--eval', program], place)).toContain('Web shop\n');
    const aep = { ...offline, AEP_URL: url, AEP_TOKEN: token };
    expect(run('npx', ['--offline', 'aep', 'projects', 'list'], folder, aep)).toContain('Web shop');
  } finally {
    if (child.exitCode === null) {
      const ended = once(child, 'exit');
      process.kill(-child.pid!, 'SIGTERM');
      await ended;
    }
    removeInstallations();
  }
});

/** Removes the packages of the release that npx has installed. */
function removeInstallations(): void {
  const installed = path.join(run('npm', ['config', 'get', 'cache'], folder).trim(), '_npx');
  for (const name of readdirSync(installed)) {
    const manifest = path.join(installed, name, 'package.json');
    if (existsSync(manifest) && readFileSync(manifest, 'utf8').includes(path.basename(folder)))
      rmSync(path.join(installed, name), { recursive: true });
  }
}
