// Personal access tokens: created, listed and revoked by a person (docs/contract.md#personal-access-tokens).
import { afterAll, describe, expect, it } from 'vitest';
import { orgRoles } from '#access/roles.ts';
import { catalog, scopesOfRole } from '#access/scopes.ts';
import { callerOfToken } from '#domain/identity/tokens/operations.ts';
import { days, minutes } from '#foundation/clock.ts';
import { digest } from '#foundation/secrets/secrets.ts';
import { tokens } from '#limits.ts';
import { openTokenWorld } from '../support/token-world.ts';
import { present } from '../support/world.ts';

const { world, acme, globex, alice, alicesSession, projectId, foreignProjectId, create, list, revoke, member, close } =
  await openTokenWorld();
afterAll(close);

const refusal = (description: unknown) => ({
  category: 'validation',
  title: 'Invalid request',
  description,
  retryable: false,
  code: 'invalid_request',
});

describe('POST /tokens', () => {
  it('201 · a new token is shown once, and has no scope, no project and a lifetime of 90 days by default', async () => {
    const { status, body } = await create({ name: 'Laptop' });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^tok_[0-9a-f]{32}$/),
      name: 'Laptop',
      token: expect.stringMatching(/^pat_[\w-]{43}$/),
      scopes: [],
      projectId: null,
      expiresAt: present() + days(tokens.lifetimeDays.default),
      createdAt: present(),
    });
  });

  it('201 · a raw token is in no list, and in the database only as a digest', async () => {
    const { body: created } = await create({ name: 'Once', scopes: ['projects:read'] });
    const { body: listed } = await list();
    expect(JSON.stringify(listed)).not.toContain(created.token.slice(4));
    const [row] = await world.knex('tokens').where({ id: created.id });
    expect(row.digest).toEqual(digest(created.token));
    expect(JSON.stringify(row)).not.toContain(created.token.slice(4));
  });

  it('201 · a token has each scope once, in the requested order', async () => {
    const scopes = ['projects:read', 'missions:run', 'projects:read'];
    const { body } = await create({ name: 'Twice', scopes });
    expect(body.scopes).toEqual(['projects:read', 'missions:run']);
  });

  it('201 · a token can be bound to a project of the organization', async () => {
    const { body } = await create({ name: 'Bound', scopes: ['projects:read'], projectId });
    expect(body.projectId).toBe(projectId);
    expect((await world.rest('GET', '/me', { token: body.token })).body.projectId).toBe(projectId);
  });

  it('404 · creating a token for a project of another organization fails in the same way as for an unknown project', async () => {
    const before = (await list()).body.data.length;
    const answers = [
      await create({ name: 'Foreign', projectId: foreignProjectId }),
      await create({ name: 'Unknown', projectId: 'prj_00000000000000000000000000000000' }),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(404);
      expect(body).toEqual({
        category: 'validation',
        title: 'Not found',
        description: 'No such project.',
        retryable: false,
        code: 'not_found',
      });
    }
    expect((await list()).body.data.length).toBe(before);
  });

  it('403 · the refusal of a token names every scope that is unknown or that the caller cannot grant', async () => {
    const { session } = await member('member');
    const scopes = ['missions:run', 'projects:write', 'rockets:launch', 'billing:write', 'runtime:report', ''];
    const { status, body } = await create({ name: 'Greedy', scopes }, session);
    expect(status).toBe(403);
    expect(body).toEqual({
      category: 'auth',
      title: 'Missing scope',
      description:
        'The credential lacks missing-scope:projects:write, missing-scope:rockets:launch, missing-scope:billing:write, missing-scope:runtime:report, missing-scope:.',
      retryable: false,
      code: 'missing_scope',
    });
    expect((await list(session)).body).toEqual({ data: [] });
  });

  it('403 · a refused scope of any length is named in full', async () => {
    const long = 'x'.repeat(100_000);
    const { session } = await member('viewer');
    const { status, headers, body } = await create({ name: 'Long', scopes: ['projects:write', long] }, session);
    expect(status).toBe(403);
    expect(headers.get('www-authenticate')).toMatch(/scope="missions:read [\w: -]+ setup:read projects:write", /);
    expect(body.description).toContain(`missing-scope:${long}.`);
  });

  it('400, 201 · a token with more than 25 scopes is refused over REST, over GraphQL and in commands; 25 are accepted', async () => {
    const scopes = catalog.map(({ scope }) => scope);
    expect((await create({ name: 'Much', scopes: scopes.slice(0, 26) })).status).toBe(400);
    const query = 'mutation ($input: CreateTokenRequest!) { createToken(input: $input) { id } }';
    const variables = { input: { name: 'Much', scopes: scopes.slice(0, 26) } };
    const { body } = await world.graphql(query, { session: alicesSession, variables });
    expect(body.errors[0].extensions.problem.description).toContain('scopes: must be at most 25 entries.');
    // The call that the console's form and the operator's command make.
    await expect(world.token(alice, acme, { scopes: scopes.slice(0, 26) })).rejects.toMatchObject({ status: 400 });
    expect((await create({ name: 'Enough', scopes: scopes.slice(0, 25) })).status).toBe(201);
  });

  it.each(orgRoles)('403 · a person who is %s can grant the scopes of the role, and no others', async (role) => {
    const { session } = role === 'owner' ? { session: alicesSession } : await member(role);
    const held = scopesOfRole(role);
    for (const { scope } of catalog) {
      const { status } = await create({ name: 'One', scopes: [scope] }, session);
      expect([scope, status]).toEqual([scope, held.has(scope) ? 201 : 403]);
    }
  });

  it('403 · a token cannot create, list or revoke tokens, whatever its scopes', async () => {
    const token = await world.token(alice, acme);
    const service = await world.service();
    for (const bearer of [token, service]) {
      for (const [method, path, body] of [
        ['POST', '/tokens', { name: 'Child' }],
        ['POST', '/tokens', 'not json'],
        ['GET', '/tokens', undefined],
        ['DELETE', '/tokens/tok_1', undefined],
      ] as const) {
        const answer = await world.rest(method, path, { token: bearer, body });
        expect(answer.status).toBe(403);
        expect(answer.body).toEqual({
          category: 'auth',
          title: 'Forbidden',
          description: 'Only a person who is signed in to the console can do this; a token cannot.',
          retryable: false,
          code: 'forbidden',
        });
      }
    }
  });

  it('401 · a token cannot be created without a credential', async () => {
    expect((await world.rest('POST', '/tokens', { body: { name: 'Nobody' } })).status).toBe(401);
  });

  it('403 · a person without an organization cannot create a token', async () => {
    const session = await world.session(await world.person('Homeless'));
    const { status, body } = await create({ name: 'Nowhere' }, session);
    expect(status).toBe(403);
    expect(body.description).toBe('This credential does not belong to an organization.');
  });

  it.each([
    ['a name of 1 character', { name: 'x' }],
    ['a name of 100 characters', { name: 'x'.repeat(100) }],
    ['a lifetime of 1 day', { name: 'x', expiresInDays: 1 }],
    ['a lifetime of 365 days', { name: 'x', expiresInDays: 365 }],
    ['25 scopes', { name: 'x', scopes: catalog.slice(0, 25).map(({ scope }) => scope) }],
    ['25 equal scopes', { name: 'x', scopes: Array(25).fill('projects:read') }],
    ['unknown members', { name: 'x', admin: true }],
  ])('201 · a token is created with %s', async (_, body) => {
    const answer = await create(body);
    expect(answer.status).toBe(201);
    expect(answer.body.expiresAt).toBe(present() + days((body as { expiresInDays?: number }).expiresInDays ?? 90));
  });

  it.each([
    ['no name', {}, 'name: is required.'],
    ['an empty name', { name: '' }, 'name: must be at least 1 character.'],
    ['a name of 101 characters', { name: 'x'.repeat(101) }, 'name: must be at most 100 characters.'],
    ['a name that is null', { name: null }, 'name: must be a string.'],
    ['a name with NUL', { name: 'a\0b' }, 'name: must be text without NUL characters.'],
    ['26 scopes', { name: 'x', scopes: Array(26).fill('projects:read') }, 'scopes: must be at most 25 entries.'],
    ['a scope outside of a list', { name: 'x', scopes: 'projects:read' }, 'scopes: must be an array.'],
    ['a scope that is a number', { name: 'x', scopes: [1] }, 'scopes.0: must be a string.'],
    ['scopes that are null', { name: 'x', scopes: null }, 'scopes: must be an array.'],
    ['a lifetime of 0 days', { name: 'x', expiresInDays: 0 }, 'expiresInDays: must be at least 1.'],
    ['a lifetime of 366 days', { name: 'x', expiresInDays: 366 }, 'expiresInDays: must be at most 365.'],
    ['a lifetime of half a day', { name: 'x', expiresInDays: 1.5 }, 'expiresInDays: must be an integer.'],
    ['a lifetime in words', { name: 'x', expiresInDays: '30' }, 'expiresInDays: must be a number.'],
    ['an empty project', { name: 'x', projectId: '' }, 'projectId: must be at least 1 character.'],
    ['a project that is null', { name: 'x', projectId: null }, 'projectId: must be a string.'],
    ['a list', [], 'The body must be a JSON object.'],
    [
      'two mistakes, both named',
      { name: '', expiresInDays: 0 },
      'name: must be at least 1 character; expiresInDays: must be at least 1.',
    ],
  ])('400 · a token is refused with %s', async (_, body, description) => {
    const answer = await create(body);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual(refusal(description));
  });

  it('GraphQL creates and refuses tokens as REST does', async () => {
    const mutation = 'mutation ($input: CreateTokenRequest!) { createToken(input: $input) { name scopes token } }';
    const ask = (input: object) => world.graphql(mutation, { session: alicesSession, variables: { input } });
    const made = await ask({ name: 'Graph', scopes: ['projects:read'] });
    expect(made.body.data.createToken).toMatchObject({ name: 'Graph', scopes: ['projects:read'] });
    expect(await callerOfToken(made.body.data.createToken.token)).toMatchObject({ principalType: 'user' });
    const refused = await ask({ name: 'Graph', scopes: ['rockets:launch'] });
    expect(refused.body.errors[0].extensions.problem.description).toContain('missing-scope:rockets:launch');
    const invalid = await ask({ name: '', scopes: [] });
    expect(invalid.body.errors[0].extensions.problem.code).toBe('invalid_request');
  });
});

