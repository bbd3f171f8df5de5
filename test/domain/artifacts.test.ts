// Artifacts: files of missions, found by issue, project and sandbox, and downloaded from a signed URL that any browser can open. The content cannot run as a page of the service.
import { readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bindTraceViewer } from '#domain/work/artifacts/address.ts';
import { storeContent, sweepArtifacts } from '#domain/work/artifacts/content.ts';
import { Artifact } from '#domain/work/artifacts/model.ts';
import { days, hours, minutes } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { type Account, createCallersWithProjects, createProject } from '../support/callers.ts';
import { leaveArtifact, type Place, startSandbox } from '../support/runtime-records.ts';
import { openWorld, present, type World } from '../support/world.ts';

let world: World;
/** Errors in the log. */
const faults: string[] = [];
let owner: Account;
let shop: Place;
let other: Place;
let foreign: Place;
let projectToken: string;

beforeAll(async () => {
  world = await openWorld({ log: (line) => line.includes('"msg":"request failed"') && faults.push(line) });
  ({ owner, shop, other, foreign, projectToken } = await createCallersWithProjects(world));
});
afterAll(() => world.close());

const get = (route: string, token = owner.token) => world.rest('GET', `/artifacts${route}`, { token });
const ids = async (query: string, token = owner.token): Promise<string[]> =>
  (await get(query, token)).body.data.map(({ id }: { id: string }) => id);
const sorted = (...artifacts: Artifact[]) => artifacts.map(({ id }) => id).sort();
/** The signed URL of an artifact, as a path. */
const addressOf = async ({ id }: Artifact): Promise<string> => (await get(`/${id}`)).body.url.slice(world.url.length);
const download = async (artifact: Artifact, headers: Record<string, string> = {}, method = 'GET') =>
  world.request(method, await addressOf(artifact), { headers });
const files = () =>
  readdirSync(world.contents, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(path.join(world.contents, name)).isFile(),
  );

