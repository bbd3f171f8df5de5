// The contract of the API, endpoint by endpoint and record by record (docs/contract.md), and the OpenAPI document.
import { validate } from '@readme/openapi-parser';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requestRecords } from '#graph/input.ts';
import { nonNullSchema } from '#graph/projection/json-schema.ts';
import { schema } from '#schema.ts';
import spec from './fixtures/spec.json' with { type: 'json' };
import { keepRows } from './support/database-rows.ts';
import { askField, bodyRoots, recordOf, rootFields } from './support/root-fields.ts';
import { admitted, argumentsOf, changesSample, seedOrganization } from './support/sample-organization.ts';
import { type Ask, openWorld } from './support/world.ts';

/** A field of a record in the notation of spec.json. */
interface Member {
  type?: string;
  ref?: string;
  items?: Member;
  req?: boolean;
  nullable?: boolean;
  enum?: unknown[];
  known?: unknown[];
  const?: unknown;
  default?: unknown;
  [bound: string]: unknown;
}
type Members = Record<string, Member>;

interface Endpoint {
  id: string;
  method: string;
  path: string;
  pathParams: Member[];
  query: (Member & { name: string; required: boolean })[];
  body: { schema: string } | null;
  response: { schema?: string; fields?: Members };
  /** Status of a successful response; by default 201 for a POST and 200 for other methods. */
  status?: number;
}

// biome-ignore lint/suspicious/noExplicitAny: a document is looked into
type Json = any;

const records = { ...spec.schemas, ...spec.gaps.schemas } as unknown as Record<string, Members>;
const endpoints = [...spec.endpoints, ...spec.gaps.endpoints] as unknown as Endpoint[];

const world = await openWorld();
const acme = await seedOrganization(world);
const document: Json = world.contract.document;
afterAll(() => world.close());

const routeOf = ({ method, path }: Endpoint) =>
  rootFields.find(({ route }) => route?.method === method && route.template === path);
const operationOf = ({ method, path }: Endpoint): Json => document.paths[path][method.toLowerCase()];

it('all 64 endpoints of the contract are served', () => {
  const served = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(spec.table).toHaveLength(64);
  expect(spec.table.filter((endpoint) => !served.includes(endpoint))).toEqual([]);
});

describe('an endpoint of the contract', () => {
  let restore: () => Promise<void>;
  beforeAll(async () => {
    restore = await keepRows(world.knex);
  });
  it.each(endpoints.map((one) => [one.id, one] as const))(
    '%s returns its record with every field that the contract lists',
    async (_, endpoint) => {
      const root = routeOf(endpoint);
      if (!root) throw new Error(`${endpoint.id} is not served.`);
      try {
        const ask = await admitted(world, acme, root);
        const { status, data } = await askField(checked, 'REST', root, argumentsOf(root, acme), ask);
        expect(status).toBe(endpoint.status ?? (endpoint.method === 'POST' ? 201 : 200));
        const { schema, fields } = endpoint.response;
        expect(complaints(fields ?? records[schema!]!, data, endpoint.id)).toEqual([]);
      } finally {
        if (changesSample(root)) await restore();
      }
    },
  );

  it.each(endpoints.map((one) => [one.id, one] as const))(
    '%s has its parameters in the OpenAPI document, with their limits',
    (_, endpoint) => {
      const { parameters } = operationOf(endpoint);
      const named = (place: string): Json[] => parameters.filter((one: Json) => one.in === place);
      const shown = (one: Json, asked: Member) => pick(one.schema, Object.keys(asked));
      expect(named('query').map(({ name, required }) => ({ name, required }))).toEqual(
        endpoint.query.map(({ name, required }) => ({ name, required })),
      );
      for (const [i, { name: _, required: __, ...bounds }] of endpoint.query.entries()) {
        expect(shown(named('query')[i], bounds)).toEqual(bounds);
      }
      for (const [i, { name, ...bounds }] of endpoint.pathParams.entries()) {
        expect([named('path')[i].name, shown(named('path')[i], bounds)]).toEqual([name, bounds]);
      }
    },
  );

  it.each(endpoints.flatMap(({ body }) => (body ? [[body.schema]] : [])))(
    '%s has its members in the OpenAPI document, with their limits and whether they are required',
    (name) => {
      const schema = document.components.schemas[name];
      const members = records[name]!;
      expect(Object.keys(schema.properties)).toEqual(Object.keys(members));
      expect(schema.required ?? []).toEqual(Object.keys(members).filter((key) => members[key]!.req));
      for (const [key, { req, note, known, enumComplete, nullable, items, ...bounds }] of Object.entries(members)) {
        const property = schema.properties[key];
        const bare = property.anyOf?.find((one: Json) => one.type !== 'null') ?? property;
        if (bounds.type === 'any') continue;
        // The document has the same regular expression with an escaped slash.
        const { pattern } = bare;
        const shown = {
          ...pick(bare, Object.keys(bounds)),
          ...('pattern' in bounds && { pattern: pattern.replace('\\/', '/') }),
        };
        expect([key, shown]).toEqual([key, bounds]);
        if (nullable) expect(property.anyOf).toContainEqual({ type: 'null' });
        if (items) expect(pick(bare.items, Object.keys(items))).toEqual(items);
        for (const word of known ?? []) expect(bare.enum).toContain(word);
      }
    },
  );
});

