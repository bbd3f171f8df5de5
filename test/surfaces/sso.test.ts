// Sign-in through identity providers of organizations: domains verified with TXT records, an OpenID provider over real HTTP, and the
// organizations that the sessions reach.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { admitUser } from '#domain/identity/identity-providers/admission.ts';
import { checkDomains } from '#domain/identity/identity-providers/domain-checks.ts';
import { IdentityProvider } from '#domain/identity/identity-providers/model.ts';
import { numberAllChanges } from '#domain/lifecycle/audit/numbers.ts';
import { days, hours, minutes } from '#foundation/clock.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { commands } from '../../src/surfaces/operator/commands.ts';
import { type Account, createMember, createOwner } from '../support/callers.ts';
import { type Browser, browserOf, visitPage } from '../support/cookie-browser.ts';
import { keepRows } from '../support/database-rows.ts';
import { client, type OpenIdProvider, openOpenIdProvider } from '../support/fake-openid-provider.ts';
import { type Answer, openWorld, type Session, type World } from '../support/world.ts';

let world: World;
let provider: OpenIdProvider;
let owner: Account;
let other: Account;
let providerId: string;
let domainId: string;
let restore: () => Promise<void>;
/** TXT records by domain name. If the value is an error, the look-up fails with it, as when name servers fail. */
const records = new Map<string, string[] | Error>();
const resolveTxt = async (name: string): Promise<string[][]> => {
  const found = records.get(name);
  if (found instanceof Error) throw found;
  if (!found) throw Object.assign(new Error('queryTxt ENOTFOUND'), { code: 'ENOTFOUND' });
  return found.map((text) => [text.slice(0, 10), text.slice(10)]);
};

beforeAll(async () => {
  world = await openWorld();
  openOutbound({ allowLoopback: true, resolveTxt });
  provider = await openOpenIdProvider();
  owner = await createOwner(world, 'Ada', 'Acme');
  other = await createOwner(world, 'Grace', 'Globex');
  restore = await keepRows(world.knex);
});
beforeEach(async () => {
  await restore();
  provider.behave();
  records.clear();
  const session = await ownerSession();
  ({ id: domainId } = await verified('example.com', session));
  const input = { name: 'Okta', issuer: provider.issuer, ...client, defaultRole: 'member' };
  const create =
    'mutation ($input: CreateIdentityProviderRequest!) { createIdentityProvider(input: $input) { id testedAt } }';
  ({ id: providerId } = await world.field(create, { session, variables: { input } }));
  await change({ providerId });
});
afterAll(async () => {
  openOutbound({ allowLoopback: false });
  await provider.close();
  await world.close();
});

const ownerSession = () => world.session(owner.person, owner.organization.id);

async function verified(domain: string, session: Session) {
  const add =
    'mutation ($domain: String!) { createSignInDomain(input: { domain: $domain }) { id recordName recordValue verifiedAt } }';
  const added = await world.field(add, { session, variables: { domain } });
  records.set(added.recordName, ['v=spf1 -all', added.recordValue]);
  return world.field(`mutation { verifySignInDomain(domainId: "${added.id}") { id verifiedAt } }`, { session });
}

const change = async (input: object): Promise<Answer['body']> =>
  world.field(
    'mutation ($domainId: String!, $input: UpdateSignInDomainRequest!) { updateSignInDomain(domainId: $domainId, input: $input) { required providerId } }',
    { session: await ownerSession(), variables: { domainId, input } },
  );

const visit = (browser: Browser, path: string, form?: Record<string, string>) => visitPage(world, browser, path, form);
const pageOf = (id = providerId) => `/sign-in/sso/${id}`;

/** Signs in at the provider, and returns the path to which the provider sends the browser back. */
async function atProvider(browser: Browser, path: string): Promise<string> {
  const answer = await visit(browser, path);
  expect([answer.status, answer.body]).toEqual([303, '']);
  const back = new URL((await fetch(answer.headers.get('location')!, { redirect: 'manual' })).headers.get('location')!);
  return back.pathname + back.search;
}

const wholeWay = async (browser: Browser, query = ''): Promise<Answer> =>
  visit(browser, await atProvider(browser, `${pageOf()}${query}`));