describe('GET /tokens', () => {
  it('200 · a person lists their own tokens of this organization, newest first, including revoked ones', async () => {
    const { person, session } = await member('admin');
    await world.join(globex, person, 'member');
    const { body: first } = await create({ name: 'First', scopes: ['projects:read'], expiresInDays: 1 }, session);
    world.clock.turn(minutes(5));
    const { body: second } = await create({ name: 'Second', projectId }, session);
    await create({ name: 'Elsewhere' }, await world.session(person, globex.id));
    await revoke(first.id, session);
    const summary = {
      id: second.id,
      name: 'Second',
      scopes: [],
      projectId,
      createdAt: second.createdAt,
      expiresAt: second.expiresAt,
      lastUsedAt: null,
      revokedAt: null,
    };
    expect((await list(session)).body).toEqual({
      data: [
        summary,
        {
          ...summary,
          id: first.id,
          name: 'First',
          scopes: ['projects:read'],
          projectId: null,
          createdAt: first.createdAt,
          expiresAt: first.createdAt + days(1),
          revokedAt: present(),
        },
      ],
    });
  });

  it('200 · nobody lists tokens of other people, not even an owner', async () => {
    const { session } = await member('member');
    const { body: theirs } = await create({ name: 'Mine' }, session);
    const { body } = await list();
    expect(body.data.map(({ id }: { id: string }) => id)).not.toContain(theirs.id);
  });

  it('GraphQL links a project-bound token to its project', async () => {
    const { session } = await member('viewer');
    await create({ name: 'Bound', projectId }, session);
    const { body } = await world.graphql('{ tokens { data { name project { id } } } }', { session });
    expect(body.data.tokens.data).toEqual([{ name: 'Bound', project: { id: projectId } }]);
  });
});

