// Signing in to the console over real HTTP: by code and by link, the return address, and signing out
// (docs/decisions/0032-sign-in-without-passwords.md).
import { afterAll, describe, expect, it } from 'vitest';
import { createSignInLink } from '#domain/organization/people/sign-in-links.ts';
import { minutes } from '#foundation/clock.ts';
import { developmentMailbox, openMail } from '#foundation/mail/mail.ts';
import { sql } from '#foundation/postgres/database.ts';
import { ownPath } from '../../src/surfaces/console/visitor.ts';
import { type Headers, openVisitorWorld, own } from '../support/visitors.ts';

const { world, address, codeFor, browser, signedIn, close } = await openVisitorWorld();
afterAll(close);

const other = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

describe('Signing in', () => {
  it('an emailed code signs a person in to the console, and the first sign-in creates the account', async () => {
    const email = address();
    const tab = browser();
    expect((await tab.open('/console')).headers.get('location')).toBe('/sign-in?return_to=%2Fconsole');
    const asked = await tab.submit('/sign-in', { email, return_to: '/console' });
    expect(asked.status).toBe(200);
    expect(asked.body).toContain(`<strong>${email}</strong>`);
    const entered = await tab.submit('/sign-in/code', { email, code: await codeFor(email), return_to: '/console' });
    expect([entered.status, entered.headers.get('location')]).toEqual([303, '/console']);
    const cookies = entered.headers.getSetCookie();
    expect(cookies).toEqual([
      expect.stringMatching(/^session=[\w-]{43}; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Lax$/),
      'sign-in=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax',
      expect.stringMatching(/^known-browser=[\w-]+; Path=\/; Max-Age=15552000; HttpOnly; SameSite=Lax$/),
    ]);
    const home = await tab.open('/console/account');
    expect(home.status).toBe(200);
    expect(home.body).toContain(email);
    expect(home.body).toContain('Create your organization');
  });

  it('the sign-in form answers the same for an email address with an account and for one without', async () => {
    const [known, unknown] = [address(), address()];
    await world.person(known.split('@')[0]!);
    const [first, second] = [
      await browser().submit('/sign-in', { email: known }),
      await browser().submit('/sign-in', { email: unknown }),
    ];
    expect(first.status).toBe(200);
    expect(first.body.replaceAll(known, 'X')).toBe(second.body.replaceAll(unknown, 'X'));
  });

  it('a sign-in code may contain the spaces that mail programs add', async () => {
    const [email, tab] = [address(), browser()];
    await tab.submit('/sign-in', { email });
    const code = await codeFor(email);
    const { status } = await tab.submit('/sign-in/code', { email, code: ` ${code.slice(0, 3)} ${code.slice(3)} ` });
    expect(status).toBe(303);
  });

  it('401 · a wrong code shows the form again with a message, and sets no cookie', async () => {
    const [email, tab] = [address(), browser()];
    await tab.submit('/sign-in', { email });
    const answer = await tab.submit('/sign-in/code', { email, code: other(await codeFor(email)) });
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([401, null]);
    expect(answer.body).toContain('role="alert"');
    expect(answer.body).toContain(
      'This code is wrong, was used, or is older than ten minutes. After five wrong codes request a new one.',
    );
    expect(answer.body).toContain('action="/sign-in/code"');
  });

  it('400 · an invalid email address is shown again, escaped', async () => {
    const answer = await browser().submit('/sign-in', { email: '"><script>alert(1)</script>' });
    expect(answer.status).toBe(400);
    expect(answer.body).toContain('email: must be an email address');
    expect(answer.body).toContain('value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"');
    expect(answer.body).not.toContain('<script');
  });

  it('400 · a NUL and a missing field are refused like any other invalid value', async () => {
    expect((await browser().submit('/sign-in', { email: 'a\0@example.com' })).status).toBe(400);
    expect((await browser().submit('/sign-in/code', { email: address() })).status).toBe(400);
    expect((await browser().submit('/sign-in/code', { email: address(), code: '\0' })).status).toBe(400);
  });

  it('401 · a code works only in the browser that requested it, and other browsers are told so', async () => {
    const email = address();
    const [mine, stranger] = [browser(), browser()];
    await mine.submit('/sign-in', { email });
    const code = await codeFor(email);
    await stranger.submit('/sign-in', { email: address() });
    for (const tab of [stranger, browser()]) {
      const answer = await tab.submit('/sign-in/code', { email, code });
      expect([answer.status, tab.cookie]).toEqual([401, '']);
      expect(answer.body).toContain('This browser did not request a code for this email address.');
    }
    expect((await mine.submit('/sign-in/code', { email, code })).status).toBe(303);
  });

  it('303 · five wrong codes that a stranger enters do not invalidate the right code', async () => {
    const email = address();
    const [mine, stranger] = [browser('192.0.2.1'), browser('192.0.2.2')];
    await mine.submit('/sign-in', { email });
    const code = await codeFor(email);
    await stranger.submit('/sign-in', { email });
    for (let n = 0; n < 6; n++) expect((await stranger.submit('/sign-in/code', { email, code })).status).toBe(401);
    expect((await mine.submit('/sign-in/code', { email, code })).status).toBe(303);
  });

  it('429 · a stranger’s requests do not lock the person out on other networks, nor in a known browser on the same network', async () => {
    const email = address();
    const known = browser('192.0.2.3');
    await known.signIn(email);
    await known.submit('/sign-out', { csrf_token: await known.csrf() });
    for (let n = 0; n < 20; n++) await browser('192.0.2.3').submit('/sign-in', { email });
    const refused = await browser('192.0.2.3').submit('/sign-in', { email });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '86400']);
    expect(refused.body).toContain('Sign in with a passkey, or with a code or link that was already sent.');
    expect((await browser('192.0.2.4').signIn(email)).status).toBe(303);
    expect((await known.signIn(email)).status).toBe(303);
  });

  it('429 · the cookie of a known browser has an effect only if the service issued it, and only for the email addresses in it', async () => {
    const [email, another] = [address(), address()];
    const known = browser('192.0.2.5');
    await known.signIn(another);
    for (let n = 0; n < 20; n++) await browser('192.0.2.5').submit('/sign-in', { email });
    const forged = { 'known-browser': Buffer.from(`{"id":"x","emails":["${email}"]}`).toString('base64url') };
    const cookie = Object.entries(forged)
      .map((pair) => pair.join('='))
      .join();
    expect((await browser('192.0.2.5').submit('/sign-in', { email }, { ...own, cookie })).status).toBe(429);
    expect((await known.submit('/sign-in', { email })).status).toBe(429);
  });

  it('429 · a network is blocked when it guesses codes for many email addresses, and other networks are not', async () => {
    const stranger = browser('2001:db8::1');
    for (let n = 0; n < 24; n++) {
      const email = address();
      await stranger.submit('/sign-in', { email });
      for (let guess = 0; guess < 5; guess++) await stranger.submit('/sign-in/code', { email, code: 'no' });
    }
    const answer = await browser('2001:db8::2').submit('/sign-in/code', { email: address(), code: '123456' });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '3600']);
    expect(answer.body).toContain('Too many codes were tried from this network.');
    expect((await browser('2001:db8:0:1::1').signIn(address())).status).toBe(303);
  });

  it('200 · a sign-in mail waits while the mail server is unavailable, and is sent later', async () => {
    openMail({ smtpUrl: 'smtp://127.0.0.1:1', from: 'platform@example.com', log: () => {} });
    const [email, tab] = [address(), browser()];
    const answer = await tab.submit('/sign-in', { email });
    await world.delivered();
    openMail({ from: 'platform@example.com', log: () => {} });
    expect(answer.status).toBe(200);
    expect(answer.body).toContain(`We sent an email to <strong>${email}</strong>.`);
    expect(developmentMailbox()).toEqual([]);
    await sql('update background.job set start_after = now()');
    expect((await tab.submit('/sign-in/code', { email, code: await codeFor(email) })).status).toBe(303);
  });

  it('a new sign-in replaces the session of the browser, and ends it', async () => {
    const email = address();
    const tab = await signedIn(email);
    const former = tab.cookie;
    await tab.signIn(email);
    expect(tab.cookie).not.toBe(former);
    expect((await world.request('GET', '/console/account', { headers: { cookie: former } })).status).toBe(303);
    expect((await tab.open('/console/account')).status).toBe(200);
  });

  it('303 · a person who is signed in is redirected at once from the sign-in page', async () => {
    const tab = await signedIn(address());
    const answer = await tab.open('/sign-in?return_to=%2Fconsole%3Fa%3D1');
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/console?a=1']);
  });

  it('403 · a sign-in form of another site is refused, because it could sign a person in to a stranger’s account', async () => {
    const email = address();
    const tab = browser();
    await tab.submit('/sign-in', { email });
    const fields = { email, code: await codeFor(email) };
    const foreign: Headers[] = [
      {},
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `${world.url}.evil.example` },
      { 'sec-fetch-site': 'cross-site', origin: world.url },
    ];
    for (const headers of foreign) {
      const answer = await tab.submit('/sign-in/code', fields, headers);
      expect([headers, answer.status, answer.headers.get('set-cookie')]).toEqual([headers, 403, null]);
    }
    expect((await tab.submit('/sign-in/code', fields, { origin: world.url })).status).toBe(303);
  });

  it('415 · the sign-in page accepts only forms', async () => {
    const headers = { ...own, 'content-type': 'text/plain' };
    const answer = await world.request('POST', '/sign-in', { headers, body: 'email=a@example.com' });
    expect(answer.status).toBe(415);
  });

  it('413 · a sign-in form of more than 64 KiB is refused', async () => {
    const answer = await browser().submit('/sign-in', { email: 'a'.repeat(70_000) });
    expect(answer.status).toBe(413);
  });
});

