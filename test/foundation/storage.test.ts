// The storage, in a folder and in a bucket: contents exist whole or not at all, and stay within their folder or prefix.
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { folderStorage } from '#foundation/storage/folder.ts';
import { type BucketStorage, bucketStorage, readBucket } from '#foundation/storage/s3.ts';
import type { Storage } from '#foundation/storage/storage.ts';
import { openS3, type S3 } from '../support/fake-s3.ts';

let home: string;
let s3: S3;
const stores = {} as { folder: Storage; bucket: BucketStorage };

beforeAll(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'aep-storage-'));
  s3 = await openS3();
  stores.folder = folderStorage(path.join(home, 'not', 'yet'));
  stores.bucket = bucketStorage(readBucket(s3.url)!);
});
afterAll(async () => {
  rmSync(home, { recursive: true });
  await s3.close();
});

const MiB = 1024 * 1024;
async function* chunks(...parts: (string | Buffer)[]) {
  for (const part of parts) yield Buffer.from(part as string);
}
/** Yields the given number of mebibytes, in chunks of the size that sockets deliver. Each mebibyte is filled with another byte value. */
async function* mebibytes(count: number, then: () => void = () => {}) {
  for (let i = 0; i < count * 16; i++) yield Buffer.alloc(MiB / 16, Math.floor(i / 16));
  then();
}
const goesDead = () => {
  throw new Error('the line went dead');
};
async function bytesOf(content: Readable | null): Promise<Buffer | null> {
  if (!content) return null;
  const parts: Buffer[] = [];
  for await (const part of content) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
const textOf = async (content: Promise<Readable | null>) => (await bytesOf(await content))?.toString() ?? null;
const files = () =>
  readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(path.join(home, name)).isFile());
/** Names of everything in the folder and in the bucket, including incomplete uploads. */
const kept = () => [...files(), ...s3.objects.keys(), ...s3.uploads.keys()];

describe.each(['folder', 'bucket'] as const)('storage in a %s', (kind) => {
  let storage: Storage;
  beforeAll(() => {
    storage = stores[kind];
  });

  test('the storage returns content unchanged, whole or in a range', async () => {
    expect(await storage.write('cnt_1', chunks('Hello', ', ', 'world'), 100)).toBe(12);
    expect(await textOf(storage.read('cnt_1'))).toBe('Hello, world');
    expect(await textOf(storage.read('cnt_1', { first: 7, last: 8 }))).toBe('wo');
    expect(await textOf(storage.read('cnt_1', { first: 11, last: 11 }))).toBe('d');
  });

  test('the storage returns large content, up to the largest allowed size', async () => {
    expect(await storage.write('cnt_large', mebibytes(12), 12 * MiB)).toBe(12 * MiB);
    const bytes = (await bytesOf(await storage.read('cnt_large')))!;
    expect([bytes.length, bytes[0], bytes[5 * MiB - 1], bytes[5 * MiB], bytes.at(-1)]).toEqual([12 * MiB, 0, 4, 5, 11]);
    const part = (await bytesOf(await storage.read('cnt_large', { first: 6 * MiB - 1, last: 6 * MiB })))!;
    expect([...part]).toEqual([5, 6]);
  });

  test('the storage accepts empty content', async () => {
    expect(await storage.write('cnt_2', chunks(), 0)).toBe(0);
    expect(await textOf(storage.read('cnt_2'))).toBe('');
  });

  test('the storage leaves nothing behind after a failed or oversized write, and accepts the largest size', async () => {
    const before = kept();
    const broken = [chunks('half'), mebibytes(3), mebibytes(5), mebibytes(11), mebibytes(13)].map((begun) =>
      (async function* () {
        yield* begun;
        goesDead();
      })(),
    );
    for (const content of broken) {
      await expect(storage.write('cnt_3', content, 100 * MiB)).rejects.toThrow('the line went dead');
    }
    await expect(storage.write('cnt_3', chunks('12', '345'), 4)).rejects.toMatchObject({ status: 413 });
    await expect(storage.write('cnt_3', mebibytes(13), 12 * MiB)).rejects.toMatchObject({ status: 413 });
    expect(await storage.read('cnt_3')).toBe(null);
    expect(kept()).toEqual(before);
    expect(await storage.write('cnt_3', chunks('12', '34'), 4)).toBe(4);
  });

  test('the storage hides content until it is complete; of two concurrent writes, only one is stored, and completely', async () => {
    let proceed = () => {};
    const gate = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    async function* slowly() {
      yield* mebibytes(6);
      await gate;
      yield Buffer.from('slow');
    }
    const writing = storage.write('cnt_4', slowly(), 100 * MiB);
    expect(await storage.read('cnt_4')).toBe(null);
    await storage.write('cnt_4', chunks('quick'), 100);
    expect(await textOf(storage.read('cnt_4'))).toBe('quick');
    proceed();
    await writing;
    expect((await bytesOf(await storage.read('cnt_4')))!.length).toBe(6 * MiB + 4);
  });

  test('the storage removes content permanently, including unfinished writes, and accepts a repeated removal', async () => {
    const before = kept();
    await storage.write('cnt_5', chunks('x'), 100);
    let breakOff = () => {};
    const gate = new Promise<void>((resolve) => {
      breakOff = resolve;
    });
    async function* stuck() {
      yield* mebibytes(6);
      await gate;
      goesDead();
    }
    const writing = storage.write('cnt_5', stuck(), 100 * MiB);
    while (kept().length < before.length + 2) await new Promise(setImmediate);
    await storage.remove('cnt_5');
    await storage.remove('cnt_5');
    expect(await storage.read('cnt_5')).toBe(null);
    expect(kept()).toEqual(before);
    breakOff();
    await expect(writing).rejects.toThrow('the line went dead');
    expect(kept()).toEqual(before);
  });

  test.each(['', 'ab', '../secret', 'a/../../b', 'a\0b', 'x'.repeat(201)])(
    'the storage refuses %j as a key',
    async (key) => {
      await expect(storage.read(key)).rejects.toThrow('is not a valid storage key');
      await expect(storage.write(key, chunks('x'), 1)).rejects.toThrow('is not a valid storage key');
      await expect(storage.remove(key)).rejects.toThrow('is not a valid storage key');
    },
  );
});

