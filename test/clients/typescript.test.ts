// The typed client against a service: its requests, retries, lists, subscriptions and errors.
import { afterAll, beforeAll, beforeEach, describe, expect, expectTypeOf, it } from 'vitest';
import { newId } from '#foundation/ids.ts';
import type { Run, WithDates } from '../../clients/typescript/src/exports.ts';
import {
  ApiError,
  type ClientSettings,
  ConflictError,
  ConnectionError,
  createClient,
  NotFoundError,
  ServiceError,
  UnauthenticatedError,
  withDates,
} from '../../clients/typescript/src/exports.ts';
import { type Account, createOwner } from '../support/callers.ts';
import { showFragments, startSandbox } from '../support/runtime-records.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let ada: Account;
/** Requests that the client has sent. */
let sent: Request[] = [];
/** Each request of the client takes the first of these responses or errors in place of the service's response. */
let instead: (Response | Error)[] = [];
let waits: number[] = [];

beforeAll(async () => {
  world = await openWorld();
  ada = await createOwner(world, 'Ada', 'Acme');
  await world.lift(ada.organization);
});
afterAll(() => world.close());
beforeEach(() => {
  sent = [];
  instead = [];
  waits = [];
});

const observed: typeof fetch = async (...args) => {
  const request = new Request(...args);
  sent.push(request.clone());
  const answer = instead.shift();
  if (answer instanceof Error) throw answer;
  return answer ?? fetch(request);
};

const client = (settings: Partial<ClientSettings> = {}) =>
  createClient({
    url: world.url,
    token: ada.token,
    fetch: observed,
    sleep: async (milliseconds) => void waits.push(milliseconds),
    ...settings,
  });

const problem = (status: number, more: object = {}, headers: Record<string, string> = {}) =>
  Response.json(
    { category: 'unknown', title: 'Title', description: 'Description', retryable: true, ...more },
    { status, headers },
  );

const failure = (call: PromiseLike<unknown>): Promise<ApiError> =>
  Promise.resolve(call).then(
    () => expect.unreachable(),
    (error) => error,
  );

const newProject = (name: string) => client().createProject({ name, repoFullName: `acme/${name.toLowerCase()}` });

describe('calls of the client', () => {
  it('201, 200 · calls of the client put each argument in the path or the body, as the operation declares', async () => {
    const created = await client().createProject({ name: 'Shop', repoFullName: 'acme/shop' });
    expect(created).toMatchObject({ name: 'Shop', scmOwner: 'acme', status: 'active' });
    const paused = await client().updateProject({ projectId: created.id, status: 'paused' });
    expect(paused).toEqual({ ...created, status: 'paused' });
    expect(await client().project({ projectId: created.id })).toEqual(paused);
    expect(sent.map(({ method, url }) => `${method} ${new URL(url).pathname}`)).toEqual([
      'POST /v1/projects',
      `PATCH /v1/projects/${created.id}`,
      `GET /v1/projects/${created.id}`,
    ]);
    expect(await sent[1]!.json()).toEqual({ status: 'paused' });
  });

  it('200 · calls of the client cover GraphQL-only operations too', async () => {
    const { id: projectId } = await newProject('Graph');
    const run = await client().startMission({ projectId, prompt: 'echo hello' });
    expect((await client().runtimes()).data).toEqual(expect.any(Array));
    expectTypeOf(run).toEqualTypeOf<Run>();
    expect(run).toEqual(await client().run({ runId: run.id }));
    expect((await client().runMessages({ runId: run.id })).data).toEqual([]);
    expect(
      await client().graphql('query ($id: String!) { run(runId: $id) { issue { key } } }', { id: run.id }),
    ).toEqual({
      run: { issue: { key: expect.any(String) } },
    });
  });

  it('calls of the client cannot have a path parameter that is empty or leads to another path', async () => {
    expect(() => client().project({ projectId: '' })).toThrow(new TypeError('projectId must be a non-empty string.'));
    expect((await failure(client().project({ projectId: '../me' }))).status).toBe(404);
  });

  it('the client calls a token function again when the service rejects its token', async () => {
    const refusals: (string | undefined)[] = [];
    const token = (refused?: string) => {
      refusals.push(refused);
      return refused ? ada.token : 'pat_old';
    };
    expect((await client({ token }).me()).userId).toBe(ada.person.id);
    expect(refusals).toEqual([undefined, 'pat_old']);
    expect((await failure(client({ token: () => 'pat_wrong' }).me())).code).toBe('unauthenticated');
    expect(sent).toHaveLength(4);
  });
});

