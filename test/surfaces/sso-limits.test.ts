// Limits of sign-ins through providers of organizations: who starts a sign-in, whose session it replaces, and what its session may create.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { days, now } from '#foundation/clock.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { newId } from '#foundation/ids.ts';
import { type AgentWorld, type Human, openAgentWorld } from '../support/agent-world.ts';
import { type Account, createOwner } from '../support/callers.ts';
import { type Browser, browserOf, visitPage } from '../support/cookie-browser.ts';
import { keepRows } from '../support/database-rows.ts';
import { client, type OpenIdProvider, openOpenIdProvider } from '../support/fake-openid-provider.ts';
import { authorizationRequest, hiddenRequest, locationOf, redirectUri } from '../support/oauth-world.ts';
import type { Answer } from '../support/world.ts';

let world: AgentWorld;
let provider: OpenIdProvider;
let owner: Account;
let other: Account;
let providerId: string;
let restore: () => Promise<void>;

beforeAll(async () => {
  world = await openAgentWorld();
  provider = await openOpenIdProvider();
  owner = await createOwner(world, 'Ada', 'Acme');
  other = await createOwner(world, 'Grace', 'Globex');
  const input = { name: 'Okta', issuer: provider.issuer, ...client, defaultRole: 'member' };
  const create = 'mutation ($input: CreateIdentityProviderRequest!) { createIdentityProvider(input: $input) { id } }';
  ({ id: providerId } = await world.field(create, { session: await ownerSession(), variables: { input } }));
  await world.knex('identity_providers').where({ id: providerId }).update({ testedAt: now() });
  const domain = { id: newId('signInDomain'), orgId: owner.organization.id, domain: 'example.com', token: 'aep-1' };
  const at = { createdAt: now(), verifiedAt: now(), checkedAt: now() + days(1) };
  await world.knex('sign_in_domains').insert({ ...domain, ...at, providerId });
  restore = await keepRows(world.knex);
});
beforeEach(async () => {
  await restore();
  provider.behave();
});
afterAll(async () => {
  openOutbound({ allowLoopback: false });
  await provider.close();
  await world.close();
});

const ownerSession = () => world.session(owner.person, owner.organization.id);
const visit = (browser: Browser, path: string) => visitPage(world, browser, path);
const pageOf = () => `/sign-in/sso/${providerId}`;

/** Signs in at the provider, and follows its redirect back to the console. */
async function wholeWay(browser: Browser): Promise<Answer> {
  const answer = await visit(browser, pageOf());
  expect([answer.status, answer.body]).toEqual([303, '']);
  const back = new URL((await fetch(answer.headers.get('location')!, { redirect: 'manual' })).headers.get('location')!);
  return visit(browser, back.pathname + back.search);
}

const asUser = (name: string) =>
  provider.behave({ claims: { sub: name, email: `${name}@example.com`, email_verified: true, name } });

const refusal = (answer: Answer) => [answer.status, /<h1>[^<]*<\/h1>\s*<p>([^<]*)<\/p>/.exec(answer.body)?.[1]];

/** Registers an OAuth client, and lets a person who is signed in to the console approve the client. Returns the client's tokens. */
async function oauthSignIn({ organization, session }: Human): Promise<Record<string, string>> {
  const client = { redirect_uris: [redirectUri], client_name: 'Client' };
  const { client_id } = (await world.request('POST', '/v1/oauth2/register', { body: client })).body;
  const { verifier, parameters } = authorizationRequest(client_id, {
    scope: 'organizations:read organizations:write',
  });
  const query = new URLSearchParams(parameters as Record<string, string>);
  const page = await world.request('GET', `/oauth/authorize?${query}`, { session });
  const decided: [string, string][] = [
    ['csrf_token', session.csrf],
    ['request', hiddenRequest(page)],
    ['decision', 'approve'],
    ['org_id', organization.id],
    ['expires_in_days', '30'],
    ['scopes', 'organizations:read'],
    ['scopes', 'organizations:write'],
  ];
  const code = locationOf(await world.form('/oauth/authorize', decided, { session })).searchParams.get('code')!;
  const grant = {
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    client_id,
    redirect_uri: redirectUri,
  };
  return (await world.form('/v1/oauth2/token', grant)).body;
}

