// The tenancy matrix (docs/decisions/0036-another-organization-does-not-exist.md): every root field of the schema, called by every
// kind of foreign or less privileged caller through every surface that has it. Each call is refused with the right error, reveals
// nothing, and changes no row.
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type GraphQLOutputType, getNamedType, isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '#access/principal.ts';
import { type OrgRole, orgRoles } from '#access/roles.ts';
import { presetScopes, scopesOfRole } from '#access/scopes.ts';
import { registerAnonymous } from '#domain/identity/agent-identities/register.ts';
import { issueAccessToken } from '#domain/identity/oauth/access-tokens.ts';
import { hours } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { digest } from '#foundation/secrets/secrets.ts';
import { folderStorage } from '#foundation/storage/folder.ts';
import { openStorage } from '#foundation/storage/storage.ts';
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
import { type Ask, openWorld, present, type Session, type World } from './support/world.ts';

/** Expected result: a refusal, or an answer without any data of the sample; undefined if the call is not made. */
type Verdict = [status: number, code: string, words?: string] | 'served' | 'finds nothing' | undefined;

interface Stranger {
  name: string;
  ask: (root: RootField) => Ask;
  verdict: (root: RootField, args: Arguments, surface: Surface) => Verdict;
  /** Texts that must not be in any answer to this caller. */
  unseen?: () => string[];
  /** Service to call; by default the world's own, whose REST answers are checked against the OpenAPI document. */
  through?: () => Request;
}

let world: World;
let impersonation: Impersonation;
let acme: SampleOrganization;
let globex: SampleOrganization;
let strangers: Stranger[];
let ownerSession: Session;

const nobody: Caller = {
  principalType: 'user',
  credentialId: 'test',
  userId: null,
  orgId: null,
  role: null,
  scopes: new Set(),
  projectId: null,
};

const unauthenticated: Verdict = [401, 'unauthenticated'];
const notFound: Verdict = [404, 'not_found'];
const forbidden: Verdict = [403, 'forbidden'];
const missing = (scope: string): Verdict => [403, 'missing_scope', `missing-scope:${scope}.`];

beforeAll(async () => {
  // Invalid credentials are counted per address, so each request has another one.
  world = await openWorld({ trustProxy: true });
  // Contents of the sample's artifacts are missing.
  openStorage(folderStorage(path.join(tmpdir(), 'aep-no-contents')));
  impersonation = await openImpersonation();
  acme = await seedOrganization(world, 'Acme');
  globex = await seedOrganization(world, 'Globex');
  ownerSession = await world.session(acme.owner, acme.organization.id);
  strangers = [...(await nobodies()), ...(await lesser()), ...(await foreigners()), ...(await cookies())];
});
afterAll(async () => {
  await impersonation.close();
  await world.close();
});

/** Verdict for a bearer whose scopes do not satisfy the field's rule. */
function short({ exposure: { scope } }: RootField, held: ReadonlySet<string>): Verdict {
  if (scope === 'any-caller') return undefined;
  if (scope === 'person') return forbidden;
  return held.has(scope) ? undefined : missing(scope);
}

/** Callers without any access, or no longer with any. */
async function nobodies(): Promise<Stranger[]> {
  const change = async (table: string, secret: string, changes: object) =>
    expect(
      await world
        .knex(table)
        .where({ digest: digest(secret) })
        .update(changes),
    ).toBe(1);
  const expired = await world.token(acme.owner, acme.organization);
  await change('tokens', expired, { expiresAt: present() });
  const revoked = await world.token(acme.owner, acme.organization);
  await change('tokens', revoked, { revokedAt: present() });
  const forMcp = await transaction((trx) =>
    issueAccessToken(trx, {
      owner: { signInId: acme.ids.delegationId as Id<'signIn'> },
      resource: 'mcp',
      scopes: [...scopesOfRole('owner')],
      grantExpiresAt: present() + hours(1),
    }),
  );
  const leaver = await world.person('Leaver');
  await world.join(acme.organization, leaver, 'owner');
  const left = await world.token(leaver, acme.organization);
  await world.knex('memberships').where({ userId: leaver.id }).delete();
  const ended = await world.session(acme.owner, acme.organization.id);
  await change('sessions', ended.secret, { endedAt: present() });

  const credentials: Record<string, Ask> = {
    'nobody, without a credential': {},
    'a made-up token': { token: `pat_${'x'.repeat(43)}` },
    'a token of no known kind': { token: `tok_${'x'.repeat(43)}` },
    'an expired token': { token: expired },
    'a revoked token': { token: revoked },
    'a token made for the MCP server': { token: forMcp.accessToken },
    'the token of an owner who has left': { token: left },
    'an ended session': { session: ended },
    'a bad token beside the owner’s own session': { token: 'pat_bad', session: ownerSession },
  };
  return Object.entries(credentials).map(([name, ask]) => ({ name, ask: () => ask, verdict: () => unauthenticated }));
}