it('times in responses of the client become dates at every depth, as the scalars of the schema say; null and free-form JSON stay unchanged', async () => {
  const project = await client().createProject({ name: 'Dated', repoFullName: 'demo/dated' });
  const dated = withDates(project);
  expectTypeOf(dated.createdAt).toEqualTypeOf<Date>();
  expectTypeOf<WithDates<Run>['finishedAt']>().toEqualTypeOf<Date | null>();
  expect(dated).toEqual({ ...project, createdAt: new Date(project.createdAt) });
  const { data } = withDates(await client().projects());
  expect(data[0]!.createdAt).toBeInstanceOf(Date);
  const made = withDates([
    { expiresAtSec: 2, createdAt: '1970-01-01T00:00:03.000Z', finishedAt: null, output: { at: 4 } },
  ]);
  expect(withDates({ upcoming: [5] })).toEqual({ upcoming: [new Date(5)] });
  expect(made).toEqual([
    { expiresAtSec: new Date(2_000), createdAt: new Date(3_000), finishedAt: null, output: { at: 4 } },
  ]);
});

it('lists of the client return the first page when awaited, and every record when iterated', async () => {
  const bob = await createOwner(world, 'Bob', 'Pages');
  await world.lift(bob.organization);
  const own = client({ token: bob.token });
  const names = ['One', 'Two', 'Three', 'Four', 'Five'];
  for (const name of names) {
    await own.createProject({ name, repoFullName: `pages/${name}` });
    world.clock.turn(1);
  }
  sent = [];
  const page = await own.projects({ limit: 2 });
  expect(page.data.map(({ name }) => name)).toEqual(['Five', 'Four']);
  const listed: string[] = [];
  for await (const { name } of own.projects({ limit: 2 })) listed.push(name);
  expect(listed).toEqual(names.toReversed());
  expect(sent).toHaveLength(4);
  expect((await own.projects({ limit: 2 }).take(3)).map(({ name }) => name)).toEqual(['Five', 'Four', 'Three']);
  expect(await own.issues().take(10)).toEqual([]);
  expect(await own.scheduledTasks()).toEqual({ data: [], nextCursor: null });
});

it('errors of the client contain the response body of the service, its status and the request id', async () => {
  const { id } = await newProject('Twice');
  const error = await failure(newProject('Twice'));
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toBeInstanceOf(ConflictError);
  expect(error.name).toBe('ConflictError');
  expect(error).toMatchObject({ status: 409, category: 'validation', title: 'Conflict', code: 'conflict' });
  expect(error.conflictingProjectId).toBe(id);
  expect(error.requestId).toMatch(/^req_/);
  expect(error.message).toBe(`${error.title}: ${error.description}`);
});

it('errors of the client have the same class and code over GraphQL as over REST', async () => {
  const error = await failure(client().mcpToolReview({ projectId: 'prj_none', serverName: 'issues' }));
  expect(error).toBeInstanceOf(NotFoundError);
  expect(error).toMatchObject({ status: null, code: 'not_found', description: 'No such project.', retryable: false });
  expect(await failure(client().graphql('{ nothing }'))).toMatchObject({ code: 'invalid_request' });
});

it('401 · errors of the client contain the response body of the service also when the operation uses GraphQL', async () => {
  const error = await failure(client({ token: 'pat_wrong' }).runtimes());
  expect(error).toBeInstanceOf(UnauthenticatedError);
  expect(error).toMatchObject({ status: 401, code: 'unauthenticated' });
  expect(error.requestId).toMatch(/^req_/);
});

