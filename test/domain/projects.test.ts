// Projects: Alice creates and changes projects of her organization, and callers of other organizations have no access to these projects.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { type Account, createCallers, createOwner } from '../support/callers.ts';
import { openWorld, present, type World } from '../support/world.ts';

let world: World;
let owner: Account;
let viewer: Account;
let stranger: Account;

beforeAll(async () => {
  world = await openWorld();
  ({ owner, viewer, stranger } = await createCallers(world));
});
afterAll(() => world.close());

const create = (body: unknown, token = owner.token, headers = {}) =>
  world.rest('POST', '/projects', { token, body, headers });
let made = 0;
const another = () => create({ name: `Project ${++made}`, repoFullName: `acme/many-${made}` });

describe('POST /projects', () => {
  it('201 · a project is created with defaults, and says which connectors it lacks', async () => {
    const { status, body } = await create({ name: 'Web Shop', repoFullName: 'acme/shop' });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^prj_[0-9a-f]{32}$/),
      orgId: owner.organization.id,
      slug: 'web-shop',
      name: 'Web Shop',
      status: 'active',
      tracker: 'builtin',
      trackerConnectorId: null,
      trackerTeamId: null,
      trackerProjectId: null,
      scmConnectorId: '',
      scmOwner: 'acme',
      scmRepo: 'shop',
      llmConnectorId: '',
      autoMerge: false,
      issueCode: null,
      defaultSandboxTemplateId: null,
      createdAt: present(),
      missingConnectorKinds: ['scm', 'llm'],
    });
  });

  it('201 · a new project gets the oldest connector that has credentials, else the oldest', async () => {
    const orgId = owner.organization.id;
    const connector = { orgId, vendor: 'github', vendorKind: 'scm', displayName: 'Code' } as const;
    const { id: empty } = await connectIntegration(connector);
    expect((await another()).body.scmConnectorId).toBe(empty);
    world.clock.turn(1);
    const { id: usable } = await connectIntegration({ ...connector, credentials: 'ghp_ofAcme' });
    expect((await another()).body.scmConnectorId).toBe(usable);
    await world.knex('projects').update({ scmConnectorId: null });
    await world.knex('integrations').delete();
  });

  it('409 · a second project for a repository is refused with the id of the first, regardless of letter case', async () => {
    const first = await another();
    const { status, body } = await create({ name: 'Other', repoFullName: `ACME/many-${made}` });
    expect(status).toBe(409);
    expect(body).toEqual({
      category: 'validation',
      title: 'Conflict',
      description: expect.stringContaining(first.body.id),
      retryable: false,
      conflictingProjectId: first.body.id,
    });
  });

  it('201, 409 · only one of ten concurrent requests for a project on the same repository succeeds', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => create({ name: 'Race', repoFullName: 'acme/race' })),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array(9).fill(409)]);
  });

  it('201 · projects of the same name get different slugs, even concurrently', async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, i) => create({ name: 'Twin', repoFullName: `acme/twin-${i}` })),
    );
    const slugs = answers.map((answer) => answer.body.slug);
    expect(new Set(slugs).size).toBe(5);
    expect(slugs).toContain('twin');
  });

  it('403 · a viewer cannot create a project without projects:write, and the error says so before the body is checked', async () => {
    const { status, body, headers } = await create('not json', viewer.token);
    expect(status).toBe(403);
    expect(body.description).toContain('missing-scope:projects:write');
    expect(headers.get('www-authenticate')).toMatch(
      /^Bearer error="insufficient_scope", scope="missions:read [\w: -]+ projects:write", /,
    );
  });

  it.each([
    ['name: is required', { repoFullName: 'a/b' }],
    ['name: must be at least 1 character', { name: '', repoFullName: 'a/b' }],
    ['name: must be at most 120 characters', { name: 'x'.repeat(121), repoFullName: 'a/b' }],
    ['name: must be a string', { name: 5, repoFullName: 'a/b' }],
    ['name: must be a string', { name: ['x'], repoFullName: 'a/b' }],
    ['name: must be text without NUL characters', { name: 'a\0b', repoFullName: 'a/b' }],
    ['repoFullName: must be <owner>/<repo>', { name: 'x', repoFullName: 'shop' }],
    ['repoFullName: must be <owner>/<repo>', { name: 'x', repoFullName: 'a/b/c' }],
    ['repoFullName: must be <owner>/<repo>', { name: 'x', repoFullName: 'a b/c' }],
    ['tracker: must be one of', { name: 'x', repoFullName: 'a/b', tracker: 'jira' }],
    ['trackerTeamKey: must be at least 1 character', { name: 'x', repoFullName: 'a/b', trackerTeamKey: '' }],
    ['issueCode: must be 2 to 10 capital letters', { name: 'x', repoFullName: 'a/b', issueCode: 'w' }],
  ])('400 · an invalid project is refused: %s', async (words, body) => {
    const answer = await create(body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ category: 'validation', code: 'invalid_request' });
    expect(answer.body.description).toContain(words);
  });

  it('201 · a project is created with the longest allowed values', async () => {
    const { status, body } = await create({
      name: 'n'.repeat(120),
      repoFullName: 'e/d',
      tracker: 'linear',
      trackerTeamKey: 'T',
      issueCode: 'A123456789',
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({ tracker: 'linear', trackerTeamId: 'T', issueCode: 'A123456789' });
  });
});

