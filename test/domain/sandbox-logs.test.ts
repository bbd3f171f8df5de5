// Logs of sandboxes: which parts a log has, how its pieces are read with a cursor, when its lines arrived, and from which sources a prompt
// comes.
import { afterAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '#domain/work/sandboxes/model.ts';
import { createCallersWithProjects } from '../support/callers.ts';
import { startSandbox, startSession, writeLog } from '../support/runtime-records.ts';
import { openWorld } from '../support/world.ts';

const world = await openWorld();
const { owner, stranger, shop } = await createCallersWithProjects(world);
afterAll(() => world.close());

const get = (path: string, token = owner.token) => world.rest('GET', `/sandboxes${path}`, { token });

describe('GET /sandboxes/{sandboxId}/logs', () => {
  const logs = (sandbox: Pick<Sandbox, 'id'>, query: string, token = owner.token) =>
    get(`/${sandbox.id}/logs?${query}`, token);

  it('200 · a log contains its pieces in order; a request without a part returns the log of the session', async () => {
    const sandbox = await startSandbox(shop);
    const session = await startSession(sandbox, { sessionId: 'abc' });
    await writeLog(session, 'session', ['Zwei ', 'Wörter\n', '']);
    await writeLog(session, 'system', ['boot']);
    await writeLog(session, 'prompt', ['You work on a shop.', 'Use tabs.']);
    const which = { sandboxId: sandbox.id, role: 'builder', sessionId: 'abc' };
    const plain = { promptScope: null, promptSpans: [], deletedAt: null };
    const own = { ...which, part: 'session', content: 'Zwei Wörter\n', bytes: 13, ...plain };
    expect((await logs(sandbox, 'role=builder&sessionId=abc')).body).toEqual(own);
    expect((await logs(sandbox, 'role=builder&sessionId=abc&part=session')).body).toEqual(own);
    expect((await logs(sandbox, 'role=builder&sessionId=abc&part=system')).body).toEqual({
      ...which,
      part: 'system',
      content: 'boot',
      bytes: 4,
      ...plain,
    });
    expect((await logs(sandbox, 'role=builder&sessionId=abc&part=prompt')).body).toEqual({
      ...which,
      part: 'prompt',
      content: 'You work on a shop.Use tabs.',
      bytes: 28,
      promptScope: 'repo-contributed',
      deletedAt: null,
      promptSpans: [
        { id: 'span-0', content: 'You work on a shop.' },
        { id: 'span-1', content: 'Use tabs.' },
      ],
    });
  });

  it('200 · a log can be read from a byte offset', async () => {
    const sandbox = await startSandbox(shop);
    const session = await startSession(sandbox, { sessionId: 'abc' });
    await writeLog(session, 'session', ['Zwei ', 'Wörter\n', 'mehr']);
    const added = async (bytes: number) => {
      const { body, headers } = await logs(sandbox, `role=builder&sessionId=abc&after=${bytes}`);
      return [body.content, body.bytes, headers.has('link')];
    };
    expect(await added(0)).toEqual(['Zwei Wörter\nmehr', 17, false]);
    expect(await added(13)).toEqual(['mehr', 17, false]);
    // The second byte of the ö.
    expect(await added(7)).toEqual(['rter\nmehr', 17, false]);
    expect(await added(17)).toEqual(['', 17, false]);
    expect(await added(18)).toEqual(['', 17, false]);
    const { status, body } = await logs(sandbox, 'role=builder&sessionId=abc&after=-1');
    expect([status, body.description]).toEqual([400, 'after: must be at least 0.']);
  });

  it('200 · a part of a log to which nothing was written is empty', async () => {
    const sandbox = await startSandbox(shop);
    await startSession(sandbox, { sessionId: 'empty' });
    const { body } = await logs(sandbox, 'role=builder&sessionId=empty&part=prompt');
    expect(body).toMatchObject({ content: '', bytes: 0, promptScope: null, promptSpans: [] });
  });

  it('200 · only the end of a long log is returned, cut between characters, together with the length of the whole log', async () => {
    const sandbox = await startSandbox(shop);
    const session = await startSession(sandbox, { sessionId: 'long' });
    const mebibyte = 1024 * 1024;
    await writeLog(session, 'session', ['lost', 'ä'.repeat(10), 'x'.repeat(mebibyte - 3)]);
    const { body } = await logs(sandbox, 'role=builder&sessionId=long');
    expect(body.bytes).toBe(4 + 20 + mebibyte - 3);
    expect(body.content.replace(/x+$/, '')).toBe('ä');
    await writeLog(session, 'system', ['lost', 'y'.repeat(mebibyte)]);
    expect((await logs(sandbox, 'role=builder&sessionId=long&part=system')).body.content).toBe('y'.repeat(mebibyte));
  });

  it('200 · older pieces of a log are read by the cursor of the Link header, without a gap, to the first byte', async () => {
    const sandbox = await startSandbox(shop);
    const session = await startSession(sandbox, { sessionId: 'old' });
    // Each character has three bytes, so that a piece of a mebibyte would end within a character.
    const whole = Array.from({ length: 30 }, (_, i) => `${i}:${'€'.repeat(30_000)}`);
    await writeLog(session, 'session', whole);
    const pieces: string[] = [];
    let query: string | undefined = 'role=builder&sessionId=old';
    while (query) {
      const { status, headers, body } = await logs(sandbox, query);
      expect([status, body.bytes]).toEqual([200, Buffer.byteLength(whole.join(''))]);
      expect(Object.keys(body)).not.toContain('nextCursor');
      pieces.unshift(body.content);
      const link: RegExpExecArray | null = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '');
      if (link) expect(link[1]).toMatch(new RegExp(`^${world.url}/v1/sandboxes/${sandbox.id}/logs\\?`));
      query = link ? link[1]!.split('?')[1] : undefined;
    }
    expect(pieces).toHaveLength(3);
    for (const piece of pieces.slice(1)) expect(Buffer.byteLength(piece)).toBeGreaterThan(1024 * 1024 - 4);
    expect(pieces.join('')).toBe(whole.join(''));
  });

  it('OpenAPI describes how to read older pieces of a log', async () => {
    const { paths } = (await world.request('GET', '/v1/openapi.json')).body;
    const { parameters, responses } = paths['/sandboxes/{sandboxId}/logs'].get;
    expect(parameters).toContainEqual(expect.objectContaining({ name: 'cursor', in: 'query', required: false }));
    expect(responses[200].headers.Link.description).toContain('rel="next"');
  });

  it('the MCP tool get_sandbox_log returns an older piece of a log when it gets the cursor from `nextCursor`', async () => {
    const sandbox = await startSandbox(shop);
    await writeLog(await startSession(sandbox, { sessionId: 'm' }), 'session', ['first', 'x'.repeat(1024 * 1024)]);
    const read = async (more: object) => {
      const given = { sandboxId: sandbox.id, role: 'builder', sessionId: 'm', ...more };
      const params = { name: 'get_sandbox_log', arguments: given };
      const headers = { accept: 'application/json, text/event-stream' };
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
      return (await world.request('POST', '/mcp', { token: owner.token, headers, body })).body.result.structuredContent;
    };
    const newest = await read({});
    const older = await read({ cursor: newest.nextCursor });
    expect([newest.content.length, older.content]).toEqual([1024 * 1024, 'first']);
    expect(older).not.toHaveProperty('nextCursor');
  });

  it('a cursor keeps its position while the log grows; malformed cursors and those of other logs are refused with 400', async () => {
    const sandbox = await startSandbox(shop);
    const session = await startSession(sandbox, { sessionId: 'grows' });
    await writeLog(session, 'session', ['first', 'x'.repeat(1024 * 1024)]);
    const { headers } = await logs(sandbox, 'role=builder&sessionId=grows');
    const older = headers.get('link')!.slice(1).split('>')[0]!.split('?')[1]!;
    await world.knex('sandbox_log_parts').insert({
      sandboxId: sandbox.id,
      role: 'builder',
      sessionId: 'grows',
      part: 'session',
      seq: 2,
      content: 'later',
    });
    const before = await logs(sandbox, older);
    expect(before.body).toMatchObject({ content: 'first', bytes: 1024 * 1024 + 10 });
    expect(before.headers.get('link')).toBeNull();
    for (const query of [`${older}&part=system`, 'role=builder&sessionId=grows&cursor=nonsense']) {
      const { status, body } = await logs(sandbox, query);
      expect([status, body.description]).toEqual([400, expect.stringContaining('cursor: must be')]);
    }
  });

  it('lines of a log have the arrival time of the piece in which they begin; REST does not show it', async () => {
    const sandbox = await startSandbox(shop);
    await startSession(sandbox, { sessionId: 'timed' });
    const place = { sandboxId: sandbox.id, role: 'builder', sessionId: 'timed', part: 'session' };
    const pieces: [content: string, appendedAt: number | null][] = [
      ['of before\n', null],
      ['one\ntw', 1_000],
      ['o\nthr', 2_000],
      ['ee', 3_000],
      ['\n', 4_000],
      ['four\n', 5_999],
      ['five', 5_000],
    ];
    await world
      .knex('sandbox_log_parts')
      .insert(pieces.map(([content, appendedAt], seq) => ({ ...place, seq, content, appendedAt })));
    const query = `{ sandboxLog(sandboxId: "${sandbox.id}", role: builder, sessionId: "timed") { content times { line at } } }`;
    expect((await world.graphql(query, { token: owner.token })).body.data.sandboxLog).toEqual({
      content: 'of before\none\ntwo\nthree\nfour\nfive',
      times: [
        { line: 1, at: 1_000 },
        { line: 3, at: 2_000 },
        { line: 4, at: 5_000 },
      ],
    });
    expect((await logs(sandbox, 'role=builder&sessionId=timed')).body).not.toHaveProperty('times');
  });

  it('200 · the length of a log may exceed 32 bits', async () => {
    const sandbox = await startSandbox(shop);
    const session = await startSession(sandbox, { sessionId: 'huge' });
    await writeLog(session, 'session', ['a', 'b', 'c']);
    // Sets the length of the pieces directly; the column is otherwise computed from their content.
    await world.knex.raw('alter table sandbox_log_parts alter column bytes drop expression');
    await world.knex('sandbox_log_parts').where({ sandboxId: sandbox.id }).update({ bytes: 2_000_000_000 });
    const { status, body } = await logs(sandbox, 'role=builder&sessionId=huge');
    expect([status, body.bytes]).toEqual([200, 6_000_000_000]);
    const query = `{ sandboxLog(sandboxId: "${sandbox.id}", role: builder, sessionId: "huge") { bytes } }`;
    expect((await world.graphql(query, { token: owner.token })).body.data).toEqual({
      sandboxLog: { bytes: 6_000_000_000 },
    });
    await world.knex.raw(`alter table sandbox_log_parts drop column bytes,
      add column bytes integer not null generated always as (octet_length(content)) stored`);
  });

  it('200 · when a span of a prompt was written in several pieces, the pieces are returned as one span, and the log says whether the prompt comes from the mission, the repository or both', async () => {
    const sandbox = await startSandbox(shop);
    const spans = async (sessionId: string, ...pieces: [span: string, content: string, scope: string | null][]) => {
      const session = await startSession(sandbox, { sessionId });
      const place = { sandboxId: sandbox.id, role: session.role, sessionId, part: 'prompt' };
      await world
        .knex('sandbox_log_parts')
        .insert(pieces.map(([spanId, content, promptScope], seq) => ({ ...place, seq, spanId, content, promptScope })));
      const query = `{ sandboxLog(sandboxId: "${sandbox.id}", role: builder, sessionId: "${sessionId}", part: prompt) {
        promptScope promptSpans { id content scope } } }`;
      const { promptScope, promptSpans } = (await world.graphql(query, { token: owner.token })).body.data.sandboxLog;
      const { body } = await logs(sandbox, `role=builder&sessionId=${sessionId}&part=prompt`);
      expect(body.promptScope).toBe(promptScope);
      expect(body.promptSpans).toEqual(promptSpans.map(({ id, content }: Record<string, string>) => ({ id, content })));
      return [promptScope, ...promptSpans.map((span: Record<string, string>) => Object.values(span))];
    };
    expect(await spans('m', ['task', 'Do ', 'mission'], ['a', 'A', null], ['task', 'this.', 'mission'])).toEqual([
      'mixed',
      ['task', 'Do this.', 'mission'],
      ['a', 'A', 'repo-contributed'],
    ]);
    expect((await spans('r', ['a', 'A', null]))[0]).toBe('repo-contributed');
    expect((await spans('t', ['task', 'T', 'mission']))[0]).toBe('mission');
  });

  it.each([
    ['sessionId=abc', /role: is required/],
    ['role=builder', /sessionId: is required/],
    ['', /role: is required.*sessionId: is required/],
    ['role=&sessionId=abc', /role: must be one of planner, builder/],
    ['role=boss&sessionId=abc', /role: must be one of planner, builder/],
    ['role=builder&sessionId=', /sessionId: must be at least 1 character/],
    [`role=builder&sessionId=${'s'.repeat(201)}`, /sessionId: must be at most 200 characters/],
    ['role=builder&sessionId=abc&part=all', /part: must be one of session, system, prompt/],
  ])('400 · a log is refused for the query %s', async (query, words) => {
    const { status, body } = await logs(await startSandbox(shop), query);
    expect([status, body.description]).toEqual([400, expect.stringMatching(words)]);
  });

  it('404 · no log is found for a session under another role, or for a sandbox of another organization', async () => {
    const sandbox = await startSandbox(shop);
    await startSession(sandbox, { sessionId: 's'.repeat(200) });
    const query = `role=builder&sessionId=${'s'.repeat(200)}`;
    expect((await logs(sandbox, query)).status).toBe(200);
    const elsewhere = await logs(sandbox, query.replace('builder', 'qa'));
    expect([elsewhere.status, elsewhere.body.description]).toEqual([404, 'No such session.']);
    const hidden = await logs(sandbox, query, stranger.token);
    expect([hidden.status, hidden.body.description]).toEqual([404, 'No such sandbox.']);
  });
});