/** Tests the provider as the owner, with the owner's own address. */
async function tested(claims: object = {}): Promise<{ answer: Answer; browser: Browser }> {
  provider.behave({ claims: { sub: 'ada', email: 'ada@example.com', email_verified: true, ...claims } });
  const browser = browserOf(await ownerSession());
  return { answer: await wholeWay(browser, '?test'), browser };
}

const asUser = (name: string, claims: object = {}) =>
  provider.behave({ claims: { sub: name, email: `${name}@example.com`, email_verified: true, name, ...claims } });

const graphqlIn = (browser: Browser, query: string, orgId?: string) => {
  const headers = { 'sec-fetch-site': 'same-origin', ...(orgId && { 'x-org-id': orgId }) };
  return world.request('GET', `/graphql?query=${encodeURIComponent(query)}`, {
    headers: { ...headers, cookie: `session=${browser.get('session')}` },
  });
};
const organizationsIn = async (browser: Browser): Promise<string[]> =>
  (await graphqlIn(browser, '{ organizations { orgs { name } } }')).body.data.organizations.orgs
    .map(({ name }: { name: string }) => name)
    .sort();

const refusal = (answer: Answer) => [
  answer.status,
  /<h1>[^<]*<\/h1>\s*<p>([^<]*)<\/p>/.exec(answer.body)?.[1]?.replaceAll('&#39;', "'"),
];

/** The newest events of an organization, as action and name of the target. */
async function eventsOf({ person, organization }: Account, action?: string) {
  await numberAllChanges();
  const session = await world.session(person, organization.id);
  const filter = action ? `?action=${action}` : '';
  return (await world.rest('GET', `/audit-events${filter}`, { session })).body.data;
}

describe('Sign-in domains', () => {
  it('a domain is verified by its TXT record, for one organization at a time, and checked again every day', async () => {
    const session = await ownerSession();
    const add = (domain: string, by = session) =>
      world.field('mutation ($domain: String!) { createSignInDomain(input: { domain: $domain }) { id domain } }', {
        session: by,
        variables: { domain },
      });
    for (const bad of ['example', 'a@example.com', '10.0.0.1', 'https://example.com', `${'a'.repeat(64)}.com`])
      expect(await add(bad)).toMatchObject({ code: 'invalid_request', fields: [{ path: 'domain' }] });
    expect(await add('EXAMPLE.com.')).toMatchObject({
      code: 'conflict',
      fields: [{ message: 'example.com is already listed' }],
    });
    expect(await add('Bücher.example')).toMatchObject({ domain: 'xn--bcher-kva.example' });

    const theirs = await world.session(other.person, other.organization.id);
    const { id } = await add('example.com', theirs);
    const verify = `mutation { verifySignInDomain(domainId: "${id}") { verifiedAt } }`;
    expect(await world.field(verify, { session: theirs })).toMatchObject({
      description:
        '_agent-platform-challenge.example.com has no TXT record with this value. DNS changes can take hours to appear.',
    });
    const [row] = await world.knex('sign_in_domains').where({ id });
    const name = '_agent-platform-challenge.example.com';
    const [own] = await world.knex('sign_in_domains').where({ id: domainId });
    records.set(name, [own.token, row.token]);
    expect(await world.field(verify, { session: theirs })).toMatchObject({
      description: 'Another organization has verified example.com.',
    });
    records.set(name, Object.assign(new Error('queryTxt ESERVFAIL'), { code: 'ESERVFAIL' }));
    expect(await world.field(verify, { session: theirs })).toMatchObject({ code: 'upstream_failed' });

    const stateOf = async () =>
      (await world.knex('sign_in_domains').where({ id: domainId }).first('verifiedAt', 'missingSince', 'required')) as {
        verifiedAt: number | null;
        missingSince: number | null;
        required: boolean;
      };
    await tested();
    await change({ required: true });
    const { verifiedAt } = await stateOf();
    const later = async (time: number) => {
      world.clock.turn(time);
      await checkDomains();
      return stateOf();
    };
    expect(await later(hours(25))).toEqual({ verifiedAt, missingSince: null, required: true });
    records.delete(name);
    const missing = await later(hours(25));
    expect(missing).toMatchObject({ verifiedAt, missingSince: expect.any(Number), required: true });
    expect(await later(hours(1))).toEqual(missing);
    records.set(name, [own.token]);
    expect(await later(hours(24))).toEqual({ verifiedAt, missingSince: null, required: true });
    records.delete(name);
    await later(hours(25));
    expect(await later(days(6))).toMatchObject({ verifiedAt, required: true });
    expect(await later(days(2))).toMatchObject({ verifiedAt: null, required: false });
    records.set(name, [row.token]);
    expect(await world.field(verify, { session: theirs })).toMatchObject({ verifiedAt: expect.any(Number) });
  });
});