it('errors of the client name invalid fields and missing scopes in the same way for REST and GraphQL', async () => {
  const input = { name: '', repoFullName: 'acme/none' };
  const fields = [{ path: 'name', message: 'must be at least 1 character' }];
  expect(await failure(client().createProject(input))).toMatchObject({ code: 'invalid_request', fields });
  const document = 'mutation ($input: CreateProjectRequest!) { createProject(input: $input) { id } }';
  expect(await failure(client().graphql(document, { input }))).toMatchObject({ fields, missingScopes: [] });
  const token = await world.token(ada.person, ada.organization, { scopes: ['missions:read'] });
  const narrow = client({ token });
  const lacking = { code: 'missing_scope', missingScopes: ['projects:read'], fields: [] };
  expect(await failure(narrow.projects())).toMatchObject(lacking);
  expect(await failure(narrow.graphql('{ projects { nextCursor } }'))).toMatchObject(lacking);
});

it('errors of the client report a failed connection when there is no response', async () => {
  instead = Array.from({ length: 3 }, () => new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } }));
  expect(await failure(client().me())).toMatchObject({
    status: null,
    code: 'connection_failed',
    description: `GET ${world.url}/v1/me failed: ECONNREFUSED.`,
    retryable: true,
  });
  instead = [new TypeError('fetch failed')];
  expect(await failure(client({ retries: 0 }).me())).toBeInstanceOf(ConnectionError);
  instead = [new Response('', { status: 502 })];
  expect(await failure(client({ retries: 0 }).me())).toBeInstanceOf(ServiceError);
  instead = [new Response('<h1>Bad gateway</h1>', { status: 502 })];
  expect(await failure(client({ retries: 0 }).me())).toMatchObject({
    status: 502,
    description: 'HTTP 502 without a body of this API.',
  });
  const hang: typeof fetch = (_, init) =>
    new Promise((_resolve, reject) => init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason)));
  expect(await failure(client({ fetch: hang, timeoutMs: 1, retries: 0 }).me())).toMatchObject({ code: 'timed_out' });
});

it('retries of the client wait for the time in Retry-After, up to the set number of attempts', async () => {
  instead = [problem(429, {}, { 'retry-after': '7' }), problem(503)];
  expect((await client().me()).userId).toBe(ada.person.id);
  expect(waits).toEqual([7_000, expect.any(Number)]);
  expect(waits[1]).toBeGreaterThanOrEqual(500);
  expect(waits[1]).toBeLessThanOrEqual(1_000);

  instead = Array.from({ length: 3 }, () => problem(503, { code: 'unavailable' }));
  expect((await failure(client().me())).code).toBe('unavailable');
  const at = Date.parse('2026-11-22T12:00:00Z');
  instead = [problem(503, {}, { 'retry-after': 'Sun, 22 Nov 2026 12:00:09 GMT' })];
  await client({ now: () => at }).me();
  expect(waits.at(-1)).toBe(9_000);
});

it('retries of the client are skipped for permanent errors, and when the wait would be long', async () => {
  instead = [problem(500, { retryable: false })];
  expect((await failure(client().me())).status).toBe(500);
  instead = [problem(429, {}, { 'retry-after': '3600' })];
  expect((await failure(client().me())).retryAfterMs).toBe(3_600_000);
  expect(waits).toEqual([]);
});

it('retries of the client reuse the idempotency key of a mutation', async () => {
  const { id: projectId } = await newProject('Mutation');
  sent = [];
  const lost: typeof fetch = async (...args) => {
    const response = await observed(...args);
    if (sent.length > 1) return response;
    throw new TypeError('the answer was lost');
  };
  const { id } = await client({ fetch: lost }).startMission({ projectId, prompt: 'echo once' });
  expect(sent).toHaveLength(2);
  expect((await client().runs({ projectId })).data.map((run) => run.id)).toEqual([id]);
});