/** Members with a lesser role, and credentials with fewer scopes. */
async function lesser(): Promise<Stranger[]> {
  const all = presetScopes('all', scopesOfRole('owner'));
  const without = new Map<string, string>();
  for (const scope of new Set(rootFields.map((root) => root.exposure.scope))) {
    const scopes = all.filter((one) => one !== scope);
    without.set(scope, await world.token(acme.owner, acme.organization, { scopes }));
  }
  const list: Stranger[] = [
    {
      name: 'a token that lacks exactly the scope',
      ask: ({ exposure: { scope } }) => ({ token: without.get(scope)! }),
      verdict: (root) => short(root, new Set([...all].filter((one) => one !== root.exposure.scope))),
    },
  ];
  const agent = await unclaimedAgent();
  list.push({
    name: 'the access token of an agent that nobody has claimed',
    ask: () => ({ token: agent }),
    verdict: ({ exposure: { scope } }) => (scope === 'any-caller' ? 'served' : [403, 'agent_not_claimed']),
    unseen: () => [...Object.values(acme.ids), ...acme.words],
  });
  list.push({
    name: 'the service token of another organization',
    ask: () => ({ token: globex.serviceToken }),
    verdict: (root, args) => short(root, new Set(['runtime:report'])) ?? foreign(root, args),
    unseen: () => [...Object.values(acme.ids), ...acme.words],
  });

  for (const role of orgRoles) {
    const person = await world.person(`Lesser-${role}`);
    await world.join(acme.organization, person, role);
    const [token, session] = [
      await world.token(person, acme.organization),
      await world.session(person, acme.organization.id),
    ];
    const held = scopesOfRole(role);
    list.push({
      name: `the token of a person who is ${role}`,
      ask: () => ({ token }),
      verdict: (root) => short(root, held),
    });
    list.push({
      name: `the session of a person who is ${role}`,
      ask: () => ({ session }),
      verdict: (root, args) => (root.exposure.scope === 'person' ? another(root, args) : short(root, held)),
      unseen: () => Object.values(acme.ofOwner),
    });
    list.push(await demoted(role));
  }
  return list;
}

async function unclaimedAgent(): Promise<string> {
  const { registrationId } = await registerAnonymous('Agent');
  const { accessToken } = await transaction((trx) =>
    issueAccessToken(trx, {
      owner: { registrationId },
      resource: 'api',
      scopes: [],
      grantExpiresAt: present() + hours(1),
    }),
  );
  return accessToken;
}

/** Credentials of a person do not exist for another person of the organization either. */
function another({ kind }: RootField, args: Arguments): Verdict {
  if (Object.keys(args).some((name) => name in acme.ofOwner)) return notFound;
  return kind === 'Mutation' ? undefined : 'served';
}

/** The owner's token with all scopes, after a demotion: the current role counts at each use. */
async function demoted(role: OrgRole): Promise<Stranger> {
  const person = await world.person(`Former-owner-${role}`);
  await world.join(acme.organization, person, 'owner');
  const token = await world.token(person, acme.organization);
  await world.knex('memberships').where({ userId: person.id }).update({ role });
  return {
    name: `the token of a former owner who is ${role} now`,
    ask: () => ({ token }),
    verdict: (root) => short(root, scopesOfRole(role)),
  };
}