describe('Identity providers', () => {
  it('a provider is offered once an owner has tested it, and signs a new person in to its organization only', async () => {
    const offer = () => visit(browserOf(), '/sign-in', { email: 'New@Example.com', return_to: '/console/runs' });
    expect((await offer()).body).toContain('Enter the code');
    expect((await visit(browserOf(), pageOf())).status).toBe(404);
    expect((await visit(browserOf(await world.session(other.person)), `${pageOf()}?test`)).status).toBe(404);
    const { answer } = await tested();
    expect(answer.body).toContain('<h1>Okta works</h1>');
    const page = (await offer()).body;
    expect(page).toContain('Acme signs in <strong>New@Example.com</strong> with its own provider.');
    expect(page).toContain(`href="${pageOf()}?return_to=%2Fconsole%2Fruns"`);
    const asked = await visit(browserOf(), '/sign-in', { email: 'new@example.com', return_to: '', way: 'code' });
    expect(asked.body).toContain('Enter the code');

    asUser('new');
    const browser = browserOf();
    const signedIn = await wholeWay(browser, '?return_to=%2Fconsole%2Fruns');
    expect([signedIn.status, signedIn.headers.get('location')]).toEqual([303, '/console/runs']);
    expect(await organizationsIn(browser)).toEqual(['Acme']);
    const { body } = await graphqlIn(browser, '{ me { role person { name email } } }');
    expect(body.data.me).toEqual({ role: 'member', person: { name: 'new', email: 'new@example.com' } });
    const account = (await visit(browser, '/console/account')).body;
    expect(account).not.toContain('Create organization');
    expect((await visit(browser, '/console/passkeys')).status).toBe(403);
    const events = await eventsOf(owner);
    const actor = { type: 'person', name: 'new' };
    const isOfSignIn = (event: { actor: { type: string } }) => event.actor.type === 'person';
    expect(events.filter(isOfSignIn).slice(0, 3)).toMatchObject([
      { action: 'session.started', actor },
      { action: 'provider_user.linked', targets: [{ name: 'new@example.com' }], actor },
      { action: 'member.added', actor },
    ]);
    expect(await eventsOf(owner, 'identity_provider.tested')).toHaveLength(1);

    // The provider's identifier identifies the person, even with another email address. A day later the session has ended.
    asUser('new', { email: 'renamed@example.com' });
    expect((await wholeWay(browserOf())).status).toBe(303);
    expect(await world.knex('people').where({ email: 'renamed@example.com' })).toEqual([]);
    world.clock.turn(hours(23));
    expect((await visit(browser, '/console/account')).status).toBe(200);
    world.clock.turn(hours(2));
    expect((await visit(browser, '/console/account')).status).toBe(303);
  });

  it('a sign-in through a provider gives access only to the provider’s organization, unless the person has proved their address in the browser', async () => {
    const grace = other.person;
    await tested();
    asUser('grace');
    const browser = browserOf();
    expect((await wholeWay(browser)).headers.get('location')).toBe('/console');
    expect(await organizationsIn(browser)).toEqual(['Acme']);
    const there = await graphqlIn(browser, '{ me { role } }', other.organization.id);
    expect(there.status).toBe(404);
    expect((await visit(browser, '/console/o/globex/settings')).status).toBe(404);
    const csrf = /name="csrf_token" value="([^"]+)"/.exec((await visit(browser, '/console/account')).body)![1]!;
    const found = await visit(browser, '/console/organizations', { csrf_token: csrf, name: 'Mine' });
    expect(found.status).toBe(403);
    expect((await visit(browser, '/console/name', { csrf_token: csrf, name: 'Mine' })).status).toBe(403);
    const elsewhere = await world.session(grace);
    expect((await visit(browser, '/console/sessions')).body).not.toContain('test');
    await visit(browser, '/console/sessions/end-others', { csrf_token: csrf });
    expect((await visit(browserOf(elsewhere), '/console/account')).status).toBe(200);
    expect((await eventsOf(other)).map(({ action }: { action: string }) => action)).not.toContain(
      'provider_user.linked',
    );
    const sessionsThere = await eventsOf(other, 'session.started');
    const ids = await world.knex('sessions').where({ personId: grace.id, orgOnly: true }).pluck('id');
    expect(sessionsThere.filter(({ targets }: { targets: { id: string }[] }) => ids.includes(targets[0]!.id))).toEqual(
      [],
    );

    const whole = browserOf(elsewhere);
    expect((await wholeWay(whole)).status).toBe(303);
    expect(await organizationsIn(whole)).toEqual(['Acme', 'Globex']);
    world.clock.turn(days(2));
    expect(await organizationsIn(whole)).toEqual(['Acme', 'Globex']);
  });

  it('removing a member ends their sessions, and forgets the provider’s user', async () => {
    await tested();
    asUser('new');
    const browser = browserOf();
    await wholeWay(browser);
    const person = await world.knex('people').where({ email: 'new@example.com' }).first();
    const path = `/organizations/${owner.organization.id}/memberships/${person.id}`;
    expect((await world.rest('DELETE', path, { session: await ownerSession() })).status).toBe(200);
    expect((await visit(browser, '/console/account')).status).toBe(303);
    asUser('new', { sub: 'another' });
    expect((await wholeWay(browserOf())).status).toBe(303);
  });

  it('a provider without a default role signs in only members and invited people', async () => {
    await tested();
    const session = await ownerSession();
    await world.field(
      `mutation { updateIdentityProvider(providerId: "${providerId}", input: { defaultRole: null }) { id } }`,
      { session },
    );
    asUser('new');
    expect(refusal(await wholeWay(browserOf()))).toEqual([
      403,
      'Okta did not sign you in. new@example.com is not a member of the organization. Ask an admin for an invite.',
    ]);
    expect(await world.knex('people').where({ email: 'new@example.com' })).toEqual([]);
    await world.rest('POST', '/invites', { session, body: { email: 'new@example.com', role: 'viewer' } });
    const browser = browserOf();
    expect((await wholeWay(browser)).status).toBe(303);
    const { body } = await graphqlIn(browser, '{ me { role } }');
    expect(body.data.me).toEqual({ role: 'viewer' });
  });

  it('a provider signs in a directory user with the role of their groups, and refuses a deactivated one', async () => {
    await tested();
    const session = await ownerSession();
    const { token } = await world.field('mutation { createDirectoryToken(name: "Okta") { token } }', { session });
    const scim = async (method: string, path: string, body: object) =>
      (await world.request(method, `/scim/v2/${path}`, { token, body })).body;
    const { id } = await scim('POST', 'Users', { userName: 'new@example.com' });
    const group = await scim('POST', 'Groups', { displayName: 'Auditors', members: [{ value: id }] });
    await world.field(`mutation { setDirectoryGroupRole(directoryGroupId: "${group.id}", role: viewer) { id } }`, {
      session,
    });
    asUser('new');
    const browser = browserOf();
    expect((await wholeWay(browser)).status).toBe(303);
    expect((await graphqlIn(browser, '{ me { role } }')).body.data.me).toEqual({ role: 'viewer' });
    await scim('PUT', `Users/${id}`, { userName: 'new@example.com', active: false });
    expect((await graphqlIn(browser, '{ me { role } }')).status).toBe(401);
    // The provider has a default role for new members, but a user whom the directory has deactivated gets no role from it.
    expect((await wholeWay(browserOf())).status).toBe(403);
  });
});

