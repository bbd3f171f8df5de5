// `npm run release` in a checkout of its own: packages that install, a complete list of components, and signatures that other tools accept.
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, verify } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { projectFolder } from '../support/processes.ts';

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

it('a release has three packages, their components, signed provenance and signed checksums', {
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
  const listed = new Map(components.map(({ name, version }: Record<string, string>) => [name, version]));
  for (const [name, version] of Object.entries(dependencies)) expect([name, listed.get(name)]).toEqual([name, version]);
  expect(
    ['vitest', 'typescript', '@biomejs/biome'].filter((name) => name in devDependencies && !listed.has(name)),
  ).toHaveLength(3);

  writeFileSync(path.join(folder, 'package.json'), '{}');
  const npm = { npm_config_cache: path.join(folder, 'cache'), npm_config_offline: 'true' };
  run('npm', ['install', path.join(source, 'dist/release', packages[1]!)], folder, npm);
  expect(run('npx', ['--offline', 'aep', '--version'], folder, npm)).toContain(version);
});