/** Fields that a project-bound credential may use for records outside its project, each with the reason. */
const openToBound: Record<string, string> = {
  me: 'the caller itself',
  scopes: 'the catalog is the same for everyone',
  billingOffers: 'the offers are the same for everyone',
  scheduledTaskTemplates: 'the templates are the same for everyone',
  automationTemplates: 'the templates are the same for everyone',
  agentCatalog: 'the catalog is the same for everyone',
  slugPreview: 'tells of the whole service, nothing of an organization',
  slugAvailability: 'tells of the whole service, nothing of an organization',
  projects: 'project records stay readable across the organization (docs/contract.md#project-bound-credentials)',
  project: 'project records stay readable across the organization (docs/contract.md#project-bound-credentials)',
  mcpBindings: 'shows the bindings of its own project alone',
  inbox: 'shows the items of its own project alone',
  inboxCount: 'counts the items of its own project alone',
  inboxUpdated: 'counts the items of its own project alone',
};
/** Fields that require a person in the console alongside their scope. */
const ofPeople: ReadonlySet<string> = new Set(['createRuntimeToken']);
/** Fields about another project, although no id in `ofProject` says so: the project is named directly, or in the body. */
const ofOtherProject = [
  'projectMcp',
  'mcpToolReview',
  'updateProjectMcp',
  'putMcpBinding',
  'deleteMcpBinding',
  'refreshMcpTools',
].concat(
  [
    'startMcpOAuth',
    'completeMcpOAuth',
    'startMission',
    'startMissions',
    'pushCheckpoint',
    'submitReview',
    'createSecret',
    'createIssue',
  ],
  ['markInboxItemDone', 'restoreInboxItem'],
);
/** A bound credential sees everything of its project and nothing of others; fields of the whole organization are refused. */
function bound(root: RootField, args: Arguments): Verdict {
  const { exposure, name, field } = root;
  if (exposure.scope === 'person') return forbidden;
  if (exposure.scope === 'runtime:report') return missing(exposure.scope);
  if (name in openToBound) return 'served';
  if (ofOtherProject.includes(name)) return notFound;
  const named = field.args.filter((argument) => argument.name in args);
  if (named.some((argument) => argument.name in acme.ofProject && isRequired(argument))) return notFound;
  if (named.some((argument) => argument.name === 'projectId' && !isRequired(argument))) return 'finds nothing';
  return field.args.some((argument) => argument.name === 'projectId' && !isRequired(argument)) ? 'served' : forbidden;
}

/** Callers with an identity in another organization. */
async function foreigners(): Promise<Stranger[]> {
  const token = await world.token(globex.owner, globex.organization);
  const session = await world.session(globex.owner, globex.organization.id);
  const boundToken = await world.token(acme.owner, acme.organization, { projectId: acme.otherProjectId });
  // A token holds at most 25 scopes, so those that the preset `all` leaves out are on a separate token.
  const scopes = [
    'billing:read',
    'billing:write',
    'setup:read',
    'setup:write',
    'secrets:read',
    'secrets:write',
    'audit:read',
    'webhooks:read',
    'webhooks:write',
    // The destination of the audit log needs the scope as well.
    'organizations:write',
  ];
  const otherToken = await world.token(globex.owner, globex.organization, { scopes });
  const otherBoundToken = await world.token(acme.owner, acme.organization, { scopes, projectId: acme.otherProjectId });
  const isLeftOut = ({ exposure: { scope } }: RootField) => scopes.includes(scope);
  const unseen = () => [...Object.values(acme.ids), ...acme.words];
  return [
    {
      name: 'the token of another organization’s owner',
      ask: (root) => ({ token: isLeftOut(root) ? otherToken : token }),
      verdict: (root, args) =>
        short(root, scopesOfRole('owner')) ?? (ofPeople.has(root.name) ? forbidden : foreign(root, args)),
      unseen,
    },
    {
      name: 'the session of another organization’s owner',
      ask: () => ({ session }),
      verdict: (root, args) =>
        root.exposure.scope === 'runtime:report' ? missing('runtime:report') : foreign(root, args),
      unseen,
    },
    {
      name: 'another organization’s owner who names this one in X-Org-Id',
      ask: () => ({ session, headers: { 'x-org-id': acme.organization.id } }),
      verdict: () => notFound,
      through: () => world.request,
    },
    {
      name: 'a token that is bound to another project',
      ask: (root) => ({ token: isLeftOut(root) ? otherBoundToken : boundToken }),
      verdict: bound,
      // Records of projects may contain the organization's id, but not its name or its members.
      unseen: () => [...acme.words, ...Object.values(acme.ofProject)],
    },
  ];
}

/** Records of another organization do not exist; a filter by them finds nothing; the caller's own organization is served. */
function foreign({ field, name }: RootField, args: Arguments): Verdict {
  // The answer says for each run whether to stop, even for an unknown one.
  if (name === 'heartbeat') return 'served';
  const naming = field.args.filter(({ name }) =>
    Object.values(acme.ids).some((id) => JSON.stringify(args[name] ?? null).includes(id)),
  );
  if (naming.some(isRequired)) return notFound;
  return naming.length > 0 ? 'finds nothing' : 'served';
}

