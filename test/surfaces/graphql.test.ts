// GraphQL over HTTP against the running service: the full audit of the specification, and the service's own behaviour.
import { readFileSync } from 'node:fs';
import { getIntrospectionQuery } from 'graphql';
import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { watchStatements } from '#foundation/postgres/database.ts';
import { graphql } from '#limits.ts';
import { type Account, createOwner } from '../support/callers.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let owner: Account;
let token: string;

beforeAll(async () => {
  world = await openWorld();
  owner = await createOwner(world, 'Alice', 'Acme');
  token = owner.token;
});
afterAll(() => world.close());

describe('GraphQL over HTTP', () => {
  const audits = serverAudits({
    url: () => `${world.url}/graphql`,
    fetchFn: (url: string, init: RequestInit = {}) =>
      fetch(url, { ...init, headers: { ...init.headers, authorization: `Bearer ${token}` } }),
  });
  test.each(audits.map(({ id, name, fn }) => [`${id} · ${name}`, fn] as const))(
    'the service passes the audit of GraphQL over HTTP: %s',
    async (_title, audit) => {
      const { status, ...why } = await audit();
      expect(status === 'ok' ? status : { status, reason: (why as { reason?: string }).reason }).toBe('ok');
    },
  );
});

test.each([
  undefined,
  '*/*',
  'application/*',
  'application/json',
  'application/graphql-response+json',
  'application/graphql-response+json, application/json;q=0.9',
  '*/*, application/graphql-response+json',
  'text/event-stream, application/json',
  'multipart/mixed, */*',
])('a single result has the format that it would have in a batch, for Accept: %s', async (accept) => {
  const operation = { query: '{ me { role userId } }' };
  const headers = { ...(accept && { accept }) };
  const alone = await world.request('POST', '/graphql', { token, headers, body: operation });
  const batch = await world.request('POST', '/graphql', { token, headers, body: [operation] });
  expect([alone.body]).toEqual(batch.body);
  const written = ({ headers }: typeof alone) =>
    Object.fromEntries([...headers].filter(([name]) => !/^(content-length|date|ratelimit|x-request-id)$/.test(name)));
  expect([alone.status, written(alone)]).toEqual([batch.status, written(batch)]);
});

const createProject = /* GraphQL */ `
  mutation ($input: CreateProjectRequest!) {
    createProject(input: $input) { id name orgId organization { name } }
  }
`;

test('a project that GraphQL creates is read back with its organization, and over REST', async () => {
  const input = { name: 'Alpha', repoFullName: 'acme/alpha' };
  const created = await world.graphql(createProject, { token, variables: { input } });
  expect(created.status).toBe(200);
  const project = created.body.data.createProject;
  expect(created.body).toEqual({
    data: {
      createProject: { id: project.id, name: 'Alpha', orgId: owner.organization.id, organization: { name: 'Acme' } },
    },
    extensions: { cost: { requested: 6, maximum: graphql.cost } },
  });
  expect((await world.rest('GET', `/projects/${project.id}`, { token })).body.name).toBe('Alpha');
});

test('a GraphQL error contains the same problem record as the REST response', async () => {
  const { token: other } = await createOwner(world, 'Bob', 'Bobs');
  const { data } = (await world.rest('GET', '/projects', { token })).body;
  const viaRest = await world.rest('GET', `/projects/${data[0].id}`, { token: other });
  const query = 'query ($id: String!) { project(projectId: $id) { name } }';
  const viaGraph = await world.graphql(query, { token: other, variables: { id: data[0].id } });
  expect([viaRest.status, viaGraph.status]).toEqual([404, 200]);
  expect(viaGraph.body.errors[0].extensions).toEqual({ code: 'not_found', problem: viaRest.body });
});

