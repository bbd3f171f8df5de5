// Uploads of contents to signed addresses: streamed, stored once, by one sender at a time; a failed upload leaves nothing behind and
// can be repeated.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type ClientRequest, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { contentAddress } from '#domain/work/artifacts/address.ts';
import {
  claimContent,
  type ReservedContent,
  reserveContent,
  storeContent,
  sweepArtifacts,
} from '#domain/work/artifacts/content.ts';
import { Artifact } from '#domain/work/artifacts/model.ts';
import { days, minutes, seconds } from '#foundation/clock.ts';
import { type Exchange, readBody } from '#foundation/http/http.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { folderStorage } from '#foundation/storage/folder.ts';
import { bucketStorage, readBucket } from '#foundation/storage/s3.ts';
import { openStorage, type Storage } from '#foundation/storage/storage.ts';
import { maxPerOrganization } from '#surfaces/artifacts/upload.ts';
import { createCallersWithProjects } from '../support/callers.ts';
import { openS3, type S3 } from '../support/fake-s3.ts';
import { noteArtifact, type Place } from '../support/runtime-records.ts';
import { openWorld, present, type World } from '../support/world.ts';

let world: World;
/** Errors in the log. */
const faults: string[] = [];
let folder: string;
let storage: Storage;
let s3: S3;
let shop: Place;
let foreign: Place;

beforeAll(async () => {
  world = await openWorld({ log: (line) => line.includes('"msg":"request failed"') && faults.push(line) });
  folder = mkdtempSync(path.join(tmpdir(), 'aep-uploads-'));
  storage = folderStorage(folder);
  openStorage(storage);
  s3 = await openS3();
  ({ shop, foreign } = await createCallersWithProjects(world));
});
afterEach(() => openStorage(storage));
afterAll(async () => {
  await world.close();
  await s3.close();
  rmSync(folder, { recursive: true });
});

const reserve = (): Promise<ReservedContent> => reserveContent(shop.orgId);
const put = (address: string, body: string | Uint8Array = '', headers: Record<string, string> = {}) =>
  world.request('PUT', address.slice(world.url.length), { body, headers });
const rowOf = ({ contentKey }: ReservedContent) => world.knex('storedContents').where({ key: contentKey }).first();
const until = async (met: () => Promise<boolean> | boolean): Promise<void> => {
  while (!(await met())) await new Promise(setImmediate);
};
const files = () =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(path.join(folder, name)).isFile(),
  );
async function contentOf({ contentKey }: ReservedContent): Promise<string | null> {
  const content = await storage.read(contentKey);
  return content && Buffer.concat(await content.toArray()).toString();
}

/** A request that is sent in parts, and its answer. */
function begin(address: string, headers: Record<string, string | number> = {}, method = 'PUT') {
  const sending = request(address, { method, headers, agent: false });
  const answer = new Promise<{ status: number; headers: Record<string, unknown>; body: string }>((resolve, reject) => {
    sending.on('error', reject);
    sending.on('response', async (response) => {
      const body = Buffer.concat(await response.toArray()).toString();
      resolve({ status: response.statusCode!, headers: response.headers, body });
    });
  });
  return { sending, answer };
}
const written = (sending: ClientRequest, chunk: string): Promise<void> =>
  new Promise((resolve) => sending.write(chunk, () => resolve()));

/** An upload whose first bytes have arrived in the storage. */
async function beginUpload(content: ReservedContent, first = 'first ') {
  const begun = begin(content.uploadUrl);
  begun.sending.write(first);
  const isIt = (name: string) =>
    name.includes(content.contentKey) && statSync(path.join(folder, name)).size === first.length;
  await until(() => files().some(isIt));
  return begun;
}