describe('a record of the contract', () => {
  const answered = Object.keys(records).filter((name) => !name.endsWith('Request') && name !== 'DuplicateProjectError');

  it.each(answered)(
    '%s is documented with its keys in order, the type of each, and whether it may be null or absent',
    (name) => {
      const schema = document.components.schemas[name];
      const members = records[name]!;
      const ours = name === 'Error' ? ['conflictingProjectId'] : [];
      expect(Object.keys(schema.properties)).toEqual([...Object.keys(members), ...ours]);
      expect(schema.required).toEqual(Object.keys(members).filter((key) => members[key]!.req !== false));
      for (const [key, member] of Object.entries(members)) {
        expect([key, ...misfits(member, schema.properties[key])]).toEqual([key]);
      }
    },
  );

  it('DuplicateProjectError has every field that the contract lists, and names the project that has the repository', async () => {
    const session = await world.session(acme.owner, acme.organization.id);
    const body = { name: 'Twice', repoFullName: 'twice/over' };
    const first = await world.rest('POST', '/projects', { session, body });
    const second = await world.rest('POST', '/projects', { session, body });
    expect(second.status).toBe(409);
    expect(complaints(records.DuplicateProjectError!, second.body, 'DuplicateProjectError')).toEqual([]);
    expect(second.body.conflictingProjectId).toBe(first.body.id);
  });

  it.each(Object.entries(spec.gaps.words))('%s has exactly the values that spec.json lists for it', (name, words) => {
    expect(nonNullSchema(schema.getType(name)!)).toMatchObject({ type: 'string', enum: words });
  });
});

describe('a path outside of the contract', () => {
  const strays = [
    ...['/v1', '/v1/', '/v1/webhook', '/v1/webhook/1', '/v1/docs', '/v1/swagger', '/v1/swagger.json', '/v1/graphql'],
    ...['/v1/unknown', '/v1//projects', '/v1/projects/a/b', '/v1/Projects', '/v1/openapi', '/v2/me', '/v1.0/me'],
    ...['/unknown', '/api', '/.env', '/v1/slugPreview', '/v1/slug-preview'],
  ];

  let token: string;
  beforeAll(async () => {
    const { owner, organization } = await seedOrganization(world);
    token = await world.token(owner, organization);
  });

  it.each(strays)('404 · %s returns the usual error body', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
      for (const ask of [{}, { token }]) {
        const answer = await world.request(method, path, ask);
        expect([method, answer.status, answer.body]).toEqual([
          method,
          404,
          {
            category: 'validation',
            title: 'Not found',
            description: 'No such path.',
            retryable: false,
            code: 'not_found',
          },
        ]);
      }
    }
  });
});