/** Requests with the owner's cookie, sent by another site. */
async function cookies(): Promise<Stranger[]> {
  const cookie = `session=${ownerSession.secret}`;
  const csrf = { 'x-csrf-token': ownerSession.csrf };
  const other = await world.session(acme.owner, acme.organization.id);
  const writes = ({ kind }: RootField, surface: Surface) => surface === 'GraphQL' || kind === 'Mutation';
  const without = (name: string, headers: Record<string, string>): Stranger => ({
    name,
    ask: () => ({ headers: { cookie, 'sec-fetch-site': 'same-origin', ...headers } }),
    verdict: (root, _, surface) => (writes(root, surface) ? forbidden : undefined),
  });
  const elsewhere = (name: string, headers: Record<string, string>): Stranger => ({
    name,
    ask: () => ({ headers: { cookie, ...csrf, ...headers } }),
    verdict: () => unauthenticated,
  });
  return [
    without('the owner’s cookie without its CSRF header', {}),
    without('the owner’s cookie with a made-up CSRF header', { 'x-csrf-token': 'x'.repeat(43) }),
    without('the owner’s cookie with the CSRF header of another session', { 'x-csrf-token': other.csrf }),
    elsewhere('the owner’s cookie from another site', { 'sec-fetch-site': 'cross-site' }),
    elsewhere('the owner’s cookie from a neighbour’s host', { 'sec-fetch-site': 'same-site' }),
    elsewhere('the owner’s cookie from another origin', { origin: 'https://evil.example' }),
    elsewhere('the owner’s cookie from who knows where', {}),
  ];
}

/** The world's service; REST answers are checked against the OpenAPI document. */
const checked: Request = (method, path, ask) =>
  path.startsWith('/v1/') ? world.rest(method, path.slice(3), ask) : world.request(method, path, ask);

let places = 0;
const elsewhere = (ask: Ask): Ask => ({
  ...ask,
  headers: { ...ask.headers, 'x-forwarded-for': `10.0.${++places >> 8}.${places & 255}` },
});

/** A sentence about an answer that differs from the verdict; otherwise undefined. */
function complaint(stranger: Stranger, verdict: Verdict, args: Arguments, { status, data, problem }: Outcome) {
  // A served caller may see the ids that it sent.
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

/** Each root field, and those with filters by records a second time without them. */
const asked: [string, RootField, (root: RootField) => Arguments][] = rootFields.flatMap((root) => {
  const all = (of: RootField) => argumentsOf(of, acme);
  const required = (of: RootField) =>
    Object.fromEntries(of.field.args.filter(isRequired).map(({ name }) => [name, all(of)[name]]));
  const filters = root.field.args.some((argument) => /Id$/.test(argument.name) && !isRequired(argument));
  const whole: (typeof asked)[number] = [root.name, root, all];
  return filters ? [whole, [`${root.name}, unfiltered`, root, required]] : [whole];
});

describe('callers without access are refused, and change no row', () => {
  it.each(asked)('%s', async (_, root, argumentsFor) => {
    const before = await rowsOf(world.knex);
    let mayAdd = false;
    const complaints = await Promise.all(
      strangers.map(async (stranger) => {
        const ask = stranger.ask(root);
        const problems = new Set<string>();
        const lines = await Promise.all(
          surfacesOf(root).map(async (surface) => {
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

    const { gone, come } = written(before, await rowsOf(world.knex));
    expect(gone).toEqual([]);
    if (!mayAdd) expect(come).toEqual([]);
    // A caller from another organization may add records in that organization, but none about Acme.
    for (const text of [...Object.values(acme.ids), ...acme.words]) {
      expect(come.filter((row) => row.includes(text))).toEqual([]);
    }
  });
});

describe('a caller with access is served with the same requests, so that no refusal is due to the request', () => {
  let before: string[];
  let restore: () => Promise<void>;
  beforeAll(async () => {
    [before, restore] = [await rowsOf(world.knex), await keepRows(world.knex)];
  });

  it.each(rootFields.map((root) => [root.name, root] as const))('%s', async (_, root) => {
    for (const surface of surfacesOf(root)) {
      try {
        const ask = await admitted(world, acme, root);
        const { status, problem } = await askField(checked, surface, root, argumentsOf(root, acme), ask);
        expect([status, problem]).toEqual([surface === 'REST' ? root.route!.status : 200, undefined]);
      } finally {
        // The next call finds the organization unchanged; only a closed one has a closure and an export.
        if (changesSample(root)) await restore();
      }
    }
  });

  it('each request of a caller with access finds the same rows, because the changes of the others are undone', async () => {
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
  /** The rules of the root and of the links on the way. */
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
  /** Follows a relation; as a person where the path begins at a field for persons only. */
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

  it.each(links().map((link) => [link.name, link] as const))('%s', async (_, link) => {
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
  });
});
