// Every limit of the contract's Limits table, with values at the limit and one beyond, and other invalid input: types, ids, cursors,
// methods. The response is always a 4xx that names the field, never a 500, and nothing is written.
import { getNamedType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Invite } from '#domain/organization/invites/model.ts';
import { days } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import type { Problem, ProblemDetails } from '#foundation/problem.ts';
import { nonNullSchema } from '#graph/projection/json-schema.ts';
import { atOnce } from './support/at-once.ts';
import { unchangedRows } from './support/database-rows.ts';
import { refusalOfArgument, refusalOfBody, refusalOfQuery } from './support/declared-checks.ts';
import { bounds, x } from './support/limit-bounds.ts';
import {
  type Arguments,
  askField,
  bodyRoots,
  inputOf,
  isRequired,
  type Outcome,
  pathOf,
  type RootField,
  recordOf,
  rootField,
  rootFields,
  type Surface,
  surfacesOf,
} from './support/root-fields.ts';
import {
  adderOf,
  argumentsOf,
  bodyOf,
  type SampleOrganization,
  seedOrganization,
} from './support/sample-organization.ts';
import { type Answer, type Ask, openWorld, type World } from './support/world.ts';
import { isUndeclaredScope, named, type Property, wrongs } from './support/wrong-values.ts';

let world: World;
let sample: SampleOrganization;
/** The owner in the console, who may call everything except the runtime's fields. */
let owner: Ask;

beforeAll(async () => {
  world = await openWorld();
  sample = await seedOrganization(world);
  owner = { session: await world.session(sample.owner, sample.organization.id) };
});
afterAll(() => world.close());

const checked = (method: string, path: string, ask?: Ask) =>
  path.startsWith('/v1/') ? world.rest(method, path.slice('/v1'.length), ask) : world.request(method, path, ask);
const ask = (surface: Surface, root: RootField, args: Arguments): Promise<Outcome> =>
  askField(checked, surface, root, args, asker(root));
const asker = ({ exposure: { scope } }: RootField): Ask =>
  scope === 'runtime:report' ? { token: sample.serviceToken } : owner;

/** Arguments of which exactly one is invalid: an argument of the field itself, or a member of its body. */
function argumentsWith(root: RootField, name: string, value: unknown): Arguments {
  const args = argumentsOf(root, sample);
  if (root.field.args.some((argument) => argument.name === name)) return { ...args, [name]: value };
  return { ...args, input: { ...(args.input as object), [name]: value } };
}

const unchanged = () => unchangedRows(() => world.knex);
const untouched = (work: () => Promise<unknown>): Promise<void> => unchanged()(work);

/** Returns an empty list if the response is a 400 that names the field, otherwise a list with one complaint about the response. */
function unlessNamed(what: string, name: string, { status, problem, data }: Omit<Outcome, 'answer'>): string[] {
  const fine = status === 400 && problem?.code === 'invalid_request' && problem.description.includes(name);
  return fine ? [] : [`${what}: ${status} ${JSON.stringify(problem ?? data)}`];
}

/** Returns an empty list if the check refused the value with a 400 that names the field, otherwise a list with one complaint. */
const unlessRefused = (what: string, name: string, refusal: Problem | undefined): string[] =>
  unlessNamed(what, name, { status: refusal?.status ?? 200, problem: refusal?.details });

/** Returns the n-th value. If n exceeds the number of values, the count wraps around to the first value. */
const nth = <T>(values: readonly T[], n: number): T => values[n % values.length]!;

