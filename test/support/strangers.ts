// Callers for the tests of tenancy: they belong to another organization, or have fewer rights than an owner. Each caller comes with the
// verdict that it must get for a root field of the schema.
import { expect } from 'vitest';
import { type OrgRole, orgRoles } from '#access/roles.ts';
import { presetScopes, scopesOfRole } from '#access/scopes.ts';
import { registerAnonymous } from '#domain/identity/agent-identities/register.ts';
import { issueAccessToken } from '#domain/identity/oauth/access-tokens.ts';
import { hours } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { digest } from '#foundation/secrets/secrets.ts';
import { type Arguments, isRequired, type Request, type RootField, rootFields, type Surface } from './root-fields.ts';
import type { SampleOrganization } from './sample-organization.ts';
import { type Ask, present, type World } from './world.ts';

/** Expected result: a refusal, or a response without any data of the sample. Undefined: this caller does not make the call. */
export type Verdict = [status: number, code: string, words?: string] | 'served' | 'finds nothing' | undefined;

export interface Stranger {
  name: string;
  ask: (root: RootField) => Ask;
  verdict: (root: RootField, args: Arguments, surface: Surface) => Verdict;
  /** Texts that must not be in any response to this caller. */
  unseen?: () => string[];
  /**
   * Set when this caller makes only some of the calls of the tests, because another caller makes all calls and gets the same refusals.
   * `unknown`: the service refuses the credential of this caller before it reads the request. The other caller sends no credential, and the
   * service refuses that caller at the same point. `role`: the role of this caller lacks the scopes of some fields. The other caller sends a
   * token that lacks exactly the scope of the field.
   */
  like?: 'unknown' | 'role';
  /** The service to call. By default it is the world's service, whose REST responses are checked against the OpenAPI document. */
  through?: () => Request;
}

const unauthenticated: Verdict = [401, 'unauthenticated'];
const notFound: Verdict = [404, 'not_found'];
const forbidden: Verdict = [403, 'forbidden'];
const missing = (scope: string): Verdict => [403, 'missing_scope', `missing-scope:${scope}.`];

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
/** Fields that require not only a scope but also that the caller is a person in the console. */
const ofPeople: ReadonlySet<string> = new Set(['createRuntimeToken', 'createDirectoryToken']);
/**
 * Fields that concern one project, although none of their required arguments is in `ofProject`. A credential that is bound to another
 * project gets "not found" from them.
 */
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

/** Verdict for a bearer whose scopes do not satisfy the field's rule. */
function short({ exposure: { scope } }: RootField, held: ReadonlySet<string>): Verdict {
  if (scope === 'any-caller') return undefined;
  if (scope === 'person') return forbidden;
  return held.has(scope) ? undefined : missing(scope);
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

/** Callers that have no access to the records of `acme`, or less access than the owner of `acme`: one of every kind. */
export async function createStrangers(
  world: World,
  acme: SampleOrganization,
  globex: SampleOrganization,
): Promise<Stranger[]> {
  const ownerSession = await world.session(acme.owner, acme.organization.id);
  return [...(await nobodies()), ...(await lesser()), ...(await foreigners()), ...(await cookies())];

  /** Callers that never had access, or have lost it. */
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
    return Object.entries(credentials).map(([name, ask]) => ({
      name,
      ask: () => ask,
      verdict: () => unauthenticated,
      ...(Object.keys(ask).length > 0 && { like: 'unknown' as const }),
    }));
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
        like: 'role',
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

  /** The verdict for another person of the same organization. For this person, records that belong to the owner personally do not exist. */
  function another({ kind }: RootField, args: Arguments): Verdict {
    if (Object.keys(args).some((name) => name in acme.ofOwner)) return notFound;
    return kind === 'Mutation' ? undefined : 'served';
  }

  /**
   * A former owner's token that has all scopes, although the person now has a lower role. The service checks the current role at each use
   * of the token.
   */
  async function demoted(role: OrgRole): Promise<Stranger> {
    const person = await world.person(`Former-owner-${role}`);
    await world.join(acme.organization, person, 'owner');
    const token = await world.token(person, acme.organization);
    await world.knex('memberships').where({ userId: person.id }).update({ role });
    return {
      name: `the token of a former owner who is ${role} now`,
      ask: () => ({ token }),
      verdict: (root) => short(root, scopesOfRole(role)),
      like: 'role',
    };
  }

  /** A bound credential sees everything in its project and nothing in other projects; fields of the whole organization are refused. */
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
    // A token has at most 25 scopes, so those that the preset `all` leaves out are on a separate token.
    const scopes = [
      'billing:read',
      'billing:write',
      'setup:read',
      'setup:write',
      'secrets:read',
      'secrets:write',
      'audit:read',
      'sign-in:read',
      'sign-in:write',
      'webhooks:read',
      'webhooks:write',
      // The destination of the audit log needs the scope as well.
      'organizations:write',
    ];
    const otherToken = await world.token(globex.owner, globex.organization, { scopes });
    const otherBoundToken = await world.token(acme.owner, acme.organization, {
      scopes,
      projectId: acme.otherProjectId,
    });
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

  /**
   * A call that requires a record of another organization answers "not found", a filter by such a record finds nothing, and every other
   * call is served.
   */
  function foreign({ field, name }: RootField, args: Arguments): Verdict {
    // The response says for each run whether to stop, even for an unknown run.
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
      like: 'unknown',
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
}