describe('GET /projects/{projectId}', () => {
  it('404 · a project of another organization gets the same answer as an unknown one', async () => {
    const { body: project } = await another();
    const foreign = await world.rest('GET', `/projects/${project.id}`, { token: stranger.token });
    const unknown = await world.rest('GET', '/projects/prj_none', { token: stranger.token });
    expect(foreign.status).toBe(404);
    expect(foreign.body).toEqual(unknown.body);
  });

  it('400 · an empty project id is refused', async () => {
    const { status, body } = await world.rest('GET', '/projects/', { token: owner.token });
    expect([status, body.description]).toEqual([400, 'projectId: must be at least 1 character.']);
  });

  it('304 · a client that already has the project gets no body', async () => {
    const { body: project } = await another();
    const first = await world.rest('GET', `/projects/${project.id}`, { token: owner.token });
    const etag = first.headers.get('etag')!;
    const again = await world.rest('GET', `/projects/${project.id}`, {
      token: owner.token,
      headers: { 'if-none-match': etag },
    });
    expect([again.status, again.body]).toEqual([304, '']);
    await world.rest('PATCH', `/projects/${project.id}`, { token: owner.token, body: { name: 'Changed' } });
    const changed = await world.rest('GET', `/projects/${project.id}`, {
      token: owner.token,
      headers: { 'if-none-match': etag },
    });
    expect([changed.status, changed.body.name]).toEqual([200, 'Changed']);
  });
});