describe('the OpenAPI document', () => {
  const operations = (): [string, Json][] =>
    Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
      Object.entries<Json>(methods).map(([method, operation]): [string, Json] => [
        `${method.toUpperCase()} ${path}`,
        operation,
      ]),
    );
  const schemas = () => Object.entries<Json>(document.components.schemas);

  it('the OpenAPI document is valid OpenAPI 3.1', async () => {
    expect(document.openapi).toMatch(/^3\.1\.\d$/);
    expect(await validate(structuredClone(document))).toEqual({ valid: true, warnings: [], specification: 'OpenAPI' });
  });

  it('the OpenAPI document can be read by everyone, even by pages of other sites, and is cached', async () => {
    const { status, headers } = await world.request('GET', '/v1/openapi.json', {
      headers: { origin: 'https://a.example' },
    });
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'access-control-allow-origin': '*',
      'cache-control': 'public, max-age=300',
    });
    expect(headers.get('access-control-allow-credentials')).toBe(null);
    expect((await world.request('HEAD', '/v1/openapi.json')).status).toBe(200);
    expect((await world.request('POST', '/v1/openapi.json')).status).toBe(405);
  });

  it('the OpenAPI document states for each operation its credentials and its possible errors', () => {
    const kinds = Object.keys(document.components.securitySchemes);
    for (const [name, { security, responses, summary, operationId }] of operations()) {
      expect([name, security?.flatMap(Object.keys).every((kind: string) => kinds.includes(kind))]).toEqual([
        name,
        true,
      ]);
      expect([name, typeof summary, typeof operationId]).toEqual([name, 'string', 'string']);
      const statuses = Object.keys(responses);
      const needed = ['429', '500', '503', ...(security.length > 0 ? ['401', '403'] : [])];
      expect([name, needed.filter((status) => !statuses.includes(status))]).toEqual([name, []]);
    }
  });

  it('the OpenAPI document describes every route as its GraphQL field declares it', () => {
    for (const { route, exposure } of rootFields) {
      if (!route) continue;
      const name = `${route.method} ${route.template}`;
      const { security, ...operation } = document.paths[route.template][route.method.toLowerCase()];
      const scope = exposure.scope.includes(':') ? exposure.scope : undefined;
      expect([name, operation['x-required-scope']]).toEqual([name, scope]);
      expect([name, security.some((one: Json) => 'bearer' in one)]).toEqual([name, exposure.scope !== 'person']);
      expect([name, String(route.status) in operation.responses]).toEqual([name, true]);
    }
  });

  /** Names of the request records that a REST route accepts as its body. All other request records are accepted by GraphQL only. */
  const restRecords = () => new Set(bodyRoots.flatMap((root) => (root.route ? [recordOf(root)!.name] : [])));

  it('the OpenAPI document limits every parameter, and every member of a request', () => {
    const unbounded: string[] = [];
    for (const [name, { parameters = [] }] of operations()) {
      for (const { name: parameter, schema } of parameters) {
        if (parameter !== 'If-None-Match' && !isBounded(schema)) unbounded.push(`${name}: ${parameter}`);
      }
    }
    for (const record of restRecords()) {
      const { properties } = document.components.schemas[record];
      for (const [member, schema] of Object.entries<Json>(properties)) {
        if (!(schema.anyOf ?? [schema]).every(isBounded)) unbounded.push(`${record}.${member}`);
      }
    }
    expect(unbounded).toEqual([]);
  });

  it('the OpenAPI document shows an example of every request and of every error, and each is valid', () => {
    const ajv = new Ajv2020({ strict: false });
    formats.default(ajv);
    ajv.addSchema({ $id: 'openapi', ...document });
    const valid = (name: string, example: unknown) =>
      ajv.validate({ $ref: `openapi#/components/schemas/${name}` }, example) ? null : ajv.errorsText();
    // The other records need no example: their members are arguments, and another test covers the examples of operations.
    for (const record of [...restRecords()].filter((name) => requestRecords.has(name))) {
      const { examples } = document.components.schemas[record];
      expect([record, examples?.length > 0]).toEqual([record, true]);
      for (const example of examples) {
        expect([record, valid(record, example)]).toEqual([record, null]);
        expect([record, requestRecords.get(record)!.zod.safeParse(example).success]).toEqual([record, true]);
      }
    }
    for (const [name, response] of Object.entries<Json>(document.components.responses)) {
      expect([name, valid('Error', response.content['application/json'].example)]).toEqual([name, null]);
    }
  });

  it('the OpenAPI document has a summary, a description that names the scope, and valid examples of request and response for every operation', () => {
    const ajv = new Ajv2020({ strict: false });
    formats.default(ajv);
    ajv.addSchema({ $id: 'openapi', ...document });
    for (const [name, operation] of operations()) {
      const { summary, description, requestBody, responses, 'x-required-scope': scope } = operation;
      expect([name, summary?.length > 0, description?.length > summary?.length]).toEqual([name, true, true]);
      if (scope) expect([name, description]).toEqual([name, expect.stringContaining(`\`${scope}\``)]);
      const successes = Object.entries<Json>(responses).filter(([status]) => status < '300');
      const bodies = [requestBody, ...successes.map(([, response]) => response)];
      for (const { schema, example } of bodies.flatMap((body) => Object.values<Json>(body?.content ?? {}))) {
        // References are resolved from the root of the document.
        const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/'));
        expect([name, example !== undefined, ajv.validate(absolute, example) || ajv.errorsText()]).toEqual([
          name,
          true,
          true,
        ]);
      }
    }
  });

  it('the OpenAPI document describes every parameter, every record and every property', () => {
    const lacking: string[] = [];
    for (const [name, { parameters = [] }] of operations()) {
      for (const one of parameters) if (!one.description) lacking.push(`${name}: ${one.name}`);
    }
    const record = (name: string, { properties = {}, oneOf = [] }: Json): void => {
      for (const [key, one] of Object.entries<Json>(properties)) if (!one.description) lacking.push(`${name}.${key}`);
      for (const one of oneOf) record(name, one);
    };
    for (const [name, schema] of schemas()) {
      if (!schema.description) lacking.push(name);
      record(name, schema);
    }
    expect(lacking).toEqual([]);
  });

  it('the OpenAPI document has no dangling reference and no schema without a type', () => {
    for (const [name, schema] of schemas())
      expect([name, schema.type ?? ((schema.anyOf ?? schema.oneOf) && 'any of')]).not.toContain(undefined);
    for (const [reference] of JSON.stringify(document).matchAll(/#\/components\/\w+\/\w+/g)) {
      const [, , kind, name] = reference.split('/');
      expect([reference, name! in document.components[kind!]]).toEqual([reference, true]);
    }
  });
});