describe('GET /artifacts', () => {
  it('200 · artifacts are listed newest first, with every field that GET by id returns', async () => {
    const older = await leaveArtifact(shop, 'old');
    world.clock.turn(1);
    const sandbox = await startSandbox(shop);
    const more = {
      issueId: 'WEB-12',
      sessionId: 'abc',
      sandboxId: sandbox.id,
      kind: 'trace' as const,
      contentType: 'application/zip',
      caption: 'The cart, filled',
      criterion: 'The cart survives a reload',
      criterionPassed: true,
      traceViewerUrl: 'https://trace.example/?trace=1',
    };
    const newer = await leaveArtifact(shop, 'zipped', more);
    const { status, body } = await get('?limit=2');
    expect(status).toBe(200);
    expect(body.data[1].id).toBe(older.id);
    const shown = {
      id: newer.id,
      projectId: shop.projectId,
      role: 'qa',
      sizeBytes: 6,
      createdAt: new Date(present()).toISOString(),
      expiresAt: new Date(present() + days(90)).toISOString(),
      url: expect.stringMatching(
        new RegExp(`^${world.url}/artifacts/${newer.id}/content\\?expires=\\d+&signature=[\\w-]{43}$`),
      ),
      ...more,
    };
    expect(body.data[0]).toEqual(shown);
    expect((await get(`/${newer.id}`)).body).toEqual(shown);
  });

  it('200 · a trace without its own viewer links to the installation’s viewer; artifacts of other kinds have no viewer', async () => {
    const traced = await leaveArtifact(shop, 'zipped', { kind: 'trace' });
    const reported = await leaveArtifact(shop, 'zip', {
      kind: 'trace',
      traceViewerUrl: 'https://trace.example/?trace=1',
    });
    const logged = await leaveArtifact(shop, 'lines', { kind: 'log' });
    const viewers = () =>
      Promise.all([traced, reported, logged].map(async ({ id }) => (await get(`/${id}`)).body.traceViewerUrl));
    expect(await viewers()).toEqual([null, 'https://trace.example/?trace=1', null]);
    bindTraceViewer('https://traces.example');
    try {
      const { url } = (await get(`/${traced.id}`)).body;
      const own = `https://traces.example/?trace=${encodeURIComponent(url)}`;
      expect(await viewers()).toEqual([own, 'https://trace.example/?trace=1', null]);
    } finally {
      bindTraceViewer(null);
    }
  });

  it('200 · artifacts are filtered by issue, project and sandbox, alone and together, page by page', async () => {
    const sandbox = await startSandbox(other);
    const [one, two, three] = [
      await leaveArtifact(shop, '1', { issueId: 'WEB-7' }),
      await leaveArtifact(other, '2', { issueId: 'WEB-7', sandboxId: sandbox.id }),
      await leaveArtifact(other, '3', { sandboxId: sandbox.id }),
    ];
    expect((await ids('?issueId=WEB-7')).sort()).toEqual(sorted(one, two));
    expect((await ids(`?projectId=${other.projectId}`)).sort()).toEqual(sorted(two, three));
    expect((await ids(`?sandboxId=${sandbox.id}`)).sort()).toEqual(sorted(two, three));
    expect(await ids(`?sandboxId=${sandbox.id}&issueId=WEB-7`)).toEqual([two.id]);
    expect(await ids(`?sandboxId=${sandbox.id}&projectId=${shop.projectId}`)).toEqual([]);
    const first = (await get(`?sandboxId=${sandbox.id}&limit=1`)).body;
    const second = (await get(`?sandboxId=${sandbox.id}&limit=1&cursor=${first.nextCursor}`)).body;
    expect([first.data[0].id, second.data[0].id].sort()).toEqual(sorted(two, three));
    expect(second.nextCursor).toBe(null);
    expect((await get(`?limit=1&cursor=${first.nextCursor}`)).status).toBe(400);
  });

  it('200 · a project-bound token lists only artifacts of its project; filters by an inaccessible project or sandbox find nothing', async () => {
    const [ours, theirs] = [await leaveArtifact(shop, 'ours'), await leaveArtifact(other, 'theirs')];
    const elsewhere = await leaveArtifact(foreign, 'x', { sandboxId: (await startSandbox(foreign)).id });
    const mine = await ids('', projectToken);
    expect([mine.includes(ours.id), mine.includes(theirs.id)]).toEqual([true, false]);
    for (const [query, token] of [
      [`projectId=${other.projectId}`, projectToken],
      [`projectId=${foreign.projectId}`, owner.token],
      [`sandboxId=${elsewhere.sandboxId}`, owner.token],
      ['projectId=prj_none', owner.token],
    ]) {
      expect((await get(`?${query}`, token)).body).toEqual({ data: [], nextCursor: null });
    }
    const unknown = await get('/art_none');
    expect(unknown.status).toBe(404);
    for (const answer of [await get(`/${elsewhere.id}`), await get(`/${theirs.id}`, projectToken)]) {
      expect([answer.status, answer.body]).toEqual([404, unknown.body]);
    }
  });

  it.each([
    ['limit=0', 'limit: must be at least 1.'],
    ['limit=2001', 'limit: must be at most 2000.'],
    [`sandboxId=${'s'.repeat(201)}`, 'sandboxId: must be at most 200 characters.'],
  ])('400 · a list of artifacts is refused for the query %s', async (query, words) => {
    const { status, body } = await get(`?${query}`);
    expect([status, body.description]).toEqual([400, words]);
  });

  it('200 · a page has 1 to 2,000 artifacts', async () => {
    for (const limit of [1, 2_000]) expect((await get(`?limit=${limit}`)).status).toBe(200);
  });

  it('404 · an artifact does not exist from the millisecond in which it expires', async () => {
    const artifact = await leaveArtifact(shop, 'soon', { expiresAt: present() + 10 });
    const address = await addressOf(artifact);
    world.clock.turn(9);
    expect([(await get(`/${artifact.id}`)).status, (await ids('')).includes(artifact.id)]).toEqual([200, true]);
    world.clock.turn(1);
    expect([(await get(`/${artifact.id}`)).status, (await ids('')).includes(artifact.id)]).toEqual([404, false]);
    expect((await world.request('GET', address)).status).toBe(404);
  });
});