describe('DELETE /tokens/{tokenId}', () => {
  it('200 · a revoked token gets 401 at its next request', async () => {
    const { body: made } = await create({ name: 'Short', scopes: ['projects:read'] });
    expect((await world.rest('GET', '/projects', { token: made.token })).status).toBe(200);
    const { status, body } = await revoke(made.id);
    expect(status).toBe(200);
    expect(body).toEqual({ kind: 'revoked', tokenId: made.id, revokedAt: present() });
    expect((await world.rest('GET', '/projects', { token: made.token })).status).toBe(401);
  });

  it('200 · a second revocation of a token returns already-revoked, with the time of the first', async () => {
    const { body: made } = await create({ name: 'Twice' });
    const { body: first } = await revoke(made.id);
    world.clock.turn(minutes(3));
    const { status, body } = await revoke(made.id);
    expect(status).toBe(200);
    expect(body).toEqual({ kind: 'already-revoked', tokenId: made.id, revokedAt: first.revokedAt });
  });

  it('200 · only one of ten concurrent revocations of a token takes effect', async () => {
    const { body: made } = await create({ name: 'Race' });
    const answers = await Promise.all(Array.from({ length: 10 }, () => revoke(made.id)));
    expect(answers.map(({ body }) => body.kind).sort()).toEqual([...Array(9).fill('already-revoked'), 'revoked']);
  });

  it('404 · a person cannot revoke a token of another person or organization, or an unknown one', async () => {
    const { person, session } = await member('admin');
    await world.join(globex, person, 'admin');
    const { body: alices } = await create({ name: 'Alice’s' });
    const { body: elsewhere } = await create({ name: 'Elsewhere' }, await world.session(person, globex.id));
    for (const id of [alices.id, elsewhere.id, 'tok_00000000000000000000000000000000', 'nonsense']) {
      const { status, body } = await revoke(id, session);
      expect(status).toBe(404);
      expect(body.description).toBe('No such token.');
    }
    expect((await world.rest('GET', '/me', { token: alices.token })).status).toBe(200);
  });

  it('400 · an empty token id is refused', async () => {
    const { status, body } = await world.request('DELETE', '/v1/tokens/', { session: alicesSession });
    expect(status).toBe(400);
    expect(body.description).toBe('tokenId: must be at least 1 character.');
  });
});