describe('PUT /artifacts/uploads/{contentKey}', () => {
  it('201 · keeps the bytes unchanged, and requires no credential', async () => {
    const content = await reserve();
    expect(content).toEqual({
      contentKey: expect.stringMatching(/^cnt_/),
      uploadUrl: expect.stringMatching(
        new RegExp(
          `^${world.url}/artifacts/uploads/${content.contentKey}\\?expires=${content.expiresAt}&signature=[\\w-]{43}$`,
        ),
      ),
      expiresAt: present() + minutes(15),
    });
    const answer = await put(content.uploadUrl, 'proof', {
      'content-type': 'image/png',
      'content-encoding': 'identity',
    });
    expect([answer.status, answer.body, answer.headers.get('cache-control')]).toEqual([
      201,
      { contentKey: content.contentKey, sizeBytes: 5 },
      'no-store',
    ]);
    expect(await contentOf(content)).toBe('proof');
    expect(await rowOf(content)).toEqual({
      key: content.contentKey,
      orgId: shop.orgId,
      createdAt: present(),
      sizeBytes: 5,
      uploadingUntil: null,
    });
  });

  it('201 · stores empty content', async () => {
    for (const headers of [{ 'content-length': 0 }, {}] as Record<string, number>[]) {
      const content = await reserve();
      const { sending, answer } = begin(content.uploadUrl, headers);
      sending.end();
      const { contentKey } = content;
      expect(JSON.parse((await answer).body)).toEqual({ contentKey, sizeBytes: 0 });
      expect(await contentOf(content)).toBe('');
    }
  });

  it('409 · refuses a second upload; the stored content stays', async () => {
    const content = await reserve();
    await put(content.uploadUrl, 'one');
    const { status, body } = await put(content.uploadUrl, 'other');
    expect([status, body.description]).toEqual([
      409,
      'This content has been uploaded already: an address accepts one upload.',
    ]);
    expect(await contentOf(content)).toBe('one');
  });

  it('403 · refuses an address that is expired to the millisecond, forged, altered, of another content, or for another purpose', async () => {
    const [content, other] = [await reserve(), await reserve()];
    const [bare, query] = content.uploadUrl.split('?') as [string, string];
    world.clock.turn(minutes(15) - 1);
    const artifact = await noteArtifact(shop);
    const refused = await put(bare, 'x');
    expect([refused.status, refused.body.description]).toEqual([
      403,
      'This address is invalid or expired: createArtifactUpload returns a new one.',
    ]);
    for (const address of [
      `${bare}?expires=${content.expiresAt}`,
      `${bare}?${query.replace(/expires=\d+/, `expires=${present() + minutes(99)}`)}`,
      `${bare}?${query.slice(0, -5)}AAAAA`,
      `${other.uploadUrl.split('?')[0]}?${query}`,
      `${world.url}/artifacts/uploads/cnt_none?${query}`,
    ]) {
      const { status, body } = await put(address, 'x');
      expect([status, body]).toEqual([403, refused.body]);
    }
    expect((await world.request('GET', `/artifacts/${artifact.id}/content?${query}`)).status).toBe(403);
    expect((await put(content.uploadUrl, 'in time')).status).toBe(201);
    world.clock.turn(1);
    expect((await put(other.uploadUrl, 'late')).body).toEqual(refused.body);
    expect(await contentOf(other)).toBe(null);
  });

  it('405 · refuses every method except PUT', async () => {
    const { uploadUrl } = await reserve();
    for (const method of ['GET', 'POST', 'DELETE']) {
      const answer = await world.request(method, uploadUrl.slice(world.url.length));
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'PUT']);
    }
  });

  it.each<[string, Record<string, string>, number, string]>([
    [
      'compressed content',
      { 'content-encoding': 'gzip' },
      415,
      'Content-Encoding: must be absent: send the content without a content coding.',
    ],
    [
      'a part of the content',
      { 'content-range': 'bytes 0-2/9' },
      400,
      'Content-Range: must be absent: the content is sent as a whole.',
    ],
  ])('4xx · refuses %s', async (_what, headers, status, words) => {
    const content = await reserve();
    const answer = await put(content.uploadUrl, 'abc', headers);
    expect([answer.status, answer.body.description]).toEqual([status, words]);
    expect((await put(content.uploadUrl, 'abc')).status).toBe(201);
  });

  it('413 · refuses content that is announced as too large before its first byte is sent', async () => {
    const content = await reserve();
    const { sending, answer } = begin(content.uploadUrl, { 'content-length': 512 * 1024 * 1024 + 1 });
    sending.flushHeaders();
    const { status, body } = await answer;
    expect([status, JSON.parse(body).description]).toEqual([413, 'The body is limited to 536870912 bytes.']);
    sending.destroy();
    expect((await rowOf(content)).uploadingUntil).toBe(null);
  });

  it('413 · refuses content that turns out to be too large during the upload, and keeps nothing', async () => {
    const before = files();
    openStorage({ ...storage, write: (key, content) => storage.write(key, content, 100_000) });
    const content = await reserve();
    const { sending, answer } = begin(content.uploadUrl);
    let answered = false;
    void answer.then(() => {
      answered = true;
    });
    while (!answered) {
      sending.write(Buffer.alloc(50_000));
      await new Promise(setImmediate);
    }
    sending.destroy();
    const { status, body } = await answer;
    expect([status, JSON.parse(body).description]).toEqual([413, 'The body is limited to 100000 bytes.']);
    expect([files(), (await rowOf(content)).uploadingUntil]).toEqual([before, null]);
  });

  it('404 · refuses bytes for content that no longer exists', async () => {
    const content = await reserve();
    await world.knex('storedContents').where({ key: content.contentKey }).delete();
    expect((await put(content.uploadUrl, 'x')).body.description).toBe('No such content.');
  });

  it('502 · is refused while the bucket is missing, which only the log says; once it exists, the same address works', async () => {
    const content = await reserve();
    const bucket = readBucket(s3.url)!;
    openStorage(bucketStorage({ ...bucket, name: 'nowhere' }));
    const large = Buffer.alloc(6_000_000, 'abc');
    const { status, body } = await put(content.uploadUrl, large);
    expect([status, body.code]).toEqual([502, 'upstream_failed']);
    expect(faults.splice(0)).toEqual([
      expect.stringContaining('NoSuchBucket (404): The specified bucket does not exist'),
    ]);
    openStorage(bucketStorage(bucket));
    expect((await put(content.uploadUrl, large)).body.sizeBytes).toBe(6_000_000);
    const artifact = await noteArtifact(shop, { contentKey: content.contentKey, sizeBytes: 6_000_000 });
    const { pathname, search } = new URL(contentAddress(artifact.id));
    const part = await world.request('GET', pathname + search, { headers: { range: 'bytes=5999997-' } });
    expect([part.status, part.body, s3.uploads.size]).toEqual([206, 'abc', 0]);
    expect((await world.request('GET', pathname + search)).body.length).toBe(6_000_000);
  });
});