describe('Required identity providers', () => {
  it('a provider can be required once an owner has signed in through it; members then need it to reach the organization', async () => {
    const member = await createMember(world, owner.organization, 'Mary', 'member');
    const code = await world.session(member.person, owner.organization.id);
    const { person: guest } = await createMember(world, owner.organization, 'Guest', 'member');
    await world.knex('people').where({ id: guest.id }).update({ email: 'guest@elsewhere.example' });
    expect(await change({ required: true })).toMatchObject({
      description:
        'An owner must have signed in through the provider before it can be required. Test the provider with your own email address.',
    });
    await tested({ sub: 'robot', email: 'robot@example.com' });
    expect(await change({ required: true })).toMatchObject({ code: 'conflict' });
    const { browser } = await tested();
    expect(await change({ required: true })).toEqual({ required: true, providerId });
    expect(await organizationsIn(browser)).toEqual(['Acme']);

    const mary = browserOf(code);
    expect(await organizationsIn(mary)).toEqual([]);
    expect((await graphqlIn(mary, '{ me { role } }', owner.organization.id)).status).toBe(404);
    const account = (await visit(mary, '/console/account')).body;
    expect(account).toContain('This organization requires a sign-in through its provider.');
    const guests = browserOf(await world.session(guest));
    expect(await organizationsIn(guests)).toEqual(['Acme']);
    asUser('mary');
    expect((await wholeWay(mary)).status).toBe(303);
    expect(await organizationsIn(mary)).toEqual(['Acme']);
    world.clock.turn(hours(25));
    expect(await organizationsIn(mary)).toEqual([]);

    const session = { secret: browser.get('session')!, csrf: (await ownerSession()).csrf };
    expect(session.secret).toBeTruthy();
    await expectLocked();
    const lifted = await commands['sign-in:optional']!.run({ org: 'acme' } as never, null as never);
    expect(lifted).toEqual({ domains: ['example.com'] });
    expect(await organizationsIn(mary)).toEqual(['Acme']);
  });

  /** Mutations that are refused while the provider is required, because they would delete or change the provider or the domain. */
  async function expectLocked(): Promise<void> {
    const browser = browserOf();
    asUser('ada');
    await wholeWay(browser);
    const csrf = /data-csrf="([^"]+)"/.exec((await visit(browser, '/console/o/acme/sign-in')).body)![1]!;
    const session = { secret: browser.get('session')!, csrf };
    const conflicts = [
      `deleteSignInDomain(domainId: "${domainId}") { id }`,
      `deleteIdentityProvider(providerId: "${providerId}") { id }`,
      `updateIdentityProvider(providerId: "${providerId}", input: { clientId: "other" }) { id }`,
    ];
    for (const mutation of conflicts)
      expect(await world.field(`mutation { ${mutation} }`, { session })).toMatchObject({ code: 'conflict' });
    const secret = `mutation { updateIdentityProvider(providerId: "${providerId}", input: { clientSecret: "new" }) { testedAt } }`;
    expect(await world.field(secret, { session })).toMatchObject({ testedAt: expect.any(Number) });
  }
});