test('stored files are readable by their owner only', () => {
  const file = files().find((name) => name.endsWith('cnt_1'))!;
  expect(file).toBe(path.join('not', 'yet', '_1', 'cnt_1'));
  expect(statSync(path.join(home, file)).mode & 0o777).toBe(0o600);
});

test.skipIf(!existsSync('/dev/full'))(
  '503 · a write to a full disk fails and leaves nothing behind, and a later write succeeds',
  async () => {
    const full = await open('/dev/full', 'w');
    const files = Object.getPrototypeOf(full) as FileHandle;
    const { writeFile } = files;
    // The write goes to /dev/full, so it fails as on a full disk although no disk is full.
    const writing = vi.spyOn(files, 'writeFile').mockImplementationOnce((data) => writeFile.call(full, data));
    const upload = () => stores.folder.write('cnt_full', chunks('Hello'), 100);
    await expect(upload()).rejects.toMatchObject({
      status: 503,
      body: { retryable: true },
      cause: { code: 'ENOSPC', syscall: 'write' },
    });
    expect(kept().filter((name) => name.includes('cnt_full'))).toEqual([]);
    expect(await upload()).toBe(5);
    await stores.folder.remove('cnt_full');
    writing.mockRestore();
    await full.close();
  },
);

describe('a bucket', () => {
  // The AWS client waits for a random time before each retry: here, for none.
  beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0));
  afterEach(() => {
    vi.restoreAllMocks();
    s3.heal();
  });
  /** Waits until `work` fails. Returns the status, which the caller sees, and the message of the cause, which is logged. */
  const met = async (work: Promise<unknown>) => {
    const problem = await work.then(
      () => null,
      (error) => error,
    );
    return [problem?.status, problem?.cause?.message];
  };

  test('a bucket stores contents below its prefix: small ones in one request, and large ones in parts, a few at a time', async () => {
    s3.asked.length = 0;
    s3.load.most = 0;
    await stores.bucket.write('cnt_6', chunks('small'), 100);
    await stores.bucket.write('cnt_7', mebibytes(12), 100 * MiB);
    expect([s3.objects.has('proofs/kept/here/cnt_6'), s3.objects.has('proofs/kept/here/cnt_7')]).toEqual([true, true]);
    expect(s3.load.most).toBeLessThanOrEqual(2);
    const parts = ['UploadPart', 'UploadPart', 'UploadPart'];
    expect(s3.asked).toEqual(['PutObject', 'CreateMultipartUpload', ...parts, 'CompleteMultipartUpload']);
  });

  test('the storage in a bucket retries brief failures of reads, of small writes, and of one part of a large write', async () => {
    s3.fail('PutObject', 503, 'SlowDown');
    expect(await stores.bucket.write('cnt_8', chunks('again'), 100)).toBe(5);
    s3.fail('UploadPart', 500, 'InternalError', 2);
    expect(await stores.bucket.write('cnt_8', mebibytes(6), 100 * MiB)).toBe(6 * MiB);
    s3.fail('GetObject', 500, 'InternalError');
    expect((await bytesOf(await stores.bucket.read('cnt_8')))!.length).toBe(6 * MiB);
  });

  test('503 · the storage in a bucket gives up after repeated failures, and leaves nothing behind', async () => {
    const where = `bucket proofs at ${s3.endpoint}`;
    s3.fail('UploadPart', 503, 'SlowDown', 9);
    expect(await met(stores.bucket.write('cnt_9', mebibytes(12), 100 * MiB))).toEqual([
      503,
      `${where}: SlowDown (503): This is SlowDown.`,
    ]);
    expect([s3.uploads.size, await stores.bucket.read('cnt_9')]).toEqual([0, null]);
    s3.heal();
    s3.fail('GetObject', 500, 'InternalError', 3);
    expect(await met(stores.bucket.read('cnt_8'))).toEqual([
      503,
      `${where}: InternalError (500): This is InternalError.`,
    ]);
  });

  test('the storage in a bucket reports that the content broke off during a write, even if the bucket refuses to remove the parts already sent; removing the key later also removes these parts', async () => {
    s3.fail('AbortMultipartUpload', 403, 'AccessDenied');
    const broken = stores.bucket.write('cnt_10', mebibytes(12, goesDead), 100 * MiB);
    await expect(broken).rejects.toThrow('the line went dead');
    expect(s3.uploads.size).toBe(1);
    await stores.bucket.remove('cnt_10');
    expect(s3.uploads.size).toBe(0);
  });

  test('502 · a write that the bucket refuses leaves nothing half written; only the log has the reason', async () => {
    s3.fail('CompleteMultipartUpload', 403, 'AccessDenied');
    const problem = await stores.bucket.write('cnt_11', mebibytes(6), 100 * MiB).catch((error) => error);
    expect([problem.status, problem.body]).toEqual([
      502,
      {
        category: 'infrastructure',
        title: 'Upstream failed',
        description: 'The content storage rejected the request. The operator must correct its settings.',
        retryable: true,
        code: 'upstream_failed',
      },
    ]);
    expect(problem.cause.message).toContain('AccessDenied (403)');
    expect([s3.uploads.size, await stores.bucket.read('cnt_11')]).toEqual([0, null]);
  });

  test('502 · the error of a bucket says whether the bucket is missing, the key is unknown or the signature is wrong', async () => {
    const other = (change: object) => bucketStorage({ ...readBucket(s3.url)!, ...change });
    expect(await met(other({ name: 'nowhere' }).check())).toEqual([
      502,
      `bucket nowhere at ${s3.endpoint}: NoSuchBucket (404): The specified bucket does not exist`,
    ]);
    const nowhere = other({ name: 'nowhere' });
    const uses = [nowhere.read('cnt_1'), nowhere.remove('cnt_1'), nowhere.write('cnt_1', chunks('x'), 9)];
    expect((await Promise.all(uses.map(met))).map(([status]) => status)).toEqual([502, 502, 502]);
    process.env.AWS_ACCESS_KEY_ID = 'AKOTHER';
    expect((await met(other({}).read('cnt_1')))[1]).toContain('InvalidAccessKeyId (403)');
    process.env.AWS_ACCESS_KEY_ID = s3.credentials.accessKeyId;
    process.env.AWS_SECRET_ACCESS_KEY = 'another';
    expect((await met(other({}).check()))[1]).toContain('SignatureDoesNotMatch (403)');
    process.env.AWS_SECRET_ACCESS_KEY = s3.credentials.secretAccessKey;
    await other({}).check();
  });

  test('503 · a bucket is unavailable while nothing listens at its address', async () => {
    const gone = bucketStorage({ ...readBucket(s3.url)!, endpoint: 'http://127.0.0.1:9' });
    const [status, reason] = await met(gone.check());
    expect(status).toBe(503);
    expect(reason).toContain('bucket proofs at http://127.0.0.1:9: ');
    expect(reason).toContain('ECONNREFUSED');
  });
});

