// The console over real HTTP: its pages and forms, its session cookie, requests to the API with this cookie, and the development mailbox
// (docs/decisions/0032-sign-in-without-passwords.md).
import { get } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { scopesOfRole } from '#access/scopes.ts';
import { openSession } from '#domain/identity/sessions/operations.ts';
import { createInvite } from '#domain/organization/invites/operations.ts';
import { organizationsOf } from '#domain/organization/organizations/operations.ts';
import { days, minutes } from '#foundation/clock.ts';
import { bindAddresses } from '#foundation/http/addresses.ts';
import { mailboxAddress, openMail } from '#foundation/mail/mail.ts';
import { sql } from '#foundation/postgres/database.ts';
import { csrfToken } from '../../src/surfaces/cookie.ts';
import { createOwner } from '../support/callers.ts';
import { type Headers, openVisitorWorld, own } from '../support/visitors.ts';
import type { Answer } from '../support/world.ts';

const { world, address, codeFor, browser, signedIn, close } = await openVisitorWorld();
afterAll(close);

describe('Pages of the server', () => {
  const policy =
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

  it.each([
    ['a page', 'GET', '/sign-in', 200],
    ['an error page', 'GET', '/sign-in/code', 405],
    ['a redirect', 'GET', '/console', 303],
  ])(
    '%s loads nothing from other hosts, cannot be framed or cached, and sends no referrer',
    async (_what, method, path, status) => {
      const { status: answered, headers } = await world.request(method, path);
      expect(answered).toBe(status);
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-security-policy': policy,
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      });
    },
  );

  it('a page of the server has no script, and its style sheet is cached for a year', async () => {
    const { body } = await world.request('GET', '/sign-in');
    expect(body).not.toMatch(/<script|\son\w+=|style=/i);
    const addresses = [...body.matchAll(/(?:href|src)="(\/console\/[^"]+)"/g)].map((match) => match[1]!);
    for (const one of new Set(addresses.filter((path) => path.includes('?v=')))) {
      const asset = await world.request('GET', one);
      expect([asset.status, asset.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
    }
    expect(addresses.some((path) => path.startsWith('/console/style.css?v='))).toBe(true);
  });

  it('405 · the response to a refused method has the Allow header, and its page shows the request id', async () => {
    const answer = await world.request('DELETE', '/sign-in', { headers: { 'x-request-id': 'req-from-test' } });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, POST, HEAD']);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.body).toContain('<h1>Method not allowed</h1>');
    expect(answer.body).toContain('req-from-test');
  });

  it('200 · HEAD on a page is answered like GET, without the body', async () => {
    const answer = await world.request('HEAD', '/sign-in');
    expect([answer.status, answer.body]).toEqual([200, '']);
  });
});