describe('Refused sign-ins through a provider', () => {
  beforeEach(async () => void (await tested()));

  const signedIn = async () => (await world.knex('sessions').whereNotNull('ssoOrgId').where({ orgOnly: true })).length;

  it.each([
    [
      'an address of another domain',
      { email: 'new@elsewhere.example' },
      'It is not allowed to sign in email addresses of elsewhere.example.',
    ],
    [
      'an address of a subdomain',
      { email: 'new@sub.example.com' },
      'It is not allowed to sign in email addresses of sub.example.com.',
    ],
    [
      'an address that the provider has not verified',
      { email_verified: false },
      'It has not verified the email address.',
    ],
    ['no address', { email: undefined, sub: 'user 1' }, 'It returned no email address.'],
    ['a text that is not an email address', { email: 'new' }, 'It returned no email address.'],
    [
      'the address of a known user and another identifier',
      { email: 'ada@example.com' },
      'ada@example.com belongs to another user of the provider. Ask an admin to remove the member, which forgets that user.',
    ],
    ['the nonce of another sign-in', { nonce: 'other' }, 'Its response is invalid.'],
    ['the audience of another client', { aud: 'other' }, 'Its response is invalid.'],
    ['another issuer', { iss: 'https://issuer.example' }, 'Its response is invalid.'],
    ['an expired ID token', { exp: 1 }, 'Its response is invalid.'],
  ])('403 · a sign-in with %s is refused, and recorded in the audit log', async (_what, claims, reason) => {
    asUser('new', claims);
    const answer = await wholeWay(browserOf());
    expect(refusal(answer)).toEqual([403, `Okta did not sign you in. ${reason}`]);
    expect(await signedIn()).toBe(0);
    await expect.poll(async () => (await eventsOf(owner, 'sign_in.refused')).length).toBe(1);
    const [event] = await eventsOf(owner, 'sign_in.refused');
    expect(event).toMatchObject({ targets: [{ type: 'sign_in', id: providerId, name: 'Okta' }] });
    if (reason !== 'Its response is invalid.') expect(event.changes[0].after).toBe(reason);
  });

  it('403 · a sign-in is refused when the provider’s answer is signed with an unknown key, or reports an error', async () => {
    asUser('new');
    provider.behave({ signsWithForeignKey: true });
    expect((await wholeWay(browserOf())).status).toBe(403);
    provider.behave({ error: 'access_denied' });
    expect((await wholeWay(browserOf())).status).toBe(403);
    expect(await signedIn()).toBe(0);
  });

  it('403 · a disabled account cannot sign in through a provider; 404 · nor can anybody once the organization is closed', async () => {
    asUser('grace');
    await world.knex('people').where({ id: other.person.id }).update({ disabledAt: 1 });
    expect(refusal(await wholeWay(browserOf()))).toEqual([403, 'Okta did not sign you in. This account is disabled.']);
    await world.knex('people').where({ id: other.person.id }).update({ disabledAt: null });
    const browser = browserOf();
    const back = await atProvider(browser, pageOf());
    const body = { confirmSlug: 'acme' };
    const path = `/organizations/${owner.organization.id}/closure`;
    expect((await world.rest('POST', path, { session: await ownerSession(), body })).status).toBe(201);
    expect((await visit(browser, back)).status).toBe(404);
    expect(await world.knex('sign_in_domains').where({ orgId: owner.organization.id })).toEqual([]);
  });

  it('400 · a provider’s answer is refused if it comes from another browser, was already used, is ten minutes old, or was meant for another provider', async () => {
    const again = 'This sign-in has expired, was already used, or was started in another browser. Start again.';
    asUser('new');
    const browser = browserOf();
    const back = await atProvider(browser, pageOf());
    expect(refusal(await visit(browserOf(), back))).toEqual([400, again]);
    expect((await visit(browser, back)).status).toBe(303);
    expect(refusal(await visit(browser, back))).toEqual([400, again]);
    const late = await atProvider(browser, pageOf());
    world.clock.turn(minutes(10));
    expect(refusal(await visit(browser, late))).toEqual([400, again]);
    const input = { name: 'Second', issuer: provider.issuer, ...client };
    const create = 'mutation ($input: CreateIdentityProviderRequest!) { createIdentityProvider(input: $input) { id } }';
    const second = await world.field(create, { session: await ownerSession(), variables: { input } });
    const moved = (await atProvider(browser, pageOf())).replace(providerId, second.id);
    expect(refusal(await visit(browser, moved))).toEqual([400, again]);
    const evil = await wholeWay(browserOf(), `?return_to=${encodeURIComponent('//evil.example')}`);
    expect(evil.headers.get('location')).toBe('/console');
  });

  it('502 · no event is recorded when the provider is unavailable; an issuer whose address is not public is refused', async () => {
    provider.behave({ isAway: true });
    await world.knex('identity_providers').where({ id: providerId }).increment('updated_at', 1);
    const answer = await visit(browserOf(), pageOf());
    expect(refusal(answer)).toEqual([
      502,
      'Okta cannot be reached, or does not answer as an identity provider. Try again later.',
    ]);
    openOutbound({ allowLoopback: false, resolveTxt });
    const session = await ownerSession();
    for (const issuer of ['http://127.0.0.1:1', 'https://10.0.0.1', 'https://idp.example/?a', 'ftp://idp.example']) {
      const update = `mutation { updateIdentityProvider(providerId: "${providerId}", input: { issuer: "${issuer}" }) { id } }`;
      expect(await world.field(update, { session })).toMatchObject({ fields: [{ path: 'issuer' }] });
    }
    await world.knex('identity_providers').where({ id: providerId }).increment('updated_at', 1);
    expect((await visit(browserOf(), pageOf())).status).toBe(502);
    expect(await eventsOf(owner, 'sign_in.refused')).toEqual([]);
    openOutbound({ allowLoopback: true, resolveTxt });
  });

  it('a Google account outside the Workspace of the domain is refused', async () => {
    const acme = (await IdentityProvider.find({ id: providerId as never }))!;
    const user = { subject: 'new', email: 'new@example.com', name: 'New' };
    for (const hostedDomain of ['', 'other.example'])
      await expect(admitUser(acme, { ...user, hostedDomain })).rejects.toThrow('Workspace of example.com');
    expect(await admitUser(acme, { ...user, hostedDomain: 'example.com' })).toMatchObject({ email: 'new@example.com' });
  });
});