describe('a value at a limit of the Limits table is accepted, and a value beyond the limit is refused, in REST and GraphQL', () => {
  it.each(Object.entries(bounds).map(([name, bound]) => [name, bound.bound, bound] as const))(
    '%s accepts %s, and refuses a value beyond, in REST and GraphQL',
    async (place, _, { fits, beyond }) => {
      const [name, member] = place.split('.') as [string, string];
      const root = rootField(name);
      const surfaces = surfacesOf(root).filter(
        (surface) => surface !== 'REST' || !recordOf(root)?.beyondRest.includes(member),
      );
      for (const surface of surfaces) {
        for (const value of fits()) {
          const { status, problem } = await ask(surface, root, argumentsWith(root, member, value));
          expect([surface, value, status < 300, problem]).toEqual([surface, value, true, undefined]);
        }
      }
      await untouched(async () => {
        for (const surface of surfaces) {
          for (const [value, words] of beyond) {
            const outcome = await ask(surface, root, argumentsWith(root, member, value));
            expect(unlessNamed(`${surface} ${JSON.stringify(value)}`, `${member}: ${words}`, outcome)).toEqual([]);
          }
        }
      });
    },
  );

  const parameters = rootFields.flatMap((root) =>
    // The name of a server has its own pattern, and the number of an event is an integer.
    (root.route?.parameters ?? [])
      .filter((name) => name !== 'serverName' && name !== 'number')
      .map((name) => [root, name] as const),
  );
  const stays = unchanged();
  it.each(
    parameters.map(([root, name], n) => [`${root.route!.method} ${root.route!.template}`, name, root, n] as const),
  )('%s · %s has 1 to 200 characters', async (_, name, root, n) => {
    const beyond = [
      ['', 'must be at least 1 character'],
      [x(201), 'must be at most 200 characters'],
      [x(8_000), 'must be at most 200 characters'],
    ] as const;
    const unknown = ['x', x(200), ' ', 'a/b', 'ü', '*', '%', "' or 1=1 --"];
    for (const [value, words] of beyond) {
      const refusal = await refusalOfArgument(root, name, value);
      expect(unlessRefused(`${value.length} characters`, `${name}: ${words}`, refusal)).toEqual([]);
    }
    // The loop has tested every wrong length with the check that all surfaces share, so each surface is sent only one of these lengths.
    await stays(() =>
      atOnce(root.kind === 'Subscription' ? 1 : 2, [...surfacesOf(root).entries()], async ([i, surface]) => {
        const [value, words] = nth(beyond, n + i);
        const outcome = await ask(surface, root, argumentsWith(root, name, value));
        expect(unlessNamed(`${surface} ${value.length} characters`, `${name}: ${words}`, outcome)).toEqual([]);
        const text = nth(unknown, 2 * n + i);
        const { status, problem } = await ask(surface, root, argumentsWith(root, name, text));
        expect([surface, text, status, problem?.code]).toEqual([surface, text, 404, 'not_found']);
      }),
    );
  });

  it('GET /projects returns 20 rows by default, at most 100, and a cursor to the rest', async () => {
    const { organization, owner: person } = await seedOrganization(world);
    const rows = Array.from({ length: 101 }, (_, i) => ({
      id: newId('project'),
      orgId: organization.id,
      slug: `many-${i}`,
      name: 'Many',
      status: 'active',
      tracker: 'builtin',
      scmOwner: 'many',
      scmRepo: `${i}`,
      createdAt: 1,
    }));
    await world.knex('projects').insert(rows);
    const session = await world.session(person, organization.id);
    const usual = await world.rest('GET', '/projects', { session });
    expect([usual.body.data.length, typeof usual.body.nextCursor]).toEqual([20, 'string']);
    const most = await world.rest('GET', '/projects?limit=100', { session });
    expect([most.body.data.length, typeof most.body.nextCursor]).toEqual([100, 'string']);
    const rest = await world.rest('GET', `/projects?limit=100&cursor=${most.body.nextCursor}`, { session });
    // The test has created 101 projects, and the organization of these tests already has two.
    expect([rest.body.data.length, rest.body.nextCursor]).toEqual([3, null]);
  });

  it('a token gets 90 days and no scope by default, and always expires', async () => {
    const { body } = await world.rest('POST', '/tokens', { ...owner, body: { name: 'Usual' } });
    expect([body.expiresAt - body.createdAt, body.scopes, body.projectId]).toEqual([days(90), [], null]);
    for (const expiresInDays of [1, 365]) {
      const edge = await world.rest('POST', '/tokens', { ...owner, body: { name: 'Edge', expiresInDays } });
      expect(edge.body.expiresAt - edge.body.createdAt).toBe(days(expiresInDays));
    }
  });

  it.each([['1 to 255 printable characters', ['k', x(255), '~!"#'], ['', x(256), 'ü', 'a\tb']]])(
    'Idempotency-Key · a key has %s',
    async (_, fits, beyond) => {
      const body = () => bodyOf('CreateProjectRequest', sample);
      for (const key of fits) {
        const answer = await world.rest('POST', '/projects', {
          ...owner,
          body: body(),
          headers: { 'idempotency-key': key },
        });
        expect([key, answer.status]).toEqual([key, 201]);
      }
      await untouched(async () => {
        for (const key of beyond) {
          const headers = { 'idempotency-key': key };
          const { status, body: problem } = await world.rest('POST', '/projects', { ...owner, body: body(), headers });
          expect([key, status, problem.description]).toEqual([
            key,
            400,
            expect.stringContaining('Idempotency-Key: must be'),
          ]);
        }
      });
    },
  );
});

