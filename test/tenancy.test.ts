// The tenancy matrix (docs/decisions/0036-another-organization-does-not-exist.md): every root field of the schema, called by every
// kind of foreign or less privileged caller through every surface that has it. Each call is refused with the right error, reveals
// nothing, and changes no row.
import { type GraphQLOutputType, getNamedType, isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '#access/principal.ts';
import { scopesOfRole } from '#access/scopes.ts';
import type { Id } from '#foundation/ids.ts';
import { keepRows, nothing, rowsOf, written } from './support/database-rows.ts';
import { type Impersonation, openImpersonation } from './support/impersonation.ts';
import {
  type Arguments,
  askField,
  documentOf,
  isRequired,
  type Outcome,
  type Request,
  type RootField,
  rootFields,
  type Surface,
  selectionOf,
  surfacesOf,
} from './support/root-fields.ts';
import {
  admitted,
  argumentsOf,
  changesSample,
  type SampleOrganization,
  seedOrganization,
} from './support/sample-organization.ts';
import { createStrangers, type Stranger, type Verdict } from './support/strangers.ts';
import { type Ask, openWorld, type World } from './support/world.ts';

let world: World;
let impersonation: Impersonation;
let acme: SampleOrganization;
let globex: SampleOrganization;
let strangers: Stranger[];

const nobody: Caller = {
  principalType: 'user',
  credentialId: 'test',
  userId: null,
  orgId: null,
  role: null,
  scopes: new Set(),
  projectId: null,
};

beforeAll(async () => {
  // Invalid credentials are counted per IP address, so each request uses another address.
  world = await openWorld({ trustProxy: true });
  impersonation = await openImpersonation();
  acme = await seedOrganization(world, 'Acme');
  globex = await seedOrganization(world, 'Globex');
  strangers = await createStrangers(world, acme, globex);
});
afterAll(async () => {
  await impersonation.close();
  await world.close();
});

/** The service of the world. Its REST responses are checked against the OpenAPI document. */
const checked: Request = (method, path, ask) =>
  path.startsWith('/v1/') ? world.rest(method, path.slice(3), ask) : world.request(method, path, ask);

let places = 0;
const elsewhere = (ask: Ask): Ask => ({
  ...ask,
  headers: { ...ask.headers, 'x-forwarded-for': `10.0.${++places >> 8}.${places & 255}` },
});

/** Describes how a response differs from the verdict, in one sentence; undefined if it does not differ. */
function complaint(stranger: Stranger, verdict: Verdict, args: Arguments, { status, data, problem }: Outcome) {
  // If the verdict is `served`, the response may contain the ids that the caller has sent.
  const named = verdict === 'served' ? JSON.stringify(args) : '';
  const seen = stranger
    .unseen?.()
    .filter((text) => !named.includes(text) && JSON.stringify(data ?? problem ?? null).includes(text));
  if (seen?.length) return `saw ${seen.join(', ')} in ${JSON.stringify(data ?? problem)}`;
  if (verdict === 'served') {
    return problem && `should have been served, and got ${status} ${problem.description}`;
  }
  if (verdict === 'finds nothing') {
    const rows = (data as { data?: unknown[] } | undefined)?.data;
    return rows?.length === 0 ? undefined : `should have found nothing, and got ${JSON.stringify(problem ?? data)}`;
  }
  const [wanted, code, words = ''] = verdict!;
  if (status === wanted && problem?.code === code && problem.description.includes(words)) return undefined;
  return `should have got ${wanted} ${code} ${words}, and got ${status} ${JSON.stringify(problem ?? data)}`;
}

/**
 * Each root field with all its arguments. If a field has optional arguments that filter by a record, it is called a second time without
 * them.
 */
const asked: [string, RootField, (root: RootField) => Arguments][] = rootFields.flatMap((root) => {
  const all = (of: RootField) => argumentsOf(of, acme);
  const required = (of: RootField) =>
    Object.fromEntries(of.field.args.filter(isRequired).map(({ name }) => [name, all(of)[name]]));
  const filters = root.field.args.some((argument) => /Id$/.test(argument.name) && !isRequired(argument));
  const whole: (typeof asked)[number] = [root.name, root, all];
  return filters ? [whole, [`${root.name}, unfiltered`, root, required]] : [whole];
});

/**
 * The APIs (GraphQL and REST) through which a caller calls a field. Most callers call a field through each API that has the field. A caller
 * whose `like` is set calls each field only once, some fields through GraphQL and others through REST. If `like` is `unknown`, the caller
 * calls only every third field.
 */
function surfacesFor({ like }: Stranger, root: RootField, turn: number): Surface[] {
  if (like === 'unknown' && turn % 3 > 0) return [];
  const all = surfacesOf(root);
  return like ? [all[Math.floor(turn / 3) % all.length]!] : all;
}

describe('callers without access are refused, and change no row', () => {
  let left: string[] | undefined;
  const numbered = asked.map((one, n) => [...one, n] as const);
  it.each(numbered)('%s is refused to callers without access, and changes no row', async (_, root, argumentsFor, n) => {
    // Nothing else writes between two tests, so the rows after the previous test are also the rows before this test.
    const before = left ?? (await rowsOf(world.knex));
    let mayAdd = false;
    const complaints = await Promise.all(
      strangers.map(async (stranger, s) => {
        const ask = stranger.ask(root);
        const problems = new Set<string>();
        const lines = await Promise.all(
          surfacesFor(stranger, root, n + s).map(async (surface) => {
            const args = argumentsFor(root);
            const verdict = stranger.verdict(root, args, surface);
            if (!verdict) return [];
            if (verdict === 'served' && root.kind === 'Mutation') mayAdd = true;
            const outcome = await askField(stranger.through?.() ?? checked, surface, root, args, elsewhere(ask));
            if (outcome.problem) problems.add(JSON.stringify(outcome.problem));
            const words = complaint(stranger, verdict, args, outcome);
            return words ? [`${stranger.name}, ${surface}: ${words}`] : [];
          }),
        );
        if (problems.size > 1)
          lines.push([`${stranger.name} is told different things: ${[...problems].join(' and ')}`]);
        return lines.flat();
      }),
    );
    expect(complaints.flat()).toEqual([]);

    left = await rowsOf(world.knex);
    const { gone, come } = written(before, left);
    // A caller of another organization may change records of its own organization, but no records of Acme.
    const ofAcme = (row: string) => [...Object.values(acme.ids), ...acme.words].some((text) => row.includes(text));
    expect(gone.filter((row) => !mayAdd || ofAcme(row))).toEqual([]);
    expect(come.filter((row) => !mayAdd || ofAcme(row))).toEqual([]);
  });
});

describe('the requests that are refused above succeed for a caller with access, so no refusal is due to the request itself', () => {
  let before: string[];
  let restore: () => Promise<void>;
  beforeAll(async () => {
    [before, restore] = [await rowsOf(world.knex), await keepRows(world.knex)];
  });

  it.each(rootFields.map((root) => [root.name, root] as const))('%s succeeds with full access', async (_, root) => {
    for (const surface of surfacesOf(root)) {
      try {
        const ask = await admitted(world, acme, root);
        const { status, problem } = await askField(checked, surface, root, argumentsOf(root, acme), ask);
        expect([status, problem]).toEqual([surface === 'REST' ? root.route!.status : 200, undefined]);
      } finally {
        // Undoes all changes, so that the next call finds the organization as it was. A mutation changes records. A query changes nothing, but
        // before a query that requires a closed organization, `admitted` closes the organization, and this must be undone, too.
        if (changesSample(root)) await restore();
      }
    }
  });

  it('the requests of a caller with access leave the same rows as before, because the test undoes each change', async () => {
    await restore();
    expect(written(before, await rowsOf(world.knex))).toEqual(nothing);
  });
});

interface Link {
  name: string;
  rule: string;
  root: RootField;
  target: GraphQLOutputType;
  /** The fields from the root field to the record, then the link itself. */
  way: string[];
  /** The access rules of the root field and of the relations on the path to the record. */
  rules: string[];
}

/** Every relation of every record, with the shortest path to it. */
function links(): Link[] {
  const found: Link[] = [];
  const seen = new Set<string>();
  let steps = rootFields
    .filter(({ kind }) => kind === 'Query')
    .map((root) => ({
      root,
      type: getNamedType(root.field.type),
      way: [] as string[],
      rules: [`${root.exposure.scope}`],
    }));
  while (steps.length > 0) {
    const next: typeof steps = [];
    for (const { root, type, way, rules } of steps) {
      if (!isObjectType(type) || seen.has(type.name)) continue;
      seen.add(type.name);
      for (const field of Object.values(type.getFields())) {
        const rule = 'link' in field.extensions ? `${field.extensions.link}` : undefined;
        const there = { root, way: [...way, field.name], rules: rule ? [...rules, rule] : rules };
        if (rule) found.push({ ...there, name: `${type.name}.${field.name}`, rule, rules, target: field.type });
        next.push({ ...there, type: getNamedType(field.type) });
      }
    }
    steps = next;
  }
  return found;
}

describe('a relation is followed only with its scope, organization and project', () => {
  const caller = ({ owner, organization }: SampleOrganization, changes: Partial<Caller>): Caller => ({
    ...nobody,
    userId: owner.id,
    orgId: organization.id,
    role: 'owner',
    scopes: scopesOfRole('owner'),
    ...changes,
  });
  /**
   * Sends a query that follows a relation. If the path of the relation begins at a field that only persons may use, the caller is a person
   * with a console session. Otherwise the caller is a person with a token.
   */
  const follow = async ({ root, way, target }: Link, sample: SampleOrganization, changes: Partial<Caller> = {}) => {
    const principalType = root.exposure.scope === 'person' ? 'cookie' : 'user';
    const args = argumentsOf(root, acme);
    const query = documentOf(
      root,
      args,
      way.reduceRight((inner, name) => `{ ${name} ${inner} }`, selectionOf(target)),
    );
    const ask = impersonation.as(caller(sample, { principalType, ...changes }));
    return (await impersonation.request('POST', '/graphql', { ...ask, body: { query, variables: args } })).body;
  };

  it.each(links().map((link) => [link.name, link] as const))(
    'the relation %s is followed only with its scope, organization and project',
    async (_, link) => {
      expect((await follow(link, acme)).errors).toBe(undefined);

      const scopes = new Set([...scopesOfRole('owner')].filter((scope) => scope !== link.rule));
      const refused = (await follow(link, acme, { scopes })).errors[0];
      expect(refused.extensions.code).toBe('missing_scope');
      expect(refused.message).toContain(`missing-scope:${link.rule}.`);
      if (!link.rules.includes(link.rule)) expect(refused.path.at(-1)).toBe(link.way.at(-1));

      const foreign = JSON.stringify(await follow(link, globex));
      for (const text of [...Object.values(acme.ids), ...acme.words]) expect(foreign).not.toContain(text);
      const bound = JSON.stringify(await follow(link, acme, { projectId: acme.otherProjectId as Id<'project'> }));
      const unseen = [...acme.words, ...Object.values(acme.ofProject)].filter((text) => text !== acme.owner.email);
      for (const text of unseen) expect(bound).not.toContain(text);
    },
  );
});
