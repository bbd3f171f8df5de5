// `npm run release`: writes the packages of a release into `dist/release`, with what a reader needs to check them. RELEASE_KEY names a file
// with an Ed25519 private key (PEM) that signs the provenance and the checksums; without it they are written unsigned.
import { execFileSync } from 'node:child_process';
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { signEnvelope } from '../src/foundation/merkle/envelope.ts';
import { output, root } from './output.ts';

const folder = path.join(output, 'release');
/** Packages of a release: the service, `aep` and the typed client. */
const packages = ['.', 'clients/cli', 'clients/typescript'];

const run = (program: string, args: string[], cwd = root): string => {
  const tools = `${path.join(root, 'node_modules/.bin')}${path.delimiter}${process.env.PATH}`;
  return execFileSync(program, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, PATH: tools },
    maxBuffer: 2 ** 26,
  });
};
const write = (name: string, text: string): void => writeFileSync(path.join(folder, name), text);
const sha256 = (file: string): string =>
  createHash('sha256')
    .update(readFileSync(path.resolve(folder, file)))
    .digest('hex');
const manifestOf = (place: string): { name: string; version: string } =>
  JSON.parse(readFileSync(path.join(root, place, 'package.json'), 'utf8'));

/** The version of all packages. @throws Error if they differ, or if a file is not committed */
function versionOf(): string {
  const changed = run('git', ['status', '--porcelain']);
  if (changed) throw new Error(`A release is made from a commit, and these files are not committed:\n${changed}`);
  const versions = new Set(packages.map((place) => manifestOf(place).version));
  if (versions.size > 1) throw new Error(`The packages have different versions: ${[...versions].join(', ')}.`);
  return [...versions][0]!;
}

interface Component {
  'bom-ref': string;
  scope?: string;
  properties?: { name: string; value: string }[];
}

/** Packages that npm installs with the service, and those in the bundles of the service, the console and `aep`, as `name@version`. */
function packagesOf(): Set<string> {
  const read = (file: string) => JSON.parse(readFileSync(path.join(root, file), 'utf8'));
  const installed = Object.entries<{ dev?: boolean; version: string }>(read('package-lock.json').packages).flatMap(
    ([place, { dev, version }]) => (dev ? [] : `${place.replace(/^.*node_modules\//, '')}@${version}`),
  );
  const bundled = ['dist/packages.json', 'clients/cli/dist/licenses.json']
    .flatMap<{ name: string; version: string }>(read)
    .map(({ name, version }) => `${name}@${version}`);
  return new Set([...installed, ...bundled]);
}

/**
 * Lists the packages that a release installs or contains in CycloneDX 1.5, with their licenses and hashes. The typed client has none.
 * `npm sbom` alone cannot do this: it describes the packages in the bundles of the console and of `aep` as development dependencies. If a
 * package is installed several times, it describes only the first copy, which may be a development dependency.
 */
function componentsOf(): string {
  const options = ['--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
  const document = JSON.parse(run('npm', ['sbom', ...options]));
  // npm names the component after the folder of the checkout.
  document.metadata.component.name = manifestOf('.').name;
  const released = packagesOf();
  const isMark = ({ name }: { name: string }) => name === 'cdx:npm:package:development';
  document.components = document.components
    .filter((one: Component) => released.has(one['bom-ref']))
    .map(({ properties = [], ...one }: Component) =>
      properties.some(isMark)
        ? { ...one, scope: 'required', properties: properties.filter((property) => !isMark(property)) }
        : { ...one, properties },
    );
  const listed = new Set([document.metadata.component, ...document.components].map((one: Component) => one['bom-ref']));
  document.dependencies = document.dependencies
    .filter(({ ref }: { ref: string }) => listed.has(ref))
    .map(({ ref, dependsOn }: { ref: string; dependsOn: string[] }) => ({
      ref,
      dependsOn: dependsOn.filter((other) => listed.has(other)),
    }));
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Provenance of the files, as an in-toto statement (https://slsa.dev/spec/v1.0/provenance). */
function provenanceOf(files: readonly string[], version: string, commit: string): string {
  const npm = run('npm', ['--version']).trim();
  return JSON.stringify({
    _type: 'https://in-toto.io/Statement/v1',
    subject: files.map((name) => ({ name, digest: { sha256: sha256(name) } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:agent-engineering-platform:release:1',
        externalParameters: { version },
        internalParameters: { node: process.version, npm },
        resolvedDependencies: [
          { name: 'source', digest: { gitCommit: commit } },
          { name: 'package-lock.json', digest: { sha256: sha256(path.join(root, 'package-lock.json')) } },
        ],
      },
      runDetails: {
        builder: { id: 'urn:agent-engineering-platform:npm-run-release' },
        metadata: { finishedOn: new Date().toISOString() },
      },
    },
  });
}

function signProvenance(payload: string, key: KeyObject): void {
  const payloadType = 'application/vnd.in-toto+json';
  const keyid = createHash('sha256')
    .update(createPublicKey(key).export({ type: 'spki', format: 'der' }))
    .digest('hex');
  write(
    'provenance.dsse.json',
    `${JSON.stringify(signEnvelope(payloadType, payload, { id: keyid, privateKey: key }))}\n`,
  );
}

const version = versionOf();
const commit = run('git', ['rev-parse', 'HEAD']).trim();
const keyFile = process.env.RELEASE_KEY;
const key = keyFile ? createPrivateKey(readFileSync(keyFile)) : undefined;
if (key && key.asymmetricKeyType !== 'ed25519') throw new Error('RELEASE_KEY must be an Ed25519 key.');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const place of packages) run('npm', ['pack', '--silent', '--pack-destination', folder], path.join(root, place));
write('sbom.cdx.json', componentsOf());
const files = readdirSync(folder).sort();
const provenance = provenanceOf(files, version, commit);
if (key) signProvenance(provenance, key);
else write('provenance.json', `${provenance}\n`);
const sums = readdirSync(folder)
  .sort()
  .map((name) => `${sha256(name)}  ${name}\n`)
  .join('');
write('SHA256SUMS', sums);
if (key) write('SHA256SUMS.sig', sign(null, Buffer.from(sums), key).toString('base64'));
console.log(`Release ${version} of ${commit}${key ? '' : ', unsigned'}:`);
for (const name of readdirSync(folder)) console.log(path.relative(root, path.join(folder, name)));