describe('concurrent and slow uploads', () => {
  it('201, 409 · to one address: one is stored, and the others are refused', async () => {
    const content = await reserve();
    const texts = Array.from({ length: maxPerOrganization }, (_, i) => `${i}`.repeat(50_000));
    const answers = await Promise.all(texts.map((text) => put(content.uploadUrl, text)));
    const stored = answers.findIndex(({ status }) => status === 201);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(texts.length - 1);
    expect(await contentOf(content)).toBe(texts[stored]);
  });

  it('503 · beyond the organization’s share are refused, while another organization is served', async () => {
    const contents = await Promise.all(Array.from({ length: maxPerOrganization }, reserve));
    const begun = await Promise.all(contents.map((content) => beginUpload(content)));
    const beyond = await reserve();
    const { status, body, headers } = await put(beyond.uploadUrl, 'one more');
    expect([status, body.retryable, headers.get('retry-after')]).toEqual([503, true, '2']);
    expect(body.description).toContain(`may send ${maxPerOrganization} at once`);
    expect((await put((await reserveContent(foreign.orgId)).uploadUrl, 'elsewhere')).status).toBe(201);
    for (const { sending } of begun) sending.end('and last');
    expect(new Set((await Promise.all(begun.map(({ answer }) => answer))).map((one) => one.status))).toEqual(
      new Set([201]),
    );
    expect((await put(beyond.uploadUrl, 'one more')).status).toBe(201);
  });

  it('409 · of the same content are told when to retry while one is running, which is not disturbed', async () => {
    const content = await reserve();
    const { sending, answer } = await beginUpload(content);
    const { status, body, headers } = await put(content.uploadUrl, 'second');
    expect([status, body.description, headers.get('retry-after')]).toEqual([
      409,
      'This content is being uploaded right now.',
      '120',
    ]);
    sending.end('and last');
    expect((await answer).status).toBe(201);
    expect(await contentOf(content)).toBe('first and last');
  });

  it('keep their reservation while they still send data, however slowly', async () => {
    const content = await reserve();
    const { sending, answer } = await beginUpload(content);
    for (let i = 0; i < 5; i++) {
      world.clock.turn(seconds(100));
      await written(sending, 'and on ');
      await until(async () => (await rowOf(content)).uploadingUntil === present() + minutes(2));
      if (i === 0) expect((await put(content.uploadUrl, 'second')).status).toBe(409);
    }
    sending.end();
    expect([(await answer).status, (await contentOf(content))!.length]).toEqual([201, 41]);
  });

  it('leave nothing behind when interrupted, can be repeated at once, and are not logged as errors', async () => {
    const before = files();
    const content = await reserve();
    for (const headers of [{}, { 'content-length': 1_000 }] as Record<string, number>[]) {
      const { sending, answer } = begin(content.uploadUrl, headers);
      await written(sending, 'half');
      await until(async () => (await rowOf(content)).uploadingUntil !== null);
      sending.destroy();
      await expect(answer).rejects.toThrow('socket hang up');
      await until(async () => (await rowOf(content)).uploadingUntil === null);
      expect(files()).toEqual(before);
    }
    expect((await put(content.uploadUrl, 'whole')).status).toBe(201);
    expect([await contentOf(content), faults]).toEqual(['whole', []]);
  });

  it('block others for two minutes at most when their process was killed', async () => {
    const content = await reserve();
    const left = { uploadingUntil: present() + minutes(2) };
    await world.knex('storedContents').where({ key: content.contentKey }).update(left);
    mkdirSync(path.join(folder, 'unfinished'), { recursive: true });
    writeFileSync(path.join(folder, 'unfinished', `${content.contentKey}.0123456789ab`), 'half');
    world.clock.turn(minutes(2) - 1);
    const { status, headers } = await put(content.uploadUrl, 'again');
    expect([status, headers.get('retry-after')]).toEqual([409, '1']);
    world.clock.turn(1);
    expect((await put(content.uploadUrl, 'again')).status).toBe(201);
    expect(await contentOf(content)).toBe('again');
    await storage.remove(content.contentKey);
    expect(files().filter((name) => name.includes(content.contentKey))).toEqual([]);
  });

  it('409 · do not mix their bytes when one resumes after another took over', async () => {
    for (const second of ['finished', 'in progress'] as const) {
      const content = await reserve();
      const first = await beginUpload(content);
      world.clock.turn(minutes(2));
      const other = await beginUpload(content, 'second ');
      const finish = async () => {
        other.sending.end('whole');
        expect((await other.answer).status).toBe(201);
      };
      if (second === 'finished') await finish();
      first.sending.end('late');
      const { status, body } = await first.answer;
      expect([status, JSON.parse(body).description]).toEqual([
        409,
        'This upload sent nothing for too long, and another upload of the content has started.',
      ]);
      if (second === 'in progress') await finish();
      expect(await contentOf(content)).toBe('second whole');
      expect(await rowOf(content)).toMatchObject({ sizeBytes: 12, uploadingUntil: null });
    }
  });

  it('end like interrupted ones when they send nothing for a minute', async () => {
    const content = await reserve();
    const before = files();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { answer } = await beginUpload(content);
      const failed = answer.catch((error: Error) => error.message);
      await until(() => vi.getTimerCount() > 0);
      vi.advanceTimersByTime(seconds(60) - 1);
      expect((await rowOf(content)).uploadingUntil).not.toBe(null);
      vi.advanceTimersByTime(1);
      expect(await failed).toBe('socket hang up');
    } finally {
      vi.useRealTimers();
    }
    await until(async () => (await rowOf(content)).uploadingUntil === null);
    expect([files(), faults]).toEqual([before, []]);
  });

  it('400 · may take longer than a minute, unlike any other body', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let reading: Promise<unknown> | undefined;
    const server = createServer((req) => {
      reading = readBody({ req } as Exchange, 100).catch((error) => error);
    });
    try {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { sending, answer } = begin(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {}, 'POST');
      const failed = answer.catch((error: Error) => error.message);
      sending.write('{');
      await until(() => reading !== undefined);
      for (const wait of [seconds(60) - 1, 1]) {
        expect(vi.getTimerCount()).toBe(1);
        vi.advanceTimersByTime(wait);
      }
      expect(await failed).toBe('socket hang up');
      expect(await reading).toMatchObject({ status: 400, message: 'The body did not arrive in time.' });
    } finally {
      vi.useRealTimers();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('are streamed: the memory in use does not grow with the content', async () => {
    const content = await reserve();
    let [sent, most] = [0, 0];
    const chunk = Buffer.alloc(65_536, 7);
    openStorage({
      ...storage,
      write: (key, arriving, maxBytes) =>
        storage.write(
          key,
          (async function* () {
            let arrived = 0;
            for await (const bytes of arriving) {
              arrived += bytes.length;
              most = Math.max(most, sent - arrived);
              yield bytes;
            }
          })(),
          maxBytes,
        ),
    });
    const { sending, answer } = begin(content.uploadUrl);
    await pipeline(
      Readable.from(
        (function* () {
          for (let i = 0; i < 1_024; i++) {
            sent += chunk.length;
            yield chunk;
          }
        })(),
      ),
      sending,
    );
    expect(JSON.parse((await answer).body).sizeBytes).toBe(64 * 1024 * 1024);
    // Most of the content waits in the system's sockets.
    expect(most).toBeLessThan(16 * 1024 * 1024);
  });
});

it('an upload that is never registered is removed after a day; one that cannot be removed keeps its row and is retried', async () => {
  await world.knex('storedContents').whereNotIn('key', world.knex('artifacts').select('contentKey')).delete();
  const [one, stuck, never] = [await reserve(), await reserve(), await reserve()];
  for (const content of [one, stuck]) await put(content.uploadUrl, 'x');
  const keys = async () =>
    (
      await world.knex('storedContents').whereIn(
        'key',
        [one, stuck, never].map(({ contentKey }) => contentKey),
      )
    ).map(({ key }) => key);
  world.clock.turn(days(1));
  openStorage({
    ...storage,
    remove: (key) => (key === stuck.contentKey ? Promise.reject(new Error('refused')) : storage.remove(key)),
  });
  await expect(sweepArtifacts()).rejects.toThrow('refused');
  expect([await keys(), await contentOf(one), await contentOf(stuck)]).toEqual([[stuck.contentKey], null, 'x']);
  openStorage(storage);
  await sweepArtifacts();
  expect([await keys(), await contentOf(stuck)]).toEqual([[], null]);
});

describe('assigning content to an artifact', () => {
  const claim = (contentKey: string, orgId = shop.orgId) => transaction((trx) => claimContent(trx, orgId, contentKey));

  it('returns its size, to its own organization only, once all of it has arrived', async () => {
    const content = await reserve();
    const notYet = { status: 409, message: 'contentKey: this content has not been uploaded yet.' };
    await expect(claim(content.contentKey)).rejects.toMatchObject(notYet);
    const { sending, answer } = await beginUpload(content);
    await expect(claim(content.contentKey)).rejects.toMatchObject(notYet);
    sending.end();
    await answer;
    expect(await claim(content.contentKey)).toEqual({ sizeBytes: 6 });
    const unknown = { status: 404, message: 'No such content.' };
    await expect(claim(content.contentKey, foreign.orgId)).rejects.toMatchObject(unknown);
    await expect(claim('cnt_none')).rejects.toMatchObject(unknown);
    const { key } = await storeContent([Buffer.from('the service’s own')] as never);
    await expect(claim(key)).rejects.toMatchObject(unknown);
  });

  it('409 · is refused for the second of two concurrent registrations', async () => {
    const content = await reserve();
    await put(content.uploadUrl, 'x');
    const register = () =>
      transaction(async (trx) => {
        const { sizeBytes } = await claimContent(trx, shop.orgId, content.contentKey);
        const template = await Artifact.query(trx).findById((await noteArtifact(shop)).id);
        const { contentKey } = content;
        await Artifact.query(trx).insert({ ...template, id: `art_${Math.random()}`, contentKey, sizeBytes });
      }).then(
        () => 'registered',
        (error) => error.message,
      );
    expect((await Promise.all([register(), register()])).sort()).toEqual([
      'contentKey: an artifact has this content already.',
      'registered',
    ]);
  });
});
