// Uploads of artifacts that are concurrent, slow, interrupted or large.
import { mkdirSync, writeFileSync } from 'node:fs';
import { type ClientRequest, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { reserveContent } from '#domain/work/artifacts/content.ts';
import { minutes, seconds } from '#foundation/clock.ts';
import { type Exchange, readBody } from '#foundation/http/http.ts';
import { openStorage } from '#foundation/storage/storage.ts';
import { maxPerOrganization } from '#surfaces/artifacts/upload.ts';
import { begin, openUploadWorld, until } from '../support/upload-world.ts';
import { present } from '../support/world.ts';

const { world, faults, folder, storage, foreign, reserve, put, rowOf, files, contentOf, beginUpload, close, check } =
  await openUploadWorld();
afterAll(close);
afterEach(check);

const written = (sending: ClientRequest, chunk: string): Promise<void> =>
  new Promise((resolve) => sending.write(chunk, () => resolve()));

describe('Concurrent and slow uploads', () => {
  it('201, 409 · only one of several concurrent uploads to one URL is stored, and the others are refused', async () => {
    const content = await reserve();
    const texts = Array.from({ length: maxPerOrganization }, (_, i) => `${i}`.repeat(50_000));
    const answers = await Promise.all(texts.map((text) => put(content.uploadUrl, text)));
    const stored = answers.findIndex(({ status }) => status === 201);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(texts.length - 1);
    expect(await contentOf(content)).toBe(texts[stored]);
  });

  it('503 · uploads beyond an organization’s share are refused, while another organization is served', async () => {
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

  it('409 · an upload is refused with Retry-After while the same content is being uploaded, and does not disturb that upload', async () => {
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

  it('a slow upload keeps its reservation while it still sends data', async () => {
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

  it('an interrupted upload leaves nothing behind, can be repeated at once, and is not logged as an error', async () => {
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

  it('an upload whose process was killed blocks other uploads for two minutes at most', async () => {
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

  it('409 · an upload that resumes after another took over is refused, and their bytes are not mixed', async () => {
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

  it('an upload that sends nothing for a minute ends like an interrupted one', async () => {
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

  it('400 · request bodies other than uploads must arrive within a minute', async () => {
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

  it('uploads are streamed: the memory in use does not grow with the content', async () => {
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
    // Most of the content that the storage has not read yet is in socket buffers of the operating system.
    expect(most).toBeLessThan(16 * 1024 * 1024);
  });
});
