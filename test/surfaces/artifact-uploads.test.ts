// Uploads of artifacts over real HTTP: uploads that are accepted, refused or never used, and the registration of uploaded content as an
// artifact.
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { contentAddress } from '#domain/work/artifacts/address.ts';
import { claimContent, storeContent, sweepArtifacts } from '#domain/work/artifacts/content.ts';
import { Artifact } from '#domain/work/artifacts/model.ts';
import { days, minutes } from '#foundation/clock.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { bucketStorage, readBucket } from '#foundation/storage/s3.ts';
import { openStorage } from '#foundation/storage/storage.ts';
import { noteArtifact } from '../support/runtime-records.ts';
import { begin, openUploadWorld } from '../support/upload-world.ts';
import { present } from '../support/world.ts';

const { world, faults, storage, s3, shop, foreign, reserve, put, rowOf, files, contentOf, beginUpload, close, check } =
  await openUploadWorld();
afterAll(close);
afterEach(check);

describe('PUT /artifacts/uploads/{contentKey}', () => {
  it('201 · an upload keeps the bytes unchanged, and requires no credential', async () => {
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

  it('201 · an upload may be empty', async () => {
    for (const headers of [{ 'content-length': 0 }, {}] as Record<string, number>[]) {
      const content = await reserve();
      const { sending, answer } = begin(content.uploadUrl, headers);
      sending.end();
      const { contentKey } = content;
      expect(JSON.parse((await answer).body)).toEqual({ contentKey, sizeBytes: 0 });
      expect(await contentOf(content)).toBe('');
    }
  });

  it('409 · a second upload of the same content is refused, and the stored content stays', async () => {
    const content = await reserve();
    await put(content.uploadUrl, 'one');
    const { status, body } = await put(content.uploadUrl, 'other');
    expect([status, body.description]).toEqual([
      409,
      'This content has already been uploaded: an upload URL works only once.',
    ]);
    expect(await contentOf(content)).toBe('one');
  });

  it('403 · an upload URL is refused when it is expired, forged, altered, for other content, or for another purpose', async () => {
    const [content, other] = [await reserve(), await reserve()];
    const [bare, query] = content.uploadUrl.split('?') as [string, string];
    world.clock.turn(minutes(15) - 1);
    const artifact = await noteArtifact(shop);
    const refused = await put(bare, 'x');
    expect([refused.status, refused.body.description]).toEqual([
      403,
      'This URL is invalid or expired: createArtifactUpload returns a new one.',
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

  it('405 · an upload URL refuses every method except PUT', async () => {
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
  ])('4xx · an upload URL refuses %s', async (_what, headers, status, words) => {
    const content = await reserve();
    const answer = await put(content.uploadUrl, 'abc', headers);
    expect([answer.status, answer.body.description]).toEqual([status, words]);
    expect((await put(content.uploadUrl, 'abc')).status).toBe(201);
  });

  it('413 · content that is announced as too large is refused before its first byte is sent', async () => {
    const content = await reserve();
    const { sending, answer } = begin(content.uploadUrl, { 'content-length': 512 * 1024 * 1024 + 1 });
    sending.flushHeaders();
    const { status, body } = await answer;
    expect([status, JSON.parse(body).description]).toEqual([413, 'The body is limited to 536870912 bytes.']);
    sending.destroy();
    expect((await rowOf(content)).uploadingUntil).toBe(null);
  });

  it('413 · content that turns out to be too large during the upload is refused, and nothing of it is kept', async () => {
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

  it('404 · an upload for content that no longer exists is refused', async () => {
    const content = await reserve();
    await world.knex('storedContents').where({ key: content.contentKey }).delete();
    expect((await put(content.uploadUrl, 'x')).body.description).toBe('No such content.');
  });

  it('502 · an upload fails while the bucket is missing, and only the log names this cause; the same URL works once the bucket exists', async () => {
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

it('an upload that no artifact uses is deleted after a day; if the deletion fails, its row stays, and the deletion is retried', async () => {
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

describe('Registering uploaded content as an artifact', () => {
  const claim = (contentKey: string, orgId = shop.orgId) => transaction((trx) => claimContent(trx, orgId, contentKey));

  it('content can be registered only after all of it has been uploaded, and only by the organization that it belongs to', async () => {
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

  it('409 · the second of two concurrent registrations of the same content is refused', async () => {
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
      'contentKey: another artifact already uses this content.',
      'registered',
    ]);
  });
});