describe('Organizations of a person in the console', () => {
  it('a newcomer creates an organization, and its name is escaped on the page', async () => {
    const tab = await signedIn(address());
    const csrf_token = await tab.csrf();
    const founded = await tab.submit('/console/organizations', { csrf_token, name: '  <b>Müller & Söhne</b>  ' });
    expect([founded.status, founded.headers.get('location')]).toEqual([303, '/console']);
    const { body } = await tab.open('/console/account');
    expect(body).toContain('<strong>&lt;b&gt;Müller &amp; Söhne&lt;/b&gt;</strong> <span class="tag">owner</span>');
    expect(body).toContain('<span class="tag good">Current</span>');
    expect(body).not.toContain('Create your organization');
  });

  it.each([
    ['', 'name: must be at least 1 character'],
    ['   ', 'name: must be at least 1 character'],
    ['x'.repeat(121), 'name: must be at most 120 characters'],
    ['a\0b', 'name: must be text without NUL characters'],
  ])('400 · an organization cannot be named %j', async (name, says) => {
    const tab = await signedIn(address());
    const answer = await tab.submit('/console/organizations', { csrf_token: await tab.csrf(), name });
    expect(answer.status).toBe(400);
    expect(answer.body).toContain(says);
    expect((await tab.open('/console/account')).body).toContain('Create your organization');
  });

  it('an invite is accepted with one click, and a second click says that it was accepted', async () => {
    const { person: alice, organization: org } = await createOwner(world, 'Alice', 'Alice Works');
    const caller = {
      principalType: 'cookie' as const,
      credentialId: 'ses_test',
      userId: alice.id,
      orgId: org.id,
      role: 'owner' as const,
      scopes: scopesOfRole('owner'),
      projectId: null,
    };
    const email = address();
    const { id } = await createInvite(caller, { email, role: 'admin' });
    const tab = await signedIn(email);
    const home = await tab.open('/console/account');
    expect(home.body).toContain('<strong>Alice Works</strong> <span class="tag">admin</span>');
    expect(home.body).toContain('From Alice · Expires <time datetime="2026-');
    expect(home.body).toContain('Or create an organization of your own');
    const fields = { csrf_token: await tab.csrf(), invite_id: id };
    const presses = await Promise.all([
      tab.submit('/console/invites/accept', fields),
      tab.submit('/console/invites/accept', fields),
    ]);
    expect(presses.map(({ status }) => status).sort()).toEqual([303, 409]);
    expect(presses.find(({ status }) => status === 409)!.body).toContain('This invite is no longer open: accepted.');
    expect((await tab.open('/console/account')).body).toContain('<span class="tag good">Current</span>');
    const [{ organization: beta }, gamma] = [await createOwner(world, alice, 'Alice Beta'), 'Bob Works'];
    await createInvite({ ...caller, orgId: beta.id }, { email, role: 'viewer' });
    const account = await tab.open('/console/account');
    expect(account.body).toContain('aria-label="Join Alice Beta"');
    expect(account.body).toContain('<summary>Create another organization</summary>');
    await tab.submit('/console/organizations', { csrf_token: await tab.csrf(), name: gamma });
    expect((await tab.open('/console/account')).body).toContain(`aria-label="Open ${gamma}"`);
    const stranger = await signedIn(address());
    const theirs = { csrf_token: await stranger.csrf(), invite_id: id };
    expect((await stranger.submit('/console/invites/accept', theirs)).status).toBe(404);
  });

  it('a person can switch between their own organizations, but to no other organization', async () => {
    const email = address();
    const tab = await signedIn(email);
    const csrf_token = await tab.csrf();
    await tab.submit('/console/organizations', { csrf_token, name: 'First' });
    world.clock.turn(1);
    await tab.submit('/console/organizations', { csrf_token, name: 'Second' });
    const person = await world.person(email.split('@')[0]!);
    const [first, second] = await organizationsOf(person.id);
    const present = async () =>
      (await world.request('GET', '/v1/me', { headers: { ...own, cookie: tab.cookie } })).body.orgId;
    expect(await present()).toBe(second!.id);
    expect((await tab.open(`/console/o/${first!.slug}/account`)).status).toBe(404);
    expect((await tab.open(`/console/o/${first!.slug}/projects`)).status).toBe(200);
    expect(await present()).toBe(first!.id);
    const { organization: foreign } = await createOwner(world, 'Zoe', 'Zoe Works');
    const refused = await Promise.all(
      [foreign.slug, 'not-there'].map((slug) => tab.open(`/console/o/${slug}/projects`)),
    );
    const withoutRequest = ({ status, body }: Answer) => [status, body.replace(/Request <code>[^<]*/, '')];
    expect(withoutRequest(refused[0]!)).toEqual(withoutRequest(refused[1]!));
    expect(refused[0]!.status).toBe(404);
    expect(await present()).toBe(first!.id);
  });

  it('a person can change their own name, but not to an empty name', async () => {
    const tab = await signedIn(address());
    const csrf_token = await tab.csrf();
    expect((await tab.submit('/console/name', { csrf_token, name: 'Ada' })).status).toBe(303);
    expect((await tab.open('/console/account')).body).toContain('<h1>Welcome, Ada</h1>');
    expect((await tab.submit('/console/name', { csrf_token, name: '' })).status).toBe(400);
  });

  it('303 · a visitor without a session is redirected to sign-in, with the page as return address', async () => {
    const answer = await browser().open('/console?tab=tokens');
    expect(answer.headers.get('location')).toBe('/sign-in?return_to=%2Fconsole%3Ftab%3Dtokens');
  });
});

