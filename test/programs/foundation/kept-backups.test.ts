// Backups as encrypted streams, and the folders or buckets that keep them: a backup is complete or absent.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type BackupPlace, backupNameOf, backupPlace } from '#foundation/backups/place.ts';
import { openBackup, sealBackup } from '#foundation/backups/sealed-backup.ts';
import { backupKeyId, bindSecretKey } from '#foundation/secrets/secrets.ts';
import { openS3, type S3 } from '../../support/fake-s3.ts';
import { projectFolder } from '../../support/processes.ts';

const home = mkdtempSync(path.join(tmpdir(), 'aep-backups-'));
const at = (name: string) => path.join(home, name);
const key = Buffer.alloc(32, 7);
bindSecretKey(key);
let s3: S3;
/** The stream of the folder `original`. */
let sealed: Buffer;

async function bytesOf(content: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}
async function* inPieces(bytes: Buffer, size: number) {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

beforeAll(async () => {
  s3 = await openS3();
  mkdirSync(at('original/data/pg_wal'), { recursive: true, mode: 0o700 });
  writeFileSync(at('original/data/PG_VERSION'), '17\n', { mode: 0o600 });
  writeFileSync(at('original/data/table'), randomBytes(60_000));
  sealed = await bytesOf(sealBackup(at('original'), new AbortController().signal));
});
afterAll(async () => {
  await s3.close();
  rmSync(home, { recursive: true });
});

it('an encrypted backup has the files, folders and modes of the original, in whatever pieces it arrives', async () => {
  for (const size of [13, 4_096, sealed.length]) {
    const target = at(`pieces-${size}`);
    await openBackup(inPieces(sealed, size), target);
    expect(readFileSync(path.join(target, 'data/table'))).toEqual(readFileSync(at('original/data/table')));
    expect(statSync(path.join(target, 'data/PG_VERSION')).mode & 0o777).toBe(0o600);
    expect(statSync(path.join(target, 'data/pg_wal')).isDirectory()).toBe(true);
  }
  expect(sealed.includes('PG_VERSION')).toBe(false);
});

it('an encrypted backup is refused when it is truncated, altered, encrypted with another key, or not a backup at all', async () => {
  const altered = (offset: number) => {
    const copy = Buffer.from(sealed);
    copy[offset]! ^= 1;
    return copy;
  };
  const refusalOf = (bytes: Buffer) =>
    openBackup(inPieces(bytes, 4_096), mkdtempSync(at('refused-'))).then(
      () => 'opened',
      ({ message }) => message,
    );
  const damaged = 'the backup is damaged or incomplete';
  for (const length of [sealed.length - 1, sealed.length - 16, 5_000, 100, 80])
    expect([length, await refusalOf(sealed.subarray(0, length))]).toEqual([length, damaged]);
  for (const offset of [sealed.length - 1, sealed.length - 20, 90, 5_000])
    expect([offset, await refusalOf(altered(offset))]).toEqual([offset, damaged]);
  expect(await refusalOf(Buffer.from('PK\u0003\u0004 and more\n'))).toBe('this is not a backup');
  expect(await refusalOf(Buffer.alloc(20_000, 'x'))).toBe('this is not a backup');
  expect(await refusalOf(Buffer.alloc(0))).toBe(damaged);
  bindSecretKey(Buffer.alloc(32, 8));
  expect(await refusalOf(sealed)).toBe('the backup is encrypted with another SECRET_KEY');
  bindSecretKey(key);
});

describe.each(['folder', 'bucket'] as const)('A %s of backups', (kind) => {
  let place: BackupPlace;
  const [first, second] = [0, 1].map((n) => backupNameOf(backupKeyId(), Date.UTC(2026, 10, 26, 9, n))) as [
    string,
    string,
  ];
  const everything = () =>
    kind === 'bucket'
      ? [...s3.objects.keys(), ...s3.uploads.keys()]
      : readdirSync(at('kept'), { recursive: true, encoding: 'utf8' });

  beforeAll(() => {
    place = backupPlace(kind === 'bucket' ? s3.url : pathToFileURL(at('kept')).href);
  });

  it('a place for backups lists complete backups, newest first, and returns and removes them', async () => {
    expect(await place.list()).toEqual([]);
    expect(await place.write(first, inPieces(sealed, 9_000))).toBe(sealed.length);
    await place.write(second, inPieces(sealed, 9_000));
    const bytes = sealed.length;
    expect(await place.list()).toEqual([
      { name: second, bytes },
      { name: first, bytes },
    ]);
    expect(await bytesOf((await place.read(first))!)).toEqual(sealed);
    await place.remove(first);
    expect(await place.list()).toEqual([{ name: second, bytes }]);
    expect(await place.read(first)).toBe(null);
  });

  it('a place for backups keeps nothing of a backup whose source fails', async () => {
    const before = everything();
    await expect(
      place.write(
        first,
        (async function* () {
          yield* inPieces(sealed, 9_000);
          throw new Error('the copy failed');
        })(),
      ),
    ).rejects.toThrow('the copy failed');
    expect(everything()).toEqual(before);
  });
});

it('a folder does not list a backup that was still being written when the process was killed', async () => {
  const [folder, name] = [at('killed'), backupNameOf(backupKeyId(), Date.UTC(2026, 10, 26, 10))];
  const place = backupPlace(pathToFileURL(folder).href);
  const module = pathToFileURL(path.join(projectFolder, 'src/foundation/backups/place.ts')).href;
  const program = `const { backupPlace } = await import('${module}');
    await backupPlace('${pathToFileURL(folder).href}').write('${name}', (async function* () { for (;;) yield Buffer.alloc(65536); })());`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', program], {
    cwd: projectFolder,
    stdio: 'ignore',
  });
  const partial = path.join(folder, `${name}.partial`);
  await vi.waitUntil(() => statSync(partial, { throwIfNoEntry: false })?.size);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await place.list()).toEqual([]);
  expect(await place.read(name)).toBe(null);
  await place.remove(name);
  expect(readdirSync(folder)).toEqual([]);
});
