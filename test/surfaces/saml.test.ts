// Sign-in through a SAML 2.0 provider, whose responses have real XML signatures. Some tests send responses that are falsified in one way
// each.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { refreshMetadata } from '#domain/identity/identity-providers/saml-providers.ts';
import { numberAllChanges } from '#domain/lifecycle/audit/numbers.ts';
import { days, minutes, now } from '#foundation/clock.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { type Account, createOwner } from '../support/callers.ts';
import { keepRows } from '../support/database-rows.ts';
import {
  type Assertion,
  type AuthnRequest,
  createSamlProvider,
  type SamlProvider,
  type Signing,
} from '../support/fake-saml-provider.ts';
import { type Answer, openWorld, type World } from '../support/world.ts';

let world: World;
let owner: Account;
let idp: SamlProvider;
let providerId: string;
let restore: () => Promise<void>;
/** Metadata that is served at a URL. */
let served = '';
const server = createServer((_, res) => void res.end(served));

beforeAll(async () => {
  world = await openWorld();
  const records: string[] = [];
  openOutbound({ allowLoopback: true, resolveTxt: async () => records.map((record) => [record]) });
  idp = createSamlProvider('https://idp.example', now);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  owner = await createOwner(world, 'Ada', 'Acme');
  const session = await ownerSession();
  const create =
    'mutation ($input: CreateSamlProviderRequest!) { createSamlProvider(input: $input) { id protocol issuer entityId returnAddress } }';
  const input = { name: 'Entra', metadataXml: idp.metadata(), defaultRole: 'member' };
  const created = await world.field(create, { session, variables: { input } });
  providerId = created.id;
  expect(created).toMatchObject({
    protocol: 'saml',
    issuer: idp.issuer,
    entityId: `${world.url}/sign-in/sso/${providerId}/metadata`,
  });
  const added = await world.field(
    'mutation { createSignInDomain(input: { domain: "example.com" }) { id recordValue } }',
    { session },
  );
  records.push(added.recordValue);
  await world.field(`mutation { verifySignInDomain(domainId: "${added.id}") { id } }`, { session });
  await world.field(
    `mutation { updateSignInDomain(domainId: "${added.id}", input: { providerId: "${providerId}" }) { id } }`,
    { session },
  );
  await signIn({ attributes: { email: 'ada@example.com' }, nameId: 'ada' }, {}, '?test', session.secret);
  restore = await keepRows(world.knex);
});
beforeEach(() => restore());
afterAll(async () => {
  openOutbound({ allowLoopback: false });
  await Promise.all([world.close(), new Promise((resolve) => server.close(resolve))]);
});