describe('400 · an invalid member of a body is named, in REST and GraphQL', () => {
  const stays = unchanged();
  it.each(bodyRoots.map((root) => [root.name, root] as const))('400 · %s names invalid members', async (_, root) => {
    const { json, beyondRest } = recordOf(root)!;
    const bodyIn = (args: Arguments) => (inputOf(root.field) ? (args.input as Arguments) : args);
    const right = bodyIn(argumentsOf(root, sample));
    const surfaces = surfacesOf(root);
    const complaints: string[] = [];
    /** Requests with invalid values. Only some values are sent, because the test checks all of them against the declaration directly. */
    const calls: (() => Promise<string[]>)[] = [];
    const addCall = (what: string, names: string[], surface: Surface, args: Arguments, mayLackScope = false) =>
      calls.push(async () => {
        const outcome = await ask(surface, root, args);
        if (mayLackScope && outcome.status === 403) return [];
        return names.flatMap((name) => unlessNamed(`${surface} ${what}`, name, outcome));
      });

    for (const [m, [member, property]] of Object.entries(json.properties as Record<string, Property>).entries()) {
      const all = wrongs([member], property, right[member]);
      for (const [i, { names, value, surfaces: possible }] of all.entries()) {
        const what = `${names.join('.')} = ${JSON.stringify(value)}`;
        const args = argumentsWith(root, member, value);
        const having = possible.filter(
          (one) => surfaces.includes(one) && (one === 'GraphQL' || !beyondRest.includes(member)),
        );
        for (const [k, surface] of having.entries()) {
          const refusal = await refusalOfBody(surface, root, args);
          if (refusal) complaints.push(...names.flatMap((name) => unlessRefused(`${surface} ${what}`, name, refusal)));
          // Each value that the declaration permits is sent once. Of the values that it rejects, one is sent for each member.
          if (refusal ? i === m % all.length && k === m % having.length : k === i % having.length)
            addCall(what, names, surface, args, isUndeclaredScope(names, value));
        }
      }
    }
    for (const [m, member] of (json.required ?? []).entries()) {
      const args = argumentsOf(root, sample);
      delete bodyIn(args)[member];
      for (const surface of surfaces) {
        const refusal = await refusalOfBody(surface, root, args);
        complaints.push(...unlessRefused(`${surface} without ${member}`, member, refusal));
      }
      addCall(`without ${member}`, [member], nth(surfaces, m + 1), args);
    }
    await stays(async () => {
      // If more than 16 calls ran at the same time, they could wait too long for a database connection, and fail.
      await atOnce(16, calls, async (call) => complaints.push(...(await call())));
      expect(complaints).toEqual([]);
    });
  });
});