describe('signed download URLs', () => {
  it('a signed download URL stays the same for 15 minutes, so that clients that poll get 304', async () => {
    const artifact = await leaveArtifact(shop, 'x');
    world.clock.turn(minutes(15) - (present() % minutes(15)));
    const first = await get(`/${artifact.id}`);
    world.clock.turn(minutes(15) - 1);
    const again = await world.rest('GET', `/artifacts/${artifact.id}`, {
      token: owner.token,
      headers: { 'if-none-match': first.headers.get('etag')! },
    });
    expect(again.status).toBe(304);
    world.clock.turn(1);
    expect((await get(`/${artifact.id}`)).body.url).not.toBe(first.body.url);
  });

  it('a signed download URL works for an hour and a quarter at most, then returns 403', async () => {
    const artifact = await leaveArtifact(shop, 'x');
    world.clock.turn(minutes(15) - (present() % minutes(15)));
    const address = await addressOf(artifact);
    world.clock.turn(hours(1) + minutes(15) - 1);
    expect((await world.request('GET', address)).status).toBe(200);
    world.clock.turn(1);
    const { status, body } = await world.request('GET', address);
    expect([status, body.code]).toEqual([403, 'forbidden']);
  });

  it('403 · a forged, altered or incomplete download URL gets the same answer as one for an artifact that does not exist', async () => {
    const [artifact, second] = [await leaveArtifact(shop, 'x'), await leaveArtifact(shop, 'y')];
    const address = await addressOf(artifact);
    const [bare, query] = address.split('?') as [string, string];
    const refused = await world.request('GET', `/artifacts/art_none/content?${query}`);
    expect([refused.status, refused.headers.get('cache-control')]).toEqual([403, 'no-store']);
    for (const other of [
      bare,
      `${bare}?expires=${present() + hours(1)}`,
      `${bare}?${query.replace(/expires=\d+/, `expires=${present() + days(9)}`)}`,
      `${bare}?${query.slice(0, -5)}AAAAA`,
      `${bare}?${query}AAAA`,
      `/artifacts/${second.id}/content?${query}`,
    ]) {
      const { status, body } = await world.request('GET', other, { token: owner.token });
      expect([status, body]).toEqual([403, refused.body]);
    }
  });

  it('405 · a signed download URL rejects every method except GET and HEAD', async () => {
    const answer = await download(await leaveArtifact(shop, 'x'), {}, 'DELETE');
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});

describe('GET /artifacts/{artifactId}/content', () => {
  it('200 · an artifact is downloaded with unchanged bytes', async () => {
    const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 251));
    const artifact = await leaveArtifact(shop, bytes, { contentType: 'image/png', kind: 'screenshot' });
    const response = await fetch(world.url + (await addressOf(artifact)));
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    const { 'x-request-id': _, date, connection, 'keep-alive': __, ...headers } = Object.fromEntries(response.headers);
    expect(headers).toEqual({
      'accept-ranges': 'bytes',
      'access-control-allow-origin': '*',
      'cache-control': expect.stringMatching(/^private, max-age=\d{4}, immutable$/),
      'content-disposition': `inline; filename="screenshot-${artifact.id}.png"`,
      'content-length': '100000',
      'content-security-policy': "default-src 'none'; sandbox",
      'content-type': 'image/png',
      etag: `"${artifact.contentKey}"`,
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
  });

  it.each([
    ['text/html', 'application/octet-stream', 'attachment', 'html'],
    ['TEXT/HTML; charset=utf-8', 'application/octet-stream', 'attachment', 'html'],
    ['image/svg+xml', 'application/octet-stream', 'attachment', 'svg'],
    ['application/xhtml+xml', 'application/octet-stream', 'attachment', 'bin'],
    ['application/pdf', 'application/octet-stream', 'attachment', 'pdf'],
    ['application/javascript', 'application/octet-stream', 'attachment', 'bin'],
    ['application/json', 'application/octet-stream', 'attachment', 'json'],
    ['constructor', 'application/octet-stream', 'attachment', 'bin'],
    ['image/png\r\nset-cookie: a=b', 'application/octet-stream', 'attachment', 'bin'],
    ['', 'application/octet-stream', 'attachment', 'bin'],
    ['text/plain; charset=utf-7', 'text/plain; charset=utf-8', 'inline', 'txt'],
    ['Image/JPEG', 'image/jpeg', 'inline', 'jpg'],
    ['video/mp4; codecs=avc1', 'video/mp4', 'inline', 'mp4'],
  ])('an artifact of the type %j is served as %s, %s', async (contentType, type, way, extension) => {
    const artifact = await leaveArtifact(shop, '<script>alert(1)</script>', { contentType });
    const { headers } = await download(artifact);
    expect([headers.get('content-type'), headers.get('content-disposition')]).toEqual([
      type,
      `${way}; filename="log-${artifact.id}.${extension}"`,
    ]);
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('set-cookie')).toBe(null);
  });

  it.each([
    ['bytes=0-0', '0', '0-0'],
    ['bytes=2-4', '234', '2-4'],
    ['bytes=7-', '789', '7-9'],
    ['bytes=7-99', '789', '7-9'],
    ['bytes=-3', '789', '7-9'],
    ['bytes=-99', '0123456789', '0-9'],
    ['bytes= 2 - 4 ', '234', '2-4'],
  ])('206 · a download of an artifact returns the range %s', async (range, content, shown) => {
    const artifact = await leaveArtifact(shop, '0123456789');
    const { status, body, headers } = await download(artifact, { range });
    expect([status, body, headers.get('content-range'), headers.get('content-length')]).toEqual([
      206,
      content,
      `bytes ${shown}/10`,
      String(content.length),
    ]);
  });

  it.each(['bytes=10-', 'bytes=10-20', 'bytes=-0'])(
    '416 · a download of an artifact refuses the range %s',
    async (range) => {
      const { status, headers, body } = await download(await leaveArtifact(shop, '0123456789'), { range });
      expect([status, headers.get('content-range'), body]).toEqual([416, 'bytes */10', '']);
    },
  );

  it.each([
    'bytes=4-2',
    'bytes=a-b',
    'bytes=-',
    'bytes=0-1,4-5',
    'lines=0-1',
    'bytes=0x1-2',
    `bytes=${'9'.repeat(16)}-`,
  ])('200 · a download of an artifact returns the whole content for the unsupported range %s', async (range) => {
    const { status, body } = await download(await leaveArtifact(shop, '0123456789'), { range });
    expect([status, body]).toEqual([200, '0123456789']);
  });

  it('a range of an artifact is served only if If-Range is the ETag of its content', async () => {
    const artifact = await leaveArtifact(shop, '0123456789');
    const etag = `"${artifact.contentKey}"`;
    const part = (condition: string) => download(artifact, { range: 'bytes=2-4', 'if-range': condition });
    expect((await part(etag)).body).toBe('234');
    for (const other of ['"other"', `W/${etag}`, 'Sat, 21 Nov 2026 09:00:00 GMT']) {
      expect((await part(other)).status).toBe(200);
    }
  });

  it('304 · a client that already has the content of an artifact gets no body', async () => {
    const artifact = await leaveArtifact(shop, '0123456789');
    const etag = `"${artifact.contentKey}"`;
    for (const known of [etag, `W/${etag}`, `"a", ${etag}`, '*']) {
      const { status, body } = await download(artifact, { 'if-none-match': known, range: 'bytes=0-1' });
      expect([status, body]).toEqual([304, '']);
    }
    expect((await download(artifact, { 'if-none-match': '"a"' })).status).toBe(200);
  });

  it('HEAD returns the size of an artifact without its content, and ignores a range', async () => {
    const { status, headers, body } = await download(
      await leaveArtifact(shop, '0123456789'),
      { range: 'bytes=2-4' },
      'HEAD',
    );
    expect([status, headers.get('content-length'), body]).toEqual([200, '10', '']);
  });

  it('200 · an artifact with empty content can be downloaded', async () => {
    const artifact = await leaveArtifact(shop, '');
    expect([(await download(artifact)).status, (await download(artifact)).body]).toEqual([200, '']);
    expect((await download(artifact, { range: 'bytes=0-' })).status).toBe(416);
    expect((await download(artifact, { range: 'bytes=-1' })).status).toBe(416);
  });

  it('a client that disconnects during the download of an artifact leaves no open file and no logged error', async () => {
    const artifact = await leaveArtifact(shop, Buffer.alloc(20_000_000));
    const leaving = new AbortController();
    const response = await fetch(world.url + (await addressOf(artifact)), { signal: leaving.signal });
    const reader = response.body!.getReader();
    await reader.read();
    leaving.abort();
    await expect(reader.read()).rejects.toThrow();
    expect((await download(artifact, { range: 'bytes=0-0' })).status).toBe(206);
    expect(faults).toEqual([]);
  });

  it('404 · a download of an artifact is not found when its content is missing in the storage', async () => {
    const artifact = await leaveArtifact(shop, 'x');
    const { key } = await storeContent([] as never);
    rmSync(path.join(world.contents, key.slice(-2), key));
    await world.knex('artifacts').where({ id: artifact.id }).update({ contentKey: key, sizeBytes: 0 });
    expect((await download(artifact)).body.description).toBe('No such content.');
  });
});

describe('expired and orphaned artifacts', () => {
  it('contents of expired artifacts, deleted projects and interrupted uploads are removed after a day', async () => {
    await world.knex('artifacts').delete();
    world.clock.turn(days(2));
    await sweepArtifacts();
    expect(files()).toEqual([]);

    const projectId = await createProject(world, owner, 'Short');
    const short: Place = { orgId: shop.orgId, projectId };
    const kept = await leaveArtifact(shop, 'kept');
    await leaveArtifact(shop, 'expired', { expiresAt: present() + hours(1) });
    await leaveArtifact(short, 'deleted');
    async function* broken() {
      yield Buffer.from('half');
      throw new Error('the line went dead');
    }
    await expect(storeContent(broken())).rejects.toThrow('the line went dead');
    await storeContent([Buffer.from('nobody’s')] as never);
    await world.rest('DELETE', `/projects/${short.projectId}`, { token: owner.token });
    const contents = async () => (await world.knex('storedContents')).length;
    expect([files().length, await contents()]).toEqual([4, 5]);

    world.clock.turn(days(1) - 1);
    await sweepArtifacts();
    expect([files().length, await contents(), (await world.knex('artifacts')).length]).toEqual([4, 5, 1]);
    world.clock.turn(1);
    await Promise.all([sweepArtifacts(), sweepArtifacts()]);
    expect([files(), await contents()]).toEqual([[path.join(kept.contentKey.slice(-2), kept.contentKey)], 1]);
    expect((await download(kept)).body).toBe('kept');
  });

  it('uploaded content cannot be used by a second artifact, and an artifact cannot refer to removed content', async () => {
    const artifact = await leaveArtifact(shop, 'x');
    const again = { ...artifact, id: newId('artifact') };
    await expect(Artifact.query().insert(again)).rejects.toThrow('artifacts_content');
    await expect(Artifact.query().insert({ ...again, contentKey: 'cnt_none' })).rejects.toThrow('foreign key');
  });
});

it('GraphQL links an artifact to its project and sandbox, and each of these to at most 20 artifacts', async () => {
  const sandbox = await startSandbox(other);
  for (let i = 0; i < 21; i++) await leaveArtifact(other, `${i}`, { sandboxId: sandbox.id });
  const query = `{
    sandbox(sandboxId: "${sandbox.id}") { sandbox { artifacts { url sandbox { sandboxId } project { name } } } }
    projects { data { name artifacts { id } } }
  }`;
  const { data, errors } = (await world.graphql(query, { token: owner.token })).body;
  expect(errors).toBe(undefined);
  const { artifacts } = data.sandbox.sandbox;
  expect(artifacts.length).toBe(20);
  expect(artifacts[0]).toMatchObject({ sandbox: { sandboxId: sandbox.id }, project: { name: 'Other' } });
  const of = (name: string, body: typeof data) =>
    body.projects.data.find((project: { name: string }) => project.name === name).artifacts.length;
  expect(of('Other', data)).toBe(20);
  const bounded = await world.graphql('{ projects { data { name artifacts { id } } } }', { token: projectToken });
  expect([of('Other', bounded.body.data), of('Shop', bounded.body.data) > 0]).toEqual([0, true]);
});