it('201 · retries of the client send the same idempotency key again for a POST, which therefore takes effect only once', async () => {
  const lost: typeof fetch = async (...args) => {
    const response = await observed(...args);
    if (sent.length > 1) return response;
    throw new TypeError('the answer was lost');
  };
  const created = await client({ fetch: lost }).createProject({ name: 'Once', repoFullName: 'acme/once' });
  const keys = sent.map(({ headers }) => headers.get('idempotency-key'));
  expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), keys[0]]);
  expect(created.name).toBe('Once');
  await client().createProject({ name: 'Keyed', repoFullName: 'acme/keyed' }, { idempotencyKey: 'mine' });
  expect(sent.at(-1)!.headers.get('idempotency-key')).toBe('mine');
});

it('retries of the client are skipped for DELETE and PATCH, which may have been applied', async () => {
  const { id: projectId } = await newProject('Gone');
  for (const call of [
    () => client().deleteProject({ projectId }),
    () => client().updateProject({ projectId, name: 'Other' }),
  ]) {
    instead = [new TypeError('lost')];
    expect((await failure(call())).code).toBe('connection_failed');
  }
  instead = [problem(429, { code: 'rate_limited' }, { 'retry-after': '1' })];
  expect((await client().startMission({ projectId, prompt: 'echo' })).status).toBe('dispatching');
  expect(waits).toEqual([1_000]);
});

it('retries of the client stop when the caller’s signal aborts', async () => {
  const leaving = new AbortController();
  instead = [problem(503)];
  const sleep = async () => leaving.abort(new Error('enough'));
  await expect(client({ sleep }).me({}, { signal: leaving.signal })).rejects.toThrow('enough');
  await expect(client().me({}, { signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow('before');
  expect(sent).toHaveLength(1);
});

describe('subscriptions', () => {
  const startRun = async (name: string) => {
    const { id: projectId } = await newProject(name);
    return client().startMission({ projectId, prompt: 'echo' });
  };

  it('subscriptions of the client follow a run to its end', async () => {
    const { id: runId } = await startRun('Followed');
    const statuses: string[] = [];
    for await (const run of client().runUpdated({ runId })) {
      statuses.push(run.status);
      if (run.status === 'dispatching') await client().cancelRun({ runId });
    }
    expect(statuses).toEqual(['dispatching', 'canceled']);
  });

  it('subscriptions of the client reconnect after a lost connection and resume after the last event received', async () => {
    const run = await startRun('Lost');
    const place = { orgId: ada.organization.id, projectId: run.projectId as never };
    const sandbox = await startSandbox(place, { runId: run.id as never });
    const { id: sandboxId } = sandbox;
    await showFragments(sandbox, [{}, {}, {}]);
    sent = [];
    const cut: typeof fetch = async (...args) => {
      const response = await observed(...args);
      if (sent.length > 1) return response;
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      while (!text.includes('event: next')) text += (await reader.read()).value;
      await reader.cancel();
      return new Response(text, { headers: response.headers });
    };
    const leaving = new AbortController();
    const counts: number[] = [];
    const updates = client({ fetch: cut }).sandboxUpdated({ sandboxId }, { signal: leaving.signal });
    const ended = (async () => {
      for await (const { fragments } of updates) {
        counts.push(fragments.length);
        if (counts.length === 2) leaving.abort(new Error('seen'));
      }
    })();
    await expect(ended).rejects.toThrow('seen');
    expect(counts).toEqual([3, 0]);
    expect(waits).toHaveLength(1);
    expect((await sent[1]!.json()).variables).toEqual({ sandboxId, after: 3 });
  });

  it('404, 401 · subscriptions of the client fail at once without retries', async () => {
    const stream = client().runUpdated({ runId: newId('run') });
    expect(await failure(stream.next())).toMatchObject({ code: 'not_found' });
    expect(sent).toHaveLength(1);
    expect(await failure(client({ token: 'pat_wrong' }).runUpdated({ runId: 'run_1' }).next())).toMatchObject({
      status: 401,
      code: 'unauthenticated',
    });
  });

  it('subscriptions of the client fail after the set number of lost connections in a row', async () => {
    instead = Array.from({ length: 3 }, () => new TypeError('lost'));
    expect((await failure(client().runUpdated({ runId: 'run_1' }, { retries: 2 }).next())).code).toBe(
      'connection_failed',
    );
    expect(waits).toHaveLength(2);
  });
});