describe('Return addresses', () => {
  it.each([
    ['/console', '/console'],
    ['/claim?claim_attempt_token=cvt_x&a=b#c', '/claim?claim_attempt_token=cvt_x&a=b#c'],
    ['console', '/console'],
    ['//evil.example', '/console'],
    ['/\\evil.example', '/console'],
    ['\\\\evil.example', '/console'],
    ['/\t/evil.example', '/console'],
    ['https://evil.example/', '/console'],
    ['https:evil.example', '/console'],
    ['javascript:alert(1)', '/console'],
    ['data:text/html,x', '/console'],
    ['http://user@evil.example', '/console'],
    ['http://[', '/console'],
    ['', '/console'],
  ])('the return address %j redirects to %s', (value, path) => expect(ownPath(value)).toBe(path));

  it('a URL of the service is followed after sign-in; double slashes after its origin lead to no other site', () => {
    expect(ownPath(`${world.url}/claim?a=1`)).toBe('/claim?a=1');
    expect(ownPath(`${world.url}//evil.example/x`)).toBe('/evil.example/x');
    expect(ownPath(`${world.url}/\\/evil.example`)).toBe('/evil.example');
    expect(ownPath(`blob:${world.url}//evil.example`)).toBe('/console');
    expect(ownPath(null)).toBe('/console');
  });

  it('the return address is kept through both forms, and followed after sign-in', async () => {
    const [email, tab] = [address(), browser()];
    const page = await tab.open('/sign-in?return_to=%2Fclaim%3Fclaim_attempt_token%3Dcvt_1');
    expect(page.body).toContain('name="return_to" value="/claim?claim_attempt_token=cvt_1"');
    const entered = await tab.signIn(email, '/claim?claim_attempt_token=cvt_1');
    expect(entered.headers.get('location')).toBe('/claim?claim_attempt_token=cvt_1');
  });

  it('a return address on another site is not followed after sign-in', async () => {
    for (const target of ['//evil.example', '/\\evil.example', 'https://evil.example']) {
      expect((await browser().signIn(address(), target)).headers.get('location')).toBe('/console');
    }
  });
});