describe('PATCH /projects/{projectId}', () => {
  it('200 · an update of a project clears fields that are null, and keeps fields that are absent', async () => {
    const { body: project } = await another();
    const set = await world.rest('PATCH', `/projects/${project.id}`, {
      token: owner.token,
      body: { defaultSandboxTemplateId: 'standard', issueCode: 'WEB', autoMerge: true, status: 'paused' },
    });
    expect(set.body).toEqual({
      ...project,
      defaultSandboxTemplateId: 'standard',
      issueCode: 'WEB',
      autoMerge: true,
      status: 'paused',
    });
    const cleared = await world.rest('PATCH', `/projects/${project.id}`, {
      token: owner.token,
      body: { defaultSandboxTemplateId: null },
    });
    expect(cleared.body).toEqual({ ...set.body, defaultSandboxTemplateId: null });
    const empty = await world.rest('PATCH', `/projects/${project.id}`, { token: owner.token, body: {} });
    expect(empty.body).toEqual(cleared.body);
  });

  it('409 · a project cannot get the repository of another one', async () => {
    const [one, two] = [await another(), await another()];
    const { status, body } = await world.rest('PATCH', `/projects/${two.body.id}`, {
      token: owner.token,
      body: { repoFullName: `${one.body.scmOwner}/${one.body.scmRepo}` },
    });
    expect([status, body.conflictingProjectId]).toEqual([409, one.body.id]);
  });

  it('200 · the query string of an update does not replace the body', async () => {
    const { body: project } = await another();
    const { status, body } = await world.rest('PATCH', `/projects/${project.id}?name=Query&input[name]=x`, {
      token: owner.token,
      body: { autoMerge: true },
    });
    expect([status, body]).toEqual([200, { ...project, autoMerge: true }]);
  });

  it('400 · an update of a project is refused when it sets a required field to null', async () => {
    const { body: project } = await another();
    const answer = await world.rest('PATCH', `/projects/${project.id}`, { token: owner.token, body: { name: null } });
    expect([answer.status, answer.body.description]).toEqual([400, 'name: must be a string.']);
  });

  it('404 · a project of another organization cannot be updated', async () => {
    const { body: project } = await another();
    const answer = await world.rest('PATCH', `/projects/${project.id}`, {
      token: stranger.token,
      body: { name: 'Mine' },
    });
    expect(answer.status).toBe(404);
    expect((await world.rest('GET', `/projects/${project.id}`, { token: owner.token })).body).toEqual(project);
  });
});

describe('DELETE /projects/{projectId}', () => {
  it('200, 404 · a project is deleted once', async () => {
    const { body: project } = await another();
    const first = await world.rest('DELETE', `/projects/${project.id}`, { token: owner.token });
    expect([first.status, first.body]).toEqual([200, { ok: true, id: project.id }]);
    expect((await world.rest('DELETE', `/projects/${project.id}`, { token: owner.token })).status).toBe(404);
  });
});

describe('GET /projects', () => {
  it('200 · projects are listed newest first, each once, with null as the last cursor', async () => {
    const { token } = await createOwner(world, 'Paula', 'Pages');
    for (let i = 0; i < 7; i++) {
      await create({ name: `P${i}`, repoFullName: `p/${i}` }, token);
      // The projects are created in pairs. The two projects of a pair have the same creation time, so their ids decide the order.
      if (i % 2) world.clock.turn(1_000);
    }
    const seen: { name: string; id: string; createdAt: string }[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { body }: { body: { data: typeof seen; nextCursor: string | null } } = await world.rest(
        'GET',
        `/projects?limit=3${cursor && `&cursor=${cursor}`}`,
        { token },
      );
      seen.push(...body.data);
      cursor = body.nextCursor;
    }
    expect(seen.map(({ name }) => name).sort()).toEqual(['P0', 'P1', 'P2', 'P3', 'P4', 'P5', 'P6']);
    const places = seen.map(({ createdAt, id }) => `${createdAt} ${id}`);
    expect(places).toEqual(places.toSorted().toReversed());
    expect(new Set(seen.map(({ createdAt }) => createdAt)).size).toBe(4);
  });

  it('400 · a list of projects refuses a cursor of another filter or organization, and a made-up one', async () => {
    await another();
    await another();
    const { body } = await world.rest('GET', '/projects?limit=1', { token: owner.token });
    const foreign = [
      ['byScmOwner=acme&', body.nextCursor, owner.token],
      ['', body.nextCursor, stranger.token],
      ['', 'AAAA', owner.token],
      ['', '%00', owner.token],
      ['', `${body.nextCursor}x`.repeat(3), owner.token],
    ];
    for (const [filter, cursor, token] of foreign) {
      const answer = await world.rest('GET', `/projects?${filter}cursor=${cursor}`, { token });
      expect([answer.status, answer.body.description]).toEqual([
        400,
        expect.stringMatching(/^cursor: must be (the nextCursor|text without NUL)/),
      ]);
    }
  });

  it.each([
    ['limit=0', 'limit: must be at least 1.'],
    ['limit=101', 'limit: must be at most 100.'],
    ['limit=abc', 'limit: must be a 32-bit integer.'],
    ['limit=1.5', 'limit: must be a 32-bit integer.'],
    ['limit=', 'limit: must be a 32-bit integer.'],
    ['limit=1&limit=2', 'limit: must not be repeated.'],
    ['limit=99999999999', 'limit: must be a 32-bit integer.'],
    ['limit=2147483647', 'limit: must be at most 100.'],
  ])('400 · a list of projects is refused for the query %s', async (query, words) => {
    const { status, body } = await world.rest('GET', `/projects?${query}`, { token: owner.token });
    expect(status).toBe(400);
    expect(body.description).toContain(words);
  });

  it('200 · projects are filtered by repository; unknown parameters are ignored', async () => {
    const { body: project } = await another();
    const { body } = await world.rest('GET', `/projects?byScmRepo=${project.scmRepo}&unknown=1`, {
      token: owner.token,
    });
    expect(body).toEqual({ data: [project], nextCursor: null });
  });
});