it('a sign-in that another site started through a provider asks for confirmation, and never replaces another person’s session', async () => {
  asUser('mallory');
  const victim = browserOf(await world.session(other.person));
  for (const site of ['cross-site', 'same-site', 'none', '']) {
    const page = await visitPage(world, victim, `${pageOf()}?return_to=%2Fconsole%2Fruns`, undefined, site);
    expect([page.status, page.headers.get('location')]).toEqual([200, null]);
    expect(page.body).toContain('Continue with <bdi>Okta</bdi> of <bdi>Acme</bdi>');
    expect((await visitPage(world, victim, `${pageOf()}?shown=1`, undefined, site)).status).toBe(200);
    const asked = /href="(\/sign-in\/sso[^"]+)"/.exec(page.body)![1]!.replaceAll('&amp;', '&');
    expect((await visitPage(world, browserOf(), asked, undefined, site)).status).toBe(200);
    expect((await visitPage(world, victim, asked, undefined, site)).status).toBe(303);
  }
  expect(refusal(await wholeWay(victim))).toEqual([
    409,
    'You are signed in as grace@example.com, but Okta signs in mallory@example.com. Sign out first, then sign in again.',
  ]);
  expect((await visit(victim, '/console/account')).body).toContain('grace@example.com');
  expect(await world.knex('people').where({ email: 'mallory@example.com' })).toEqual([]);
  asUser('grace');
  expect((await wholeWay(victim)).status).toBe(303);
});

it('a session that a provider opened reaches only its organization, and so do the credentials that it creates', async () => {
  const { organization, person } = owner;
  asUser('ada');
  const browser = browserOf();
  await wholeWay(browser);
  const csrf = /name="csrf_token" value="([^"]+)"/.exec((await visit(browser, '/console/account')).body)![1]!;
  const only = { person, organization, session: { secret: browser.get('session')!, csrf } };
  const whole = { person, organization, session: await ownerSession() };
  for (const mutation of [
    'updateNoticeMail(input: { kind: budget, enabled: false }) { kind }',
    'updateMissionNotices(input: { kind: failed, mail: false }) { kind }',
  ]) {
    expect(await world.field(`mutation { ${mutation} }`, only)).toMatchObject({ code: 'forbidden' });
    expect(await world.field(`mutation { ${mutation} }`, whole)).toContainEqual(expect.anything());
  }

  const scopes = ['organizations:read', 'organizations:write'];
  const found = async (token: string, name: string) =>
    (await world.rest('POST', '/organizations', { token, body: { name } })).status;
  for (const [by, status] of [
    [only, 403],
    [whole, 201],
  ] as const) {
    const { body } = await world.rest('POST', '/tokens', { session: by.session, body: { name: 'Mine', scopes } });
    expect(await found(body.token, `By token ${status}`)).toBe(status);
    const claimed = await world.claimed(by, { scopes });
    expect(await found(claimed.access_token, `By agent ${status}`)).toBe(status);
    const again = await world.exchange(claimed.identity_assertion);
    expect(await found(again.body.access_token, `By agent again ${status}`)).toBe(status);
    const signedIn = await oauthSignIn(by);
    expect(await found(signedIn.access_token!, `By client ${status}`)).toBe(status);
    const own = await world.rest('GET', '/organizations', { token: signedIn.access_token });
    expect(own.body.orgs.map(({ name }: { name: string }) => name)).toEqual(['Acme']);
  }
});

it('a provider cannot sign in an account whose email address belongs to another domain; provider metadata of more than 64 KiB is refused', async () => {
  asUser('new');
  await wholeWay(browserOf());
  await world.knex('people').where({ email: 'new@example.com' }).update({ email: 'new@elsewhere.example' });
  expect(refusal(await wholeWay(browserOf()))).toEqual([
    403,
    'Okta did not sign you in. It is not allowed to sign in email addresses of elsewhere.example.',
  ]);
  provider.behave({ padding: 'a'.repeat(70_000) });
  expect((await visit(browserOf(), pageOf())).status).toBe(303);
  await world.knex('identity_providers').where({ id: providerId }).increment('updated_at', 1);
  expect((await visit(browserOf(), pageOf())).status).toBe(502);
  provider.behave({ padding: 'a'.repeat(50_000) });
  expect((await visit(browserOf(), pageOf())).status).toBe(303);
});