describe('400 · an invalid query parameter', () => {
  const queries = rootFields.flatMap((root) =>
    root.kind === 'Query' && root.route
      ? root.route.field.args
          .filter(({ name }) => !root.route!.parameters.includes(name))
          .map(({ name, type }) => [`${root.name}.${name}`, root, name, `${type}`.replace('!', '')] as const)
      : [],
  );
  const get = (root: RootField, name: string, query: string) => {
    const args = argumentsOf(root, sample);
    delete args[name];
    const path = pathOf(root.route!, args);
    return checked('GET', `${path}${path.includes('?') ? '&' : '?'}${query}`, asker(root));
  };

  const numbered = queries.map((query, n) => [...query, n] as const);
  it.each(numbered)(
    '400 · %s is refused when repeated, badly encoded or of a wrong type',
    async (_, root, name, type, n) => {
      const texts = ['%00', '%', '%zz', '%ff', '%c3%28', '%ed%a0%80', 'a%0', '%u0041'];
      const numbers = [
        '',
        'abc',
        '1.5',
        '1e1',
        '0x10',
        '%201',
        '%2B1',
        '1,2',
        '%D9%A3',
        '99999999999',
        'NaN',
        'null',
        'true',
      ];
      const repeated = [`${name}=1&${name}=2`, `${name}=1&${name}=1`, `${name}=&${name}=`];
      const bad = [...texts, ...(type === 'Int' ? numbers : [])].map((value) => `${name}=${value}`);
      const refused = (query: string, status = 0, { code, description = '' }: Partial<ProblemDetails> = {}) => {
        expect([query, status, code]).toEqual([query, 400, 'invalid_request']);
        expect(description).toMatch(
          query.includes('%0') || query.startsWith(`${name}=%`) ? /./ : new RegExp(`^${name}: `),
        );
      };
      const args = argumentsOf(root, sample);
      delete args[name];
      const [, others] = pathOf(root.route!, args).split('?');
      for (const query of [...repeated, ...bad]) {
        const refusal = await refusalOfQuery(root, args, [...(others ? [others] : []), query].join('&'));
        refused(query, refusal?.status, refusal?.details);
      }
      // One function parses the query strings of all routes. The loop has tested it with every string, so only two are also sent over HTTP.
      for (const query of [nth(repeated, n), nth(bad, n)]) {
        const { status, body } = await get(root, name, query);
        refused(query, status, body);
      }
    },
  );

  it('200 · a parameter with an unknown name is ignored instead, whatever its value', async () => {
    const { status } = await world.rest(
      'GET',
      '/projects?limit[]=x&LIMIT=0&unknown=1&unknown=2&__proto__=1&=&&',
      owner,
    );
    expect(status).toBe(200);
  });

  let other: SampleOrganization;
  let elsewhere: Ask;
  beforeAll(async () => {
    other = await seedOrganization(world);
    elsewhere = { session: await world.session(other.owner, other.organization.id) };
  });

  const isPaging = (name: string) => name === 'limit' || name === 'cursor';
  // Root fields that read a log have a cursor but no limit, so they are left out here. sandbox-logs.test.ts tests their cursors.
  const paged = rootFields.filter(({ field }) => field.args.filter(({ name }) => isPaging(name)).length === 2);
  it.each(paged.map((root) => [root.name, root] as const))(
    '400 · %s refuses a cursor that is made up, or that belongs to another list, filter or organization',
    async (_, root) => {
      const [surface] = surfacesOf(root).reverse() as [Surface];
      const filters = root.field.args.filter((argument) => !isRequired(argument) && !isPaging(argument.name));
      const own = argumentsOf(root, sample);
      for (const { name } of filters) delete own[name];
      for (let rows = 0; rows < 2; rows++) {
        const adds = adderOf(root.name);
        if (typeof adds === 'function') await adds(sample, world);
        else
          expect((await ask('GraphQL', rootField(adds), argumentsOf(rootField(adds), sample))).problem).toBe(undefined);
      }
      const { nextCursor: good } = (await ask(surface, root, { ...own, limit: 1 })).data as { nextCursor: string };
      expect(typeof good).toBe('string');

      for (let rows = 0; rows < 2; rows++) {
        await world.rest('POST', '/invites', { ...owner, body: bodyOf('CreateInviteRequest', sample) });
      }
      const invites = await Invite.page({ orgId: sample.organization.id }, { limit: 1 });

      await untouched(async () => {
        const letters = Array.from(good, (_, i) => i).filter((i) => i % 7 === 0 || i >= good.length - 2);
        const changed = letters.map((i) => `${good.slice(0, i)}${good[i] === 'A' ? 'B' : 'A'}${good.slice(i + 1)}`);
        const foreign = [
          invites.nextCursor!,
          '',
          'AAAA',
          '0',
          '-',
          good.slice(1),
          good.slice(0, -4),
          `${good}AAAA`,
          x(500),
        ];
        const surfaces = surfacesOf(root);
        await atOnce(8, [...[...foreign, ...changed].entries()], async ([i, cursor]) => {
          const surface = surfaces[i % surfaces.length]!;
          const outcome = await ask(surface, root, { ...own, limit: 1, cursor });
          const complaint = unlessNamed(`${surface} ${cursor} for ${good}`, 'cursor: must be the nextCursor', outcome);
          expect(complaint).toEqual([]);
        });
        for (const { name, type } of filters) {
          const property = named(nonNullSchema(getNamedType(type)) as Property);
          const filter = property.enum?.[0] ?? { integer: 1, boolean: true }[String(property.type)] ?? 'x';
          const isInRest = root.route?.field.args.some((argument) => argument.name === name);
          const outcome = await ask(isInRest ? surface : 'GraphQL', root, { ...own, [name]: filter, cursor: good });
          expect(unlessNamed(`with ${name}`, 'cursor: must be the nextCursor', outcome)).toEqual([]);
        }
        const theirs = await askField(
          checked,
          surface,
          root,
          { ...argumentsOf(root, other), limit: 1, cursor: good },
          elsewhere,
        );
        expect(unlessNamed('elsewhere', 'cursor: must be the nextCursor', theirs)).toEqual([]);
        const long = await ask(surface, root, { ...own, cursor: x(501) });
        expect(unlessNamed('501 characters', 'cursor: must be at most 500 characters', long)).toEqual([]);
      });
      expect((await ask(surface, root, { ...own, limit: 1, cursor: good })).status).toBe(200);
    },
  );
});