describe('Idempotency-Key of a new project', () => {
  const key = (value: string) => ({ 'idempotency-key': value });

  it('201 · a request that is repeated with its Idempotency-Key gets the first answer', async () => {
    const body = { name: 'Once', repoFullName: 'acme/once' };
    const first = await create(body, owner.token, key('once-1'));
    const again = await create(body, owner.token, key('once-1'));
    expect([again.status, again.body, again.headers.get('idempotency-replayed')]).toEqual([201, first.body, 'true']);
  });

  it('422 · an Idempotency-Key that is repeated with another body is refused', async () => {
    await create({ name: 'A', repoFullName: 'acme/key-a' }, owner.token, key('reused'));
    const answer = await create({ name: 'B', repoFullName: 'acme/key-b' }, owner.token, key('reused'));
    expect(answer.status).toBe(422);
  });

  it('201, 409 · concurrent requests with one Idempotency-Key create one project', async () => {
    const body = { name: 'Parallel', repoFullName: 'acme/parallel' };
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(body, owner.token, key('parallel'))));
    for (const { status, body: problem } of answers) {
      if (status !== 201)
        expect([status, problem.description]).toEqual([409, expect.stringContaining('still running')]);
    }
    expect(new Set(answers.filter(({ status }) => status === 201).map((answer) => answer.body.id)).size).toBe(1);
  });

  it('201 · an Idempotency-Key can be used again after an error', async () => {
    expect((await create({ name: '', repoFullName: 'acme/free' }, owner.token, key('free'))).status).toBe(400);
    expect((await create({ name: 'Free', repoFullName: 'acme/free' }, owner.token, key('free'))).status).toBe(201);
  });

  it('201 · an Idempotency-Key can be used again after 24 hours', async () => {
    await create({ name: 'Day', repoFullName: 'acme/day-1' }, owner.token, key('day'));
    world.clock.turn(24 * 3_600_000);
    expect((await create({ name: 'Day', repoFullName: 'acme/day-2' }, owner.token, key('day'))).status).toBe(201);
  });

  it('the same Idempotency-Key from another caller creates another project', async () => {
    await create({ name: 'Mine', repoFullName: 'acme/mine' }, owner.token, key('shared'));
    const theirs = await create({ name: 'Theirs', repoFullName: 'globex/theirs' }, stranger.token, key('shared'));
    expect([theirs.status, theirs.body.name]).toEqual([201, 'Theirs']);
  });
});