/** Calls the service and checks the response against the OpenAPI document. */
const checked = (method: string, path: string, ask?: Ask) => world.rest(method, path.slice('/v1'.length), ask);

const pick = (from: Json, keys: string[]) =>
  Object.fromEntries(keys.flatMap((key) => (key in from ? [[key, from[key]]] : [])));

const isBounded = (schema: Json): boolean => {
  if (schema.anyOf) return schema.anyOf.every(isBounded);
  const isChoice = [schema.type].flat().every((type) => ['boolean', 'null'].includes(type));
  if (schema.enum || 'const' in schema || isChoice) return true;
  if (schema.type === 'string') return schema.maxLength !== undefined || /^\^.*\}\$$/.test(schema.pattern ?? '');
  if (schema.type === 'array') return schema.maxItems !== undefined;
  if (schema.type === 'object' && schema.additionalProperties) {
    return schema.maxProperties !== undefined && isBounded(schema.additionalProperties);
  }
  if (schema.type === 'object') return Object.values(schema.properties).every(isBounded);
  return schema.minimum !== undefined && schema.maximum !== undefined;
};

/** Members of a response that are additional, missing, misplaced or of another type than in the record. */
function complaints(members: Members, value: Json, where: string): string[] {
  if (value === null || typeof value !== 'object') return [`${where} is not an object: ${JSON.stringify(value)}`];
  const wanted = Object.keys(members).filter((key) => members[key]!.req !== false || key in value);
  const keys = Object.keys(value);
  if (keys.join() !== wanted.join()) return [`${where} has ${keys.join()} and should have ${wanted.join()}`];
  return keys.flatMap((key) => misfit(members[key]!, value[key], `${where}.${key}`));
}

function misfit(member: Member, value: Json, where: string): string[] {
  const { type, ref, items, nullable, mayNull } = member;
  const wrong = [`${where} should be ${JSON.stringify(member)}, and is ${JSON.stringify(value)}`];
  if (value === null) return nullable || mayNull || type === 'any' ? [] : wrong;
  if (ref) return complaints(records[ref]!, value, where);
  if (member.enum && !member.enum.includes(value)) return wrong;
  if ('const' in member && member.const !== value) return wrong;
  if (member.pattern && !new RegExp(String(member.pattern)).test(value)) return wrong;
  if (type === 'array') {
    return Array.isArray(value) ? value.flatMap((one, i) => misfit(items!, one, `${where}.${i}`)) : wrong;
  }
  if (type === 'integer') return Number.isSafeInteger(value) ? [] : wrong;
  return type === 'any' || typeof value === type ? [] : wrong;
}

/** Differences between the document and the contract in one field. */
function misfits(member: Member, schema: Json): string[] {
  const types: string[] = [schema.type, schema.anyOf?.map((one: Json) => one.type)].flat(2).filter(Boolean);
  if (member.type === 'any') return [];
  const found: string[] = [];
  if (types.includes('null') !== (member.nullable ?? false)) found.push(`null: ${types}`);
  if (member.ref) {
    const references = [schema, ...(schema.anyOf ?? [])].map((one: Json) => one.$ref);
    if (!references.includes(`#/components/schemas/${member.ref}`)) found.push(`ref: ${JSON.stringify(schema)}`);
  } else if (!types.includes(member.type!)) found.push(`type: ${types}`);
  if (member.items) found.push(...misfits(member.items, schema.items));
  if (member.enum && member.enumComplete && member.enum.join() !== schema.enum?.join())
    found.push(`enum: ${schema.enum}`);
  for (const word of member.known ?? []) if (schema.enum && !schema.enum.includes(word)) found.push(`lacks ${word}`);
  if ('const' in member && schema.const !== member.const) found.push(`const: ${schema.const}`);
  return found;
}