test('an invalid input names the field and the limit over GraphQL as over REST', async () => {
  const input = { name: '', repoFullName: 'acme/alpha' };
  const viaRest = await world.rest('POST', '/projects', { token, body: input });
  const viaGraph = await world.graphql(createProject, { token, variables: { input } });
  expect(viaRest.body.description).toBe('name: must be at least 1 character.');
  const fields = [{ path: 'name', message: 'must be at least 1 character' }];
  expect(viaGraph.body.errors[0].extensions.problem).toEqual({ ...viaRest.body, fields });

  const page = await world.graphql('{ projects(limit: 101) { nextCursor } }', { token });
  expect(page.body.errors[0].extensions.problem.description).toBe('limit: must be at most 100.');
});

const twoChanges = `mutation ($input: CreateProjectRequest!, $id: String!, $change: UpdateOrganizationRequest!) {
  createProject(input: $input) { id } updateOrganization(orgId: $id, input: $change) { id }
}`;
test.each<[string, string, object, object[]]>([
  [
    'values of a wrong type, at any depth',
    twoChanges,
    { input: { name: 7, repoFullName: ['a'], nmae: 'Alpha' }, id: 'org_1', change: 3 },
    [
      { path: '', message: 'has no field "nmae"' },
      { path: 'name', message: 'String cannot represent a non string value: 7' },
      { path: 'repoFullName', message: 'String cannot represent a non string value: ["a"]' },
      { path: 'change', message: 'must be an object' },
    ],
  ],
  [
    'required values that are null or missing',
    twoChanges,
    { input: { name: null } },
    [
      { path: 'name', message: 'must not be null' },
      { path: 'repoFullName', message: 'is required' },
      { path: 'id', message: 'is required' },
      { path: 'change', message: 'is required' },
    ],
  ],
  [
    'an entry of a list',
    'mutation ($scopes: [String!]) { createToken(input: { name: "CI", scopes: $scopes }) { id } }',
    { scopes: ['ok', 7] },
    [{ path: 'scopes.1', message: 'String cannot represent a non string value: 7' }],
  ],
  [
    'a number',
    'query ($limit: Int) { projects(limit: $limit) { nextCursor } }',
    { limit: 'x' },
    [{ path: 'limit', message: 'Int cannot represent non-integer value: "x"' }],
  ],
])('an invalid variable is reported with the path of the field: %s', async (_title, query, variables, fields) => {
  const answers = [];
  for (let n = 0; n < 3; n++) answers.push(await world.graphql(query, { token, variables: variables as never }));
  for (const { status, body } of answers) {
    expect([status, body.errors.length, body.errors[0].extensions.problem.fields]).toEqual([200, 1, fields]);
  }
});

test('a missing scope is named over GraphQL as over REST', async () => {
  const narrow = await world.token(owner.person, owner.organization, { scopes: ['agents:read'] });
  const { body } = await world.graphql('{ projects { nextCursor } }', { token: narrow });
  expect(body.data).toBe(null);
  const viaRest = await world.rest('GET', '/projects', { token: narrow });
  expect(body.errors[0].extensions.problem).toEqual({ ...viaRest.body, missingScopes: ['projects:read'] });
  expect(body.errors[0].extensions.code).toBe('missing_scope');
});

test('401 · a GraphQL request with a missing or invalid token is refused with a challenge and a GraphQL body', async () => {
  for (const bad of [undefined, 'pat_nothing']) {
    const { status, headers, body } = await world.request('POST', '/graphql', {
      ...(bad && { token: bad }),
      body: { query: '{ __typename }' },
    });
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toContain('/.well-known/oauth-protected-resource');
    expect(body).toEqual({ errors: [{ message: body.errors[0].message, extensions: body.errors[0].extensions }] });
    expect(body.errors[0].extensions.problem.code).toBe('unauthenticated');
    expect((await world.request('GET', '/graphql/schema.graphql', { ...(bad && { token: bad }) })).status).toBe(401);
  }
});

test('a person in the console is authenticated by cookie, but a POST with a wrong CSRF token is refused', async () => {
  const session = await world.session(owner.person, owner.organization.id);
  const asked = { session, body: { query: '{ me { principalType } }' } };
  expect((await world.request('POST', '/graphql', asked)).body.data).toEqual({ me: { principalType: 'cookie' } });
  const forged = await world.request('POST', '/graphql', { ...asked, headers: {}, session: { ...session, csrf: 'x' } });
  expect([401, 403]).toContain(forged.status);
});