describe('Sign-in links', () => {
  const linkIn = async (to: string) => {
    await world.delivered();
    const mail = developmentMailbox()!.find((one) => one.to === to)!;
    return new URL(/\S+\/sign-in\/link\?\S+/.exec(mail.text)![0]);
  };

  it('a sign-in link is mailed with the code; opening it changes nothing, and its button signs in once, in any browser', async () => {
    const email = address();
    await browser().submit('/sign-in', { email, return_to: '/console/sessions' });
    const link = await linkIn(email);
    const path = link.pathname + link.search;
    world.clock.turn(minutes(3));
    for (const method of ['GET', 'HEAD', 'GET']) {
      const page = await world.request(method, path, { headers: { 'sec-fetch-site': 'none' } });
      expect([page.status, page.headers.getSetCookie()]).toEqual([200, []]);
      if (method === 'HEAD') continue;
      expect(page.body).toMatch(/<form method="post" action="\/sign-in\/link">/);
      expect(page.body).toContain(`Sign in as v•••@example.com</button>`);
      expect(page.body).not.toContain(email);
      expect(page.body).toMatch(
        /This link was requested <time datetime="[^"]+" title="[^"]+ UTC">3 minutes ago<\/time>/,
      );
      expect(page.body).toContain('If you did not request it, or this is not your email address, close this page.');
    }
    const tab = browser();
    const token = link.searchParams.get('token')!;
    const entered = await tab.submit('/sign-in/link', { token });
    expect([entered.status, entered.headers.get('location')]).toEqual([303, '/console']);
    expect((await tab.open('/console/account')).body).toContain(email);
    const again = await browser().submit('/sign-in/link', { token });
    expect([again.status, again.headers.get('set-cookie')]).toEqual([401, null]);
    expect(again.body).toContain('<h1>Sign-in failed</h1>');
    expect(again.body).toContain('This sign-in link was used or is older than ten minutes.');
    expect((await tab.open(path)).status).toBe(401);
  });

  it('a sign-in link that was requested on the page of a claim leads back to that page in the same browser', async () => {
    const [email, tab] = [address(), browser()];
    await tab.submit('/sign-in', { email, return_to: '/claim?claim_attempt_token=cvt_1' });
    const entered = await tab.submit('/sign-in/link', { token: (await linkIn(email)).searchParams.get('token')! });
    expect(entered.headers.get('location')).toBe('/claim?claim_attempt_token=cvt_1');
  });

  it('303 · only one of several concurrent uses of a sign-in link signs in', async () => {
    const token = new URL(await createSignInLink(address())).searchParams.get('token')!;
    const presses = await Promise.all([1, 2, 3].map(() => browser().submit('/sign-in/link', { token })));
    expect(presses.map(({ status }) => status).sort()).toEqual([303, 401, 401]);
  });

  it('403 · a sign-in link cannot be used from another site', async () => {
    const token = new URL(await createSignInLink(address())).searchParams.get('token')!;
    expect((await browser().submit('/sign-in/link', { token }, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await browser().submit('/sign-in/link', { token })).status).toBe(303);
  });
});

describe('Signing out', () => {
  it('signing out ends the session, not only the cookie', async () => {
    const tab = await signedIn(address());
    const { cookie } = tab;
    const answer = await tab.submit('/sign-out', { csrf_token: await tab.csrf() });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/sign-in']);
    expect(answer.headers.get('set-cookie')).toBe('session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax');
    expect((await world.request('GET', '/console/account', { headers: { cookie } })).status).toBe(303);
  });

  it('403 · signing out requires the form token of the same session', async () => {
    const [tab, stranger] = [await signedIn(address()), await signedIn(address())];
    for (const csrf_token of [await stranger.csrf(), '', 'x']) {
      const answer = await tab.submit('/sign-out', { csrf_token });
      expect(answer.status).toBe(403);
      expect(answer.body).toContain('This form did not come from one of our pages.');
    }
    const csrf_token = await tab.csrf();
    expect((await tab.submit('/sign-out', { csrf_token }, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await tab.open('/console/account')).status).toBe(200);
  });

  it('303 · signing out without a session redirects to sign-in', async () => {
    const answer = await browser().submit('/sign-out', {});
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/sign-in?return_to=%2Fconsole']);
  });
});