describe('projects filtered by owner and repository', () => {
  it('200 · filters by owner and repository ignore case, and apply to each page', async () => {
    const made = [];
    for (const name of ['one', 'two']) made.push(await create({ name, repoFullName: `Mixed/Case-${name}` }));
    await create({ name: 'three', repoFullName: 'other/CASE-one' });
    const ids = async (query: string) =>
      (await world.rest('GET', `/projects?${query}`, { token: owner.token })).body.data.map(
        ({ id }: { id: string }) => id,
      );
    const [one, two] = made.map(({ body }) => body.id);
    expect((await ids('byScmOwner=mIXED')).sort()).toEqual([one, two].sort());
    expect(await ids('byScmOwner=MIXED&byScmRepo=case-ONE')).toEqual([one]);
    expect(await ids('byScmRepo=CASE-two')).toEqual([two]);
    const first = (await world.rest('GET', '/projects?byScmOwner=mixed&limit=1', { token: owner.token })).body;
    const next = `/projects?byScmOwner=mixed&limit=1&cursor=${first.nextCursor}`;
    const second = (await world.rest('GET', next, { token: owner.token })).body;
    expect([first, second].map(({ data }) => data[0].id).sort()).toEqual([one, two].sort());
    expect(second.nextCursor).toBeNull();
  });

  it('filters by owner and repository use an index of the database', async () => {
    for (const where of ["lower(scm_owner) = 'x'", "lower(scm_repo) = 'x'"]) {
      const plan = await world.knex.transaction(async (trx) => {
        await trx.raw('set local enable_seqscan = off');
        await trx.raw('set local enable_bitmapscan = off');
        return trx.raw(`explain (format json) select id from projects where org_id = 'org' and ${where}`);
      });
      expect(JSON.stringify(plan)).toMatch(/Index Cond.*lower\(scm_/);
    }
  });
});

describe('projects and project-bound tokens', () => {
  it('200, 403 · a project-bound token can update its own project, but no other, and cannot create or delete one', async () => {
    const [own, other] = [(await another()).body.id, (await another()).body.id];
    const projectToken = await world.token(owner.person, owner.organization, { projectId: own });
    const patch = (id: string, token = projectToken) =>
      world.rest('PATCH', `/projects/${id}`, { token, body: { name: 'Renamed' } });
    expect((await patch(own)).body).toMatchObject({ id: own, name: 'Renamed' });
    for (const id of [other, 'prj_none']) expect((await patch(id)).body.code).toBe('forbidden');
    expect((await world.rest('DELETE', `/projects/${own}`, { token: projectToken })).status).toBe(403);
    expect((await create({ name: 'x', repoFullName: 'acme/bound' }, projectToken)).status).toBe(403);
    const reader = await world.token(owner.person, owner.organization, { projectId: own, scopes: ['projects:read'] });
    expect((await patch(own, reader)).body.description).toContain('missing-scope:projects:write');
  });
});

describe('settings of a project', () => {
  it('400, 200 · a project refuses an unknown sandbox template, and accepts an existing one or null', async () => {
    const { id } = (await another()).body;
    const patch = (defaultSandboxTemplateId: string | null) =>
      world.rest('PATCH', `/projects/${id}`, { token: owner.token, body: { defaultSandboxTemplateId } });
    const refused = await patch('huge');
    expect([refused.status, refused.body.description]).toEqual([
      400,
      'defaultSandboxTemplateId: must be standard or the id of a sandbox template of the organization.',
    ]);
    for (const template of ['standard', null]) {
      expect((await patch(template)).body.defaultSandboxTemplateId).toBe(template);
    }
  });

  it('the OpenAPI document says which fields of a project and of an organization are not used yet', async () => {
    const { schemas } = (await world.request('GET', '/v1/openapi.json')).body.components;
    expect(schemas.Project.properties.trackerProjectId.description).toContain('Not used yet');
    expect(schemas.Organization.properties.namePending.description).toContain('Not used yet');
  });

  it('a project with a vendor’s tracker reports that its tracker connector is missing, if the organization has none', async () => {
    const { body } = await create({ name: 'Linear', repoFullName: 'acme/linear', tracker: 'linear' });
    expect(body.missingConnectorKinds).toEqual(['tracker', 'scm', 'llm']);
  });
});

describe('connectors of a project', () => {
  const connect = async (vendor: 'github' | 'gitlab' | 'linear', vendorKind: 'scm' | 'tracker', credentials?: string) =>
    (
      await connectIntegration({
        ...{ orgId: owner.organization.id, vendor, vendorKind, displayName: vendor },
        ...(credentials && { credentials }),
      })
    ).id;
  const set = async (projectId: string, input: object, token = owner.token) => {
    const answer = await world.field(
      `mutation ($projectId: String!, $input: ProjectConnectorsRequest!) { setProjectConnectors(projectId: $projectId, input: $input) {
        tracker trackerConnectorId trackerTeamId scmConnectorId } }`,
      { token, variables: { projectId, input } },
    );
    return answer.description ?? answer;
  };

  it('the source host and the tracker can be changed; while a mission or pull request is open, the new connector must be at the same server as the current one', async () => {
    const first = await connect('github', 'scm', 'ghp_first');
    const projectId = (await another()).body.id;
    const second = await connect('github', 'scm', 'ghp_second');
    const other = await connect('gitlab', 'scm', 'glpat_other');
    const linear = await connect('linear', 'tracker', 'lin_api_ofAcme');
    const bare = await connect('github', 'scm');
    const builtin = { tracker: 'builtin', trackerConnectorId: null, trackerTeamId: null };

    expect(await set(projectId, { trackerConnectorId: linear, trackerTeamKey: 'ENG' })).toEqual({
      ...{ tracker: 'linear', trackerConnectorId: linear, trackerTeamId: 'ENG', scmConnectorId: first },
    });
    expect(await set(projectId, { trackerTeamKey: 'OPS' })).toMatchObject({ tracker: 'linear', trackerTeamId: 'OPS' });
    // A project whose tracker stays the same keeps its team.
    expect(await set(projectId, { trackerConnectorId: linear })).toMatchObject({ trackerTeamId: 'OPS' });
    expect(await set(projectId, { trackerConnectorId: null })).toEqual({ ...builtin, scmConnectorId: first });

    const { id: runId } = await world.field(
      'mutation ($projectId: String!) { startMission(projectId: $projectId, prompt: "Go.", agentId: "agn_builtin_shell") { id } }',
      { token: owner.token, variables: { projectId } },
    );
    const end = (pullRequest: object) =>
      world
        .knex('runs')
        .where({ id: runId })
        .update({ status: 'completed', finishedAt: present(), ...pullRequest });
    const refusal = (what: string) =>
      `scmConnectorId: must be at the same server as the current connector while ${what} of the project are open.`;
    expect(await set(projectId, { scmConnectorId: other })).toBe(refusal('missions'));
    expect(await set(projectId, { trackerConnectorId: linear })).toMatch(
      /^trackerConnectorId: must be at the same server as the current/,
    );
    expect(await set(projectId, { scmConnectorId: second })).toEqual({ ...builtin, scmConnectorId: second });
    await end({ prNumber: 1, prState: 'open' });
    expect(await set(projectId, { scmConnectorId: other })).toBe(refusal('pull requests'));
    await end({ prState: 'merged' });
    expect(await set(projectId, { scmConnectorId: other })).toEqual({ ...builtin, scmConnectorId: other });

    expect(await set(projectId, { scmConnectorId: bare })).toBe(
      'scmConnectorId: must be a connector with credentials.',
    );
    for (const scmConnectorId of [linear, 'int_000000000000000000000000'])
      expect(await set(projectId, { scmConnectorId })).toBe(
        'scmConnectorId: must be a connector of this organization with the kind scm.',
      );
    expect(await set(projectId, {}, viewer.token)).toMatch(/projects:write/);
    expect(await set(projectId, { scmConnectorId: first }, stranger.token)).toBe('No such project.');
  });
});