describe('404 · an id of another kind', () => {
  const takers = rootFields.flatMap((root) =>
    root.field.args
      // A lease is not a record: a request with a wrong lease gets 409, as if another runtime held the run.
      .filter(
        ({ name, ...argument }) => isRequired({ name, ...argument }) && /^id$|Id$/.test(name) && name !== 'leaseId',
      )
      .map(({ name }) => [root.name, name, root] as const),
  );
  const numbered = takers.map(([field, name, root], n) => [field, name, root, n] as const);

  const stays = unchanged();
  it.each(numbered)('404 · %s refuses an id of another kind as %s', async (_, name, root, n) => {
    await stays(async () => {
      const others = Object.entries({ ...sample.ids, userId: sample.outsiderId }).filter(
        // Leaves out ids that the argument accepts: `providerId` also accepts SAML providers, `integrationId` accepts connectors and chats.
        ([kind], i) =>
          kind !== name &&
          !(name === 'providerId' && kind === 'samlProviderId') &&
          !(name === 'integrationId' && /ConnectorId$|^chatId$/.test(kind)) &&
          // Each argument is tested with some kinds of ids, different ones for each: all kinds would take 18,000 requests.
          (i + n) % 12 === 0,
      );
      const surfaces = surfacesOf(root);
      // The number of open subscriptions per caller is limited.
      await atOnce(root.kind === 'Subscription' ? 1 : 8, [...others.entries()], async ([i, [kind, id]]) => {
        const surface = surfaces[i % surfaces.length]!;
        const { status, problem } = await ask(surface, root, argumentsWith(root, name, id));
        expect([surface, kind, status, problem?.code]).toEqual([surface, kind, 404, 'not_found']);
      });
    });
  });

  it.each([
    ['createToken', 'projectId'],
    ['createMembership', 'userId'],
  ])('404 · %s refuses an id of another kind in the body as %s', async (name, member) => {
    const root = rootField(name);
    await untouched(async () => {
      for (const [kind, id] of Object.entries({ ...sample.ids, none: 'none' })) {
        if (kind === member) continue;
        for (const surface of surfacesOf(root)) {
          const { status } = await ask(surface, root, argumentsWith(root, member, id));
          expect([surface, kind, status]).toEqual([surface, kind, 404]);
        }
      }
    });
  });
});