describe('the URL of a bucket in the settings', () => {
  const amazon = { name: 'proofs', prefix: '', region: undefined, endpoint: undefined, pathStyle: false };
  test.each<[string, object]>([
    ['s3://proofs', amazon],
    ['s3://proofs/', amazon],
    ['s3://proofs/a/b/', { ...amazon, prefix: 'a/b' }],
    ['s3://proofs?region=eu-central-1', { ...amazon, region: 'eu-central-1' }],
    ['s3://my.proofs-1/x?path-style=on', { ...amazon, name: 'my.proofs-1', prefix: 'x', pathStyle: true }],
    [
      's3://proofs?endpoint=https://minio.example:9000',
      { ...amazon, region: 'us-east-1', endpoint: 'https://minio.example:9000', pathStyle: true },
    ],
    [
      's3://proofs?endpoint=https%3A%2F%2Fr2.example&region=auto&path-style=off',
      { ...amazon, region: 'auto', endpoint: 'https://r2.example' },
    ],
  ])('%s is accepted', (address, bucket) => {
    expect(readBucket(address)).toEqual(bucket);
  });

  test.each([
    'proofs',
    'https://proofs',
    's3:proofs',
    's3://',
    's3:///prefix',
    's3://Proofs',
    's3://pr',
    's3://proofs:9000',
    's3://key:secret@proofs',
    's3://proofs#x',
    's3://proofs/a//b',
    's3://proofs/a%20b',
    's3://proofs?path-style=yes',
    's3://proofs?pathStyle=on',
    's3://proofs?region=',
    's3://proofs?region=a&region=b',
    's3://proofs?region=eu/1',
  ])('%s is refused', (address) => {
    expect(readBucket(address)).toBe(null);
  });
});