describe('Session cookies', () => {
  it('the session cookie is extended along with the session, and expires after 14 days without use', async () => {
    const tab = await signedIn(address());
    expect((await tab.open('/console/account')).headers.get('set-cookie')).toBeNull();
    world.clock.turn(minutes(1));
    expect((await tab.open('/console/account')).headers.get('set-cookie')).toContain(
      `${tab.cookie}; Path=/; Max-Age=1209600;`,
    );
    world.clock.turn(days(14));
    expect((await tab.open('/console/account')).status).toBe(303);
  });

  it('the session cookie is found among other cookies, by its whole name only', async () => {
    const tab = await signedIn(address());
    const at = async (cookie: string) =>
      (await world.request('GET', '/console/account', { headers: { cookie } })).status;
    expect(await at(`theme=dark; ${tab.cookie}; a=b`)).toBe(200);
    expect(await at(`x${tab.cookie}`)).toBe(303);
    expect(await at('session=')).toBe(303);
    expect(await at('session')).toBe(303);
  });

  it('the session cookie is a Secure __Host- cookie when the console is on https', async () => {
    const { url } = world;
    const https = 'https://console.example.com';
    bindAddresses({ baseHost: https, issuer: https, mcp: https, a2a: `${https}/a2a` });
    try {
      const email = address();
      const tab = browser();
      const entered = await tab.signIn(email);
      expect(entered.headers.getSetCookie()).toEqual([
        expect.stringMatching(/^__Host-session=[\w-]{43}; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Lax; Secure$/),
        '__Host-sign-in=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure',
        expect.stringMatching(/^__Host-known-browser=[\w-]+; Path=\/; .*; HttpOnly; SameSite=Lax; Secure$/),
      ]);
      expect((await tab.open('/console/account')).status).toBe(200);
      const plain = tab.cookie.replace('__Host-', '');
      expect((await world.request('GET', '/console/account', { headers: { cookie: plain } })).status).toBe(303);
    } finally {
      bindAddresses({ baseHost: url, issuer: url, mcp: url, a2a: `${url}/a2a` });
    }
  });
});

describe('Session cookies on the API', () => {
  let count = 0;
  const setUp = async () => {
    const { person, organization: org } = await createOwner(world, `api${++count}`, `Api ${count}`);
    const { id, secret } = await openSession(person.id, { userAgent: null, address: null });
    const cookie = `session=${secret}`;
    return { person, org, cookie, csrf: csrfToken(id) };
  };
  const me = (headers: Headers) => world.request('GET', '/v1/me', { headers });

  it('200 · the session cookie is accepted in requests of the service’s own pages', async () => {
    const { person, org, cookie } = await setUp();
    for (const headers of [own, { origin: world.url }, { 'sec-fetch-site': 'none' }] as Headers[]) {
      const answer = await me({ cookie, ...headers });
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({ principalType: 'cookie', userId: person.id, orgId: org.id, role: 'owner' });
    }
  });

  it('401 · the session cookie is ignored in requests from other sites and from programs', async () => {
    const { cookie } = await setUp();
    const others: Headers[] = [
      {},
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ];
    for (const headers of others) expect([headers, (await me({ cookie, ...headers })).status]).toEqual([headers, 401]);
  });

  it('403 · a write by session cookie needs the CSRF header; 201 · it takes effect with the header', async () => {
    const { cookie, csrf } = await setUp();
    const stranger = await setUp();
    const body = { email: address(), role: 'viewer' };
    const send = (headers: Headers) =>
      world.request('POST', '/v1/invites', { headers: { ...own, cookie, ...headers }, body });
    for (const headers of [{}, { 'x-csrf-token': '' }, { 'x-csrf-token': stranger.csrf }] as Headers[]) {
      const answer = await send(headers);
      expect(answer.status).toBe(403);
      expect(answer.body).toEqual({
        category: 'auth',
        title: 'Forbidden',
        description: 'A request that changes data with the session cookie requires the X-CSRF-Token header.',
        retryable: false,
        code: 'forbidden',
      });
    }
    expect((await send({ 'x-csrf-token': csrf })).status).toBe(201);
  });

  it('a GraphQL request by session cookie is not executed without the CSRF header', async () => {
    const { cookie, csrf } = await setUp();
    const query = '{ me { principalType } }';
    const send = (headers: Headers) =>
      world.request('POST', '/graphql', { headers: { cookie, ...headers }, body: { query } });
    const answer = await send({ ...own, 'x-csrf-token': csrf });
    expect(answer.body.data).toEqual({ me: { principalType: 'cookie' } });
    expect((await send(own)).body).not.toHaveProperty('data.me.principalType');
    expect((await send({ 'x-csrf-token': csrf })).body).not.toHaveProperty('data.me.principalType');
  });

  it('200 · X-Org-Id chooses an organization of the person; 404 · another organization is refused', async () => {
    const { person, org, cookie } = await setUp();
    const { organization: second } = await createOwner(world, person, 'Another');
    const foreign = await setUp();
    expect((await me({ ...own, cookie, 'x-org-id': second.id })).body.orgId).toBe(second.id);
    expect((await me({ ...own, cookie, 'x-org-id': org.id })).body.orgId).toBe(org.id);
    const answer = await me({ ...own, cookie, 'x-org-id': foreign.org.id });
    expect([answer.status, answer.body.description]).toEqual([404, 'No such organization.']);
  });

  it('401 · a request with a session cookie and an Authorization header is authenticated by the header alone', async () => {
    const { cookie } = await setUp();
    expect((await me({ ...own, cookie, authorization: 'Bearer pat_wrong' })).status).toBe(401);
  });
});