const servedAt = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/metadata`;
const ownerSession = () => world.session(owner.person, owner.organization.id);
const pathOf = (name = '') => `/sign-in/sso/${providerId}${name}`;
const cookieIn = (answer: Answer, name: string) =>
  answer.headers
    .getSetCookie()
    .find((cookie) => cookie.startsWith(`${name}=`))
    ?.split(';')[0];

async function start(query = '', session = ''): Promise<{ request: AuthnRequest; cookie: string }> {
  const answer = await world.request('GET', pathOf(query), {
    headers: { cookie: `session=${session}`, 'sec-fetch-site': 'same-origin' },
  });
  expect(answer.status).toBe(303);
  return { request: idp.readRequest(answer.headers.get('location')!), cookie: cookieIn(answer, 'sso')! };
}

/** Posts a response as the browser does: from the page of another site, without cookies. */
const post = (xml: string): Promise<Answer> =>
  world.request('POST', pathOf('/acs'), {
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'cross-site',
      origin: 'https://idp.example',
    },
    body: new URLSearchParams({
      SAMLResponse: Buffer.from(xml).toString('base64'),
      RelayState: 'https://evil.example',
    }).toString(),
  });

async function signIn(given: Assertion, signing: Signing = {}, query = '', session = ''): Promise<Answer> {
  const { request, cookie } = await start(query, session);
  const posted = await post(idp.answer(request, given, signing));
  if (posted.status !== 303) return posted;
  return world.request('GET', posted.headers.get('location')!, {
    headers: { cookie: `${cookie}; session=${session}` },
  });
}

const refusal = (answer: Answer) => [answer.status, /<h1>[^<]*<\/h1>\s*<p>([^<]*)<\/p>/.exec(answer.body)?.[1]];
const sessions = async () => (await world.knex('sessions').where({ orgOnly: true })).length;
async function refusals() {
  await numberAllChanges();
  const { body } = await world.rest('GET', '/audit-events?action=sign_in.refused', { session: await ownerSession() });
  return body.data;
}

const user = { nameId: 'user-1', attributes: { email: 'new@example.com', displayName: 'New Person' } };

describe('SAML providers', () => {
  it('a SAML provider signs a new person in to its organization, in the browser that started the sign-in', async () => {
    const { request, cookie } = await start('?return_to=%2Fconsole%2Fruns');
    expect(request).toEqual({
      id: expect.stringMatching(/^_[\w-]{43}$/),
      issuer: `${world.url}${pathOf('/metadata')}`,
      acs: `${world.url}${pathOf('/acs')}`,
    });
    const posted = await post(idp.answer(request, user));
    const location = posted.headers.get('location')!;
    expect([posted.status, location]).toEqual([303, `${pathOf('/return')}?state=${request.id}`]);
    expect(cookieIn(posted, 'session')).toBeUndefined();
    expect((await world.request('GET', location)).status).toBe(400);
    const answer = await world.request('GET', location, { headers: { cookie } });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/console/runs']);
    expect((await world.request('GET', location, { headers: { cookie } })).status).toBe(400);
    const me = await world.request('GET', '/v1/me', {
      headers: { cookie: cookieIn(answer, 'session')!, 'sec-fetch-site': 'same-origin' },
    });
    expect(me.body).toMatchObject({ role: 'member', orgId: owner.organization.id });
    expect(await world.knex('people').where({ email: 'new@example.com' }).first()).toMatchObject({
      name: 'New Person',
    });
    expect(await sessions()).toBe(1);
  });

  it('a SAML sign-in that another site started asks for confirmation, and never replaces the session of another person', async () => {
    const asked = await world.request('GET', pathOf(), { headers: { 'sec-fetch-site': 'cross-site' } });
    expect([asked.status, asked.headers.get('location')]).toEqual([200, null]);
    expect(asked.body).toContain('Continue with <bdi>Entra</bdi> of <bdi>Acme</bdi>');
    const { secret } = await ownerSession();
    const answer = await signIn(user, {}, '', secret);
    expect(refusal(answer)).toEqual([409, expect.stringContaining('Sign out first, then sign in again.')]);
    expect(cookieIn(answer, 'session')).toBeUndefined();
    expect(await world.knex('people').where({ email: 'new@example.com' })).toEqual([]);
  });

  it('the email address is read from the NameID or the claims of Entra ID, and response and assertion may both be signed', async () => {
    const format = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
    expect((await signIn({ nameId: 'mary@example.com', format })).status).toBe(303);
    const claims = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/';
    const attributes = {
      [`${claims}emailaddress`]: 'Grace@Example.com',
      [`${claims}givenname`]: 'Grace',
      [`${claims}surname`]: 'Hopper',
    };
    expect((await signIn({ nameId: 'grace', attributes })).status).toBe(303);
    expect(await world.knex('people').where({ email: 'grace@example.com' }).first()).toMatchObject({
      name: 'Grace Hopper',
    });
    const { request } = await start();
    const both = idp.signed(idp.answer(request, user), { part: 'Response' });
    expect((await post(both)).status).toBe(303);
  });

  it('the service publishes SAML metadata, and reads the provider’s metadata every day for new keys', async () => {
    const own = await world.request('GET', pathOf('/metadata'));
    expect(own.headers.get('content-type')).toBe('application/samlmetadata+xml');
    expect(own.body).toContain(`entityID="${world.url}${pathOf('/metadata')}"`);
    expect(own.body).toContain(`Location="${world.url}${pathOf('/acs')}"`);
    expect(own.body).toContain('WantAssertionsSigned="true"');
    expect((await signIn(user, { key: 'next' })).status).toBe(403);
    const session = await ownerSession();
    const replace = (input: object) =>
      world.field(
        'mutation ($id: String!, $input: SamlMetadataRequest!) { replaceSamlMetadata(samlProviderId: $id, input: $input) { testedAt metadataUrl } }',
        {
          session,
          variables: { id: providerId, input },
        },
      );
    served = idp.metadata('own');
    expect(await replace({ metadataUrl: `${servedAt()}?app=1` })).toMatchObject({ testedAt: expect.any(Number) });
    served = idp.metadata('own', 'next');
    world.clock.turn(days(2));
    await refreshMetadata();
    expect((await signIn(user, { key: 'next' })).status).toBe(303);
    served = idp.metadata('foreign').replaceAll(idp.issuer, 'https://other.example');
    world.clock.turn(days(2));
    await refreshMetadata();
    expect((await signIn(user, { key: 'foreign' })).status).toBe(403);
    const notices = async () => {
      const { body } = await world.rest('GET', '/notices', { session: await ownerSession() });
      const found = body.notices.filter(({ id }: { id: string }) => id.startsWith('sign_in_metadata'));
      return found.map(({ id, kind, title }: Record<string, string>) => [id, kind, title]);
    };
    const since = now();
    expect(await notices()).toEqual([]);
    world.clock.turn(days(2));
    served = '';
    await refreshMetadata();
    const title = 'The metadata of the provider “Entra” cannot be used';
    expect(await notices()).toEqual([[`sign_in_metadata:${providerId}:${since}`, 'action', title]]);
    served = idp.metadata('own', 'next');
    world.clock.turn(days(1));
    await refreshMetadata();
    expect(await notices()).toEqual([]);
    const bad = {
      'must have no document type definition': `<!DOCTYPE a [<!ENTITY a "a">]>${idp.metadata()}`,
      'must be well-formed XML': '<md:EntityDescriptor',
      'must be the EntityDescriptor of one provider': '<a/>',
      'must have a SingleSignOnService for HTTP-Redirect at an https URL': idp
        .metadata()
        .replaceAll('https://idp', 'javascript://idp'),
      'must contain a certificate for signatures': idp.metadata().replaceAll('use="signing"', 'use="encryption"'),
      'must have certificates with RSA keys of 2048 bits or more': idp
        .metadata()
        .replace(/<ds:X509Certificate>[^<]+/, '<ds:X509Certificate>AAAA'),
    };
    for (const [message, metadataXml] of Object.entries(bad))
      expect(await replace({ metadataXml })).toMatchObject({ fields: [{ path: 'metadataXml', message }] });
    expect(await replace({})).toMatchObject({ code: 'invalid_request' });
    openOutbound({ allowLoopback: false });
    expect(await replace({ metadataUrl: servedAt() })).toMatchObject({ code: 'upstream_failed' });
    openOutbound({ allowLoopback: true });
  });
});

type Falsified = (request: AuthnRequest) => string;
const attack =
  (given: Assertion, signing?: Signing): Falsified =>
  (request) =>
    idp.answer(request, { ...user, ...given }, signing);

/** A response whose signed assertion signs nobody in. It also has an unsigned assertion, which a careless parser would use instead. */
function wrapped(place: (evil: string, signedAssertion: string) => string): Falsified {
  return (request) => {
    const answer = idp.answer(request, user);
    const signedAssertion = /<saml:Assertion.*<\/saml:Assertion>/s.exec(answer)![0];
    const evil = idp.assertionOf(request, { nameId: 'ada', attributes: { email: 'ada@example.com' } });
    return answer.replace(signedAssertion, () => place(evil, signedAssertion));
  };
}

describe('Refused SAML responses: a page, and an event in the audit log', () => {
  const cases: [what: string, falsify: Falsified, reason: string][] = [
    ['without a signature', attack({}, { part: 'none' }), 'Invalid signature.'],
    ['with a signature of the response alone', attack({}, { part: 'Response' }), 'Invalid signature.'],
    ['signed with a foreign key', attack({}, { key: 'foreign' }), 'Invalid signature.'],
    [
      'signed with SHA-1',
      attack({}, { signatureAlgorithm: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1' }),
      'Its response uses the unsupported algorithm http://www.w3.org/2000/09/xmldsig#rsa-sha1.',
    ],
    [
      'changed after it was signed',
      (request) => idp.answer(request, user).replace('new@example.com', 'ada@example.com'),
      'Invalid signature.',
    ],
    [
      'with another assertion before the signed one',
      wrapped((evil, good) => evil + good),
      'Invalid signature: multiple assertions.',
    ],
    [
      'with the signed assertion inside of another one',
      wrapped((evil, good) => evil.replace('</saml:Subject>', () => `</saml:Subject>${good}`)),
      'Invalid signature.',
    ],
    [
      'with the signed assertion in an extension',
      wrapped((evil, good) => `<samlp:Extensions>${good}</samlp:Extensions>${evil}`),
      'Invalid signature.',
    ],
    [
      'with a second element that has the signed id',
      wrapped(
        (evil, good) =>
          `<samlp:Extensions>${evil.replace(/ ID="[^"]+"/, / ID="[^"]+"/.exec(good)![0])}</samlp:Extensions>${good}`,
      ),
      'Invalid signature: ID cannot refer to more than one element.',
    ],
    ['for another audience', attack({ audience: 'https://other.example' }), 'SAML assertion audience mismatch.'],
    [
      'for another recipient',
      attack({ recipient: 'https://other.example/acs' }),
      'Its assertion is for a different recipient.',
    ],
    ['by another issuer', attack({ issuer: 'https://other.example' }), 'Its assertion names a different issuer.'],
    [
      'that has expired',
      (request) => attack({ notOnOrAfter: now() - minutes(2) })(request),
      'Its assertion has expired.',
    ],
    [
      'that is not valid yet',
      (request) => attack({ notBefore: now() + minutes(5) })(request),
      'Its assertion has expired, or is not valid yet.',
    ],
    [
      'without a request',
      attack({ inResponseTo: null }),
      'Its assertion does not answer a request of this service. Start on the sign-in page.',
    ],
    [
      'to an unknown request',
      attack({ inResponseTo: '_unknown' }),
      'Its assertion does not answer an open request of this service. Start on the sign-in page.',
    ],
    [
      'with a comment in the NameID',
      (request) => idp.answer(request, { ...user, nameId: 'ada<!-- -->.evil' }),
      'Its response contains a document type, a comment or CDATA.',
    ],
    [
      'with a document type',
      (request) => `<!DOCTYPE a [<!ENTITY a "b">]>${idp.answer(request, user)}`,
      'Its response contains a document type, a comment or CDATA.',
    ],
    [
      'with a transient NameID',
      attack({ format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient' }),
      'Its NameID is transient: configure a persistent one, or an email address.',
    ],
    [
      'that is larger than allowed',
      () => `<a>${'a'.repeat(160_000)}</a>`,
      'Its response is longer than 200000 characters.',
    ],
    ['that is not XML', () => 'text', ''],
    ['with deeply nested elements', () => `${'<a>'.repeat(20_000)}${'</a>'.repeat(20_000)}`, ''],
  ];

  it.each(cases)('403 · a SAML response %s is refused', async (_what, falsify, reason) => {
    const { request } = await start();
    const answer = await post(falsify(request));
    if (reason) expect(refusal(answer)).toEqual([403, `Entra did not sign you in. ${reason}`]);
    expect(answer.status).toBe(403);
    expect(await sessions()).toBe(0);
    expect(await world.knex('provider_sign_ins').whereNotNull('sealed_answer').where({ id: request.id })).toEqual([]);
    await expect.poll(async () => (await refusals()).length).toBe(1);
  });

  it('403 · a SAML response is refused the second time, or with the assertion of another sign-in', async () => {
    const first = await start();
    const xml = idp.answer(first.request, { ...user, id: '_one' });
    expect((await post(xml)).status).toBe(303);
    const used = [403, 'Entra did not sign you in. Its assertion was used before.'];
    expect(refusal(await post(xml))).toEqual(used);
    const second = await start();
    expect(refusal(await post(idp.answer(second.request, { ...user, id: '_one' })))).toEqual(used);
    expect(refusal(await post(idp.answer(first.request, { ...user, id: '_two' })))[0]).toBe(403);
    world.clock.turn(minutes(11));
    expect(refusal(await post(idp.answer(second.request, { ...user, id: '_three' })))[0]).toBe(403);
  });

  it('403 · a SAML response with an address of another domain or another user is refused', async () => {
    expect(refusal(await signIn({ nameId: 'x', attributes: { email: 'x@b.example' } }))).toEqual([
      403,
      'Entra did not sign you in. It is not allowed to sign in email addresses of b.example.',
    ]);
    expect(refusal(await signIn({ nameId: 'x', attributes: { email: ['x@example.com', 'y@example.com'] } }))[0]).toBe(
      403,
    );
    expect(refusal(await signIn({ nameId: 'not ada', attributes: { email: 'ada@example.com' } }))[0]).toBe(403);
    expect(await sessions()).toBe(0);
  });

  it('404 · a SAML response is refused for an OpenID provider; 415 · another body format is refused', async () => {
    const session = await ownerSession();
    const create =
      'mutation { createIdentityProvider(input: { name: "O", issuer: "http://127.0.0.1:9", clientId: "c", clientSecret: "s" }) { id } }';
    const { id } = await world.field(create, { session });
    const form = { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'SAMLResponse=a' };
    expect((await world.request('POST', `/sign-in/sso/${id}/acs`, form)).status).toBe(404);
    expect((await world.request('GET', `/sign-in/sso/${id}/metadata`)).status).toBe(404);
    expect((await world.request('POST', pathOf('/acs'), { body: {} })).status).toBe(415);
  });
});