describe('an unknown path or method', () => {
  const templates = [...new Set(rootFields.flatMap(({ route }) => (route ? [route.template] : [])))];
  const methodsOf = (template: string) =>
    rootFields.flatMap(({ route }) => (route?.template === template ? [route.method as string] : []));

  const stays = unchanged();
  it.each(templates.map((template, n) => [template, n] as const))(
    '%s answers HEAD like GET but without a body, OPTIONS with the allowed methods, and any other method with 405 and an Allow header',
    async (template, n) => {
      const root = rootFields.find(({ route }) => route?.template === template)!;
      const path = pathOf(root.route!, argumentsOf(root, sample));
      const declared = methodsOf(template);
      const allow = [...declared, ...(declared.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort();
      const told = ({ headers }: Answer) => headers.get('allow')?.split(', ').sort();
      await stays(async () => {
        for (const [i, method] of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'].entries()) {
          if (allow.includes(method)) continue;
          // The methods of a path are not secret, so the owner and a caller without a credential get the same response.
          const answer = await world.request(method, path, nth([owner, {}], n + i));
          expect([method, answer.status, told(answer)]).toEqual([method, 405, allow]);
          if (method !== 'HEAD') expect(answer.body.code).toBe('method_not_allowed');
        }
        const options = await world.request('OPTIONS', path);
        expect([options.status, told(options), options.body]).toEqual([204, allow, '']);
        if (declared.includes('GET')) {
          const [head, get] = [await world.request('HEAD', path, owner), await world.request('GET', path, owner)];
          expect([head.status, head.body]).toEqual([get.status, '']);
          expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(JSON.stringify(get.body))));
        }
      });
    },
  );

  it.each([
    ['/v1/projects/%', 400],
    ['/v1/projects/%zz', 400],
    ['/v1/projects/%ff', 400],
    ['/v1/projects/%c3%28', 400],
    ['/v1/projects/%ed%a0%80', 400],
    ['/v1/projects/%00', 400],
    ['/v1/projects/a%00b', 400],
    ['/v1/projects/', 400],
    ['/v1/organizations//memberships', 400],
    ['/v1/projects/a%2Fb', 404],
    ['/v1/projects/a/', 404],
    ['/v1/projects//', 404],
    ['/v1/projects/%252F', 404],
    ['/v1/projects/;a=b', 404],
    ['/v1/projects/__proto__', 404],
    ['/v1/constructor', 404],
    ['/v1/__proto__/a', 404],
  ])('%s returns %i', async (path, status) => {
    await stays(async () => {
      const answer = await checked('GET', path, owner);
      expect([answer.status, answer.body.code]).toEqual([status, status === 400 ? 'invalid_request' : 'not_found']);
    });
  });
});