test('a caller who may introspect gets the whole schema, by introspection and as schema.graphql', async () => {
  const introspection = await world.graphql(getIntrospectionQuery(), { token });
  expect(introspection.body.errors).toBe(undefined);
  expect(introspection.body.data.__schema.queryType.name).toBe('Query');

  const text = await world.request('GET', '/graphql/schema.graphql', { token });
  expect(text.body).toBe(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'));
});

describe('Repeated GraphQL operations', () => {
  const answersTo = async (body: unknown) => {
    const answers = [];
    for (let i = 0; i < 3; i++) answers.push((await world.request('POST', '/graphql', { token, body })).body);
    return answers;
  };

  test.each([
    ['data', { query: '{ organizations { orgs { name slug memberships { role person { name } } } } }' }],
    ['a problem, with its place in the document', { query: 'query Again { project(projectId: "prj_none") { id } }' }],
    [
      'variables and directives',
      { query: 'query V($no: Boolean!) { me { role userId @skip(if: $no) } }', variables: { no: true } },
    ],
    [
      'a refused variable',
      { query: 'query R($n: Int!) { projects(limit: $n) { nextCursor } }', variables: { n: 'x' } },
    ],
    ['an unknown operation name', { query: 'query Here { me { role } }', operationName: 'There' }],
    [
      'an operation name',
      {
        query: 'query Here($n: Int) { projects(limit: $n) { data { name __typename } } me { role } }',
        operationName: 'Here',
        variables: { n: 2 },
      },
    ],
    [
      'a batch',
      [{ query: '{ me { role } }' }, { query: '{ organizations { orgs { name } } }' }, { query: '{ me { role } }' }],
    ],
    ['a batch with an error', [{ query: '{ me { role } }' }, { query: '{ project(projectId: "prj_none") { id } }' }]],
    ['several operations', { query: 'query A { me { role } } query B { me { userId } }', operationName: 'B' }],
  ])('a repeated operation has the same answer each time: %s', async (_, body) => {
    const [first, second, third] = await answersTo(body);
    expect(second).toEqual(first);
    expect(third).toEqual(first);
  });

  test('a repeated operation with an alias __proto__ has the same answer each time', async () => {
    const texts = (await answersTo({ query: '{ __proto__: __typename me { role } }' })).map((one) =>
      JSON.stringify(one.data),
    );
    expect(texts).toEqual(Array(3).fill('{"__proto__":"Query","me":{"role":"owner"}}'));
  });

  test('a query plan that always fails is tried less and less often', async () => {
    const query = `query Unlucky { project(projectId: "prj_${'0'.repeat(32)}") { id } }`;
    let times = 0;
    const stop = watchStatements((statement, count) => {
      if (/from "?projects/.test(statement)) times += count;
    });
    for (let n = 0; n < 10; n++) await world.graphql(query, { token });
    stop();
    // At the second, fourth and seventh execution, the service first tries the query plan, which fails after it has read the table. So ten
    // executions read the table 13 times.
    expect(times).toBe(13);
  });
});

test('429 · each operation of a batch counts, and a batch that does not fit into the rate is refused whole', async () => {
  const narrow = await openWorld({ requestsPerMinute: 5 });
  try {
    const { token: credential } = await createOwner(narrow, 'Alice', 'Acme');
    const batch = (size: number) => Array.from({ length: size }, () => ({ query: '{ me { principalType } }' }));
    const first = await narrow.request('POST', '/graphql', { token: credential, body: batch(4) });
    expect([first.status, first.body.length]).toEqual([200, 4]);
    expect(first.headers.get('ratelimit')).toContain('r=1;');
    const second = await narrow.request('POST', '/graphql', { token: credential, body: batch(2) });
    expect(second.status).toBe(429);
    expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(second.body.errors[0].extensions.code).toBe('rate_limited');
  } finally {
    await narrow.close();
  }
});