describe('Development mailbox', () => {
  const key = () => new URL(mailboxAddress()!).searchParams.get('key')!;
  const opened = () => ({ headers: { cookie: `mailbox=${key()}` } });

  it('303 · the printed link opens the mailbox in one browser, and its secret does not stay in the URL', async () => {
    const link = new URL(mailboxAddress()!);
    const { status, headers } = await world.request('GET', link.pathname + link.search);
    expect([status, headers.get('location')]).toEqual([303, '/development/mailbox']);
    const [cookie] = headers.get('set-cookie')!.split(';');
    expect(cookie).toBe(`mailbox=${key()}`);
    expect(headers.get('set-cookie')).toContain('HttpOnly; SameSite=Lax');
    expect((await world.request('GET', '/development/mailbox', { headers: { cookie: cookie! } })).status).toBe(200);
  });

  it.each<[string, (key: string) => [query: string, cookie: string]]>([
    ['without the secret', () => ['', '']],
    ['with another secret', () => [`?key=${'A'.repeat(43)}`, `mailbox=${'A'.repeat(43)}`]],
    ['with a part of the secret', (key) => [`?key=${key.slice(0, -1)}`, `mailbox=${key.slice(1)}`]],
  ])('403 · the mailbox shows no mail and says where its link is printed, %s', async (_, ask) => {
    const email = address();
    await browser().submit('/sign-in', { email });
    await world.delivered();
    const [query, cookie] = ask(key());
    const { status, body } = await world.request('GET', `/development/mailbox${query}`, { headers: { cookie } });
    expect(status).toBe(403);
    expect(body).toContain('opens with the link that the service printed when it started');
    expect(body).not.toContain(email);
  });

  it('200 · the development mailbox shows the mail for sign-in', async () => {
    const email = address();
    await browser().submit('/sign-in', { email });
    await world.delivered();
    const { status, body } = await world.request('GET', '/development/mailbox', opened());
    expect(status).toBe(200);
    expect(body).toContain(`To ${email}`);
    expect(body).toContain(`Your sign-in code is ${await codeFor(email)}`);
    expect((await browser().submit('/sign-in', { email })).body).toContain('href="/development/mailbox"');
  });

  it('404 · the development mailbox does not exist while mail is sent by SMTP', async () => {
    const asked = opened();
    openMail({ smtpUrl: 'smtp://127.0.0.1:1', from: 'platform@example.com', log: () => {} });
    const { status } = await world.request('GET', '/development/mailbox', asked);
    openMail({ from: 'platform@example.com', log: () => {} });
    expect(status).toBe(404);
  });

  it('421 · the development mailbox is not served under a foreign name that resolves to this machine (DNS rebinding)', async () => {
    const statusAt = (host: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const { port } = new URL(world.url);
        get(
          { port, host: '127.0.0.1', path: '/development/mailbox', headers: { host, ...opened().headers } },
          (response) => {
            response.resume();
            resolve(response.statusCode);
          },
        ).on('error', reject);
      });
    expect(await statusAt('evil.example')).toBe(421);
    expect(await statusAt('127.0.0.1.evil.example:80')).toBe(421);
    expect(await statusAt('localhost:4000')).toBe(200);
    expect(await statusAt('[::1]:4000')).toBe(200);
  });

  it('404 · the development mailbox does not exist for a service with a public name', async () => {
    const { url } = world;
    const asked = opened();
    const https = 'https://console.example.com';
    bindAddresses({ baseHost: https, issuer: https, mcp: https, a2a: `${https}/a2a` });
    expect(mailboxAddress()).toBeNull();
    const { status } = await world.request('GET', '/development/mailbox', asked);
    bindAddresses({ baseHost: url, issuer: url, mcp: url, a2a: `${url}/a2a` });
    expect(status).toBe(404);
  });
});

it('secrets of sessions and sign-in codes are not stored in plain text', async () => {
  const email = address();
  const tab = await signedIn(email);
  const secret = tab.cookie.split('=')[1]!;
  const rows = JSON.stringify([await sql('select * from sessions'), await sql('select * from sign_in_codes')]);
  expect(rows).not.toContain(secret);
  expect(rows).not.toContain(`"${await codeFor(email)}"`);
});
