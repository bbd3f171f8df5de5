// Sign-in through an OpenID provider (OpenID Connect Core §3.1), with a small provider over real HTTP.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { recordRefusalOf } from '#domain/identity/refusals/operations.ts';
import { minutes } from '#foundation/clock.ts';
import { addresses, bindAddresses } from '#foundation/http/addresses.ts';
import type { Exchange } from '#foundation/http/http.ts';
import { createConsole } from '../../src/surfaces/console/surface.ts';
import { createOwner } from '../support/callers.ts';
import { client, type OpenIdProvider, openOpenIdProvider } from '../support/fake-openid-provider.ts';
import { type Answer, openWorld, type World } from '../support/world.ts';

let world: World;
let provider: OpenIdProvider;
const faults: unknown[] = [];
/** The last request to the console, with its response. */
let last: Exchange;
beforeAll(async () => {
  world = await openWorld();
  provider = await openOpenIdProvider();
  serve();
});
beforeEach(() => {
  provider.behave();
  faults.length = 0;
});
afterAll(async () => {
  await provider.close();
  await world.close();
});

/** Puts a new console in front of the app. The new console signs people in through the provider, and remembers nothing from earlier tests. */
function serve(settings: Partial<typeof client & { issuer: string }> = {}): void {
  const upstreamSignIn = { issuer: provider.issuer, ...client, ...settings };
  const surface = createConsole({ report: (_exchange, error) => void faults.push(error), upstreamSignIn });
  const app = world.server.listeners('request').at(-1) as (req: IncomingMessage, res: ServerResponse) => void;
  world.server.removeAllListeners('request');
  world.server.on('request', (req, res) => {
    const [path = '', search = ''] = req.url!.split('?', 2);
    if (!surface.owns(path)) return app(req, res);
    const exchange = { req, res, path, search, requestId: 'req_test', address: '127.0.0.1' };
    last = exchange;
    surface.handle(exchange).catch((error) => res.destroy(error));
  });
}

const cookieIn = (answer: Answer, name: string): string | undefined =>
  answer.headers
    .getSetCookie()
    .find((cookie) => cookie.startsWith(`${name}=`))
    ?.split(';')[0];

/**
 * Starts a sign-in at the console. Returns the provider's URL to which the console redirects the browser, and the cookie that the browser
 * stores.
 */
async function startSignIn(returnTo = ''): Promise<{ address: URL; cookie: string }> {
  const answer = await world.request('GET', `/sign-in/upstream?return_to=${encodeURIComponent(returnTo)}`);
  expect(answer.status).toBe(303);
  return { address: new URL(answer.headers.get('location')!), cookie: cookieIn(answer, 'upstream')! };
}

/** The URL to which the provider redirects the browser. */
async function signInThere(address: URL): Promise<string> {
  const answer = await fetch(address, { redirect: 'manual' });
  const back = new URL(answer.headers.get('location')!);
  return back.pathname + back.search;
}

async function wholeWay(returnTo = ''): Promise<Answer> {
  const { address, cookie } = await startSignIn(returnTo);
  return world.request('GET', await signInThere(address), { headers: { cookie } });
}

const who = async (answer: Answer) => {
  const cookie = cookieIn(answer, 'session')!;
  const headers = { cookie, 'sec-fetch-site': 'same-origin' };
  const { body } = await world.request('GET', '/v1/me', { headers });
  return world.knex('people').where({ id: body.userId }).first();
};

const people = async () => Number((await world.knex('people').count())[0]!.count);

describe('Sign-in through an upstream provider', () => {
  it('the sign-in page links to the upstream provider and keeps the return address; without a provider there is no link', async () => {
    const page = await world.request('GET', '/sign-in?return_to=%2Fconsole%2Ftokens');
    expect(page.body).toContain('href="/sign-in/upstream?return_to=%2Fconsole%2Ftokens"');
    expect(page.body).toContain(`Continue with ${new URL(provider.issuer).host}</a>`);
    const plain = await openConsoleWithout();
    expect(plain).not.toContain('/sign-in/upstream');
  });

  it('the sign-in page has one divider, even when it offers both a passkey and the upstream provider', async () => {
    const own = addresses();
    bindAddresses({ ...own, issuer: own.issuer.replace('127.0.0.1', 'localhost') });
    try {
      const { body } = await world.request('GET', '/sign-in');
      expect(body).toContain('Sign in with a passkey');
      expect(body).toContain('Continue with ');
      expect(body.match(/<span>or<\/span>/g)).toHaveLength(1);
    } finally {
      bindAddresses(own);
    }
  });

  async function openConsoleWithout(): Promise<string> {
    const surface = createConsole({ report: () => {} });
    expect(surface.owns('/sign-in/upstream')).toBe(false);
    const written: string[] = [];
    const res = {
      setHeader: () => {},
      writeHead: () => {},
      end: (text: string) => written.push(text),
      getHeader: () => undefined,
    };
    const req = { method: 'GET', headers: {} };
    const exchange = { req, res, path: '/sign-in', search: '', requestId: 'req_test', address: '' };
    await surface.handle(exchange as never);
    return written.join('');
  }

  it('a sign-in sends a challenge, a state and a nonce to the upstream provider, and seals their secrets in the cookie', async () => {
    const { address, cookie } = await startSignIn();
    expect(`${address.origin}${address.pathname}`).toBe(`${provider.issuer}/authorize`);
    const { state, nonce, code_challenge, ...rest } = Object.fromEntries(address.searchParams);
    expect(rest).toEqual({
      response_type: 'code',
      client_id: client.clientId,
      redirect_uri: `${world.url}/sign-in/upstream/return`,
      scope: 'openid email profile',
      code_challenge_method: 'S256',
    });
    for (const secret of [state, nonce, code_challenge]) {
      expect(secret).toMatch(/^[\w-]{43}$/);
      expect(cookie).not.toContain(secret);
    }
    const again = await startSignIn();
    expect(again.address.searchParams.get('state')).not.toBe(state);
  });

  it('303 · the upstream provider signs a person in with the verified address, under the name that it returns', async () => {
    const answer = await wholeWay('/console/tokens');
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/console/tokens']);
    expect(cookieIn(answer, 'upstream')).toBe('upstream=');
    const { email, name } = await who(answer);
    expect({ email, name }).toEqual({ email: 'ada@example.com', name: 'Ada Lovelace' });
    expect(provider.provedBy).toBe('client_secret_basic');
    expect(faults).toEqual([]);
  });

  it('303 · an upstream sign-in opens the existing account of the email address, in any letter case, and keeps its name', async () => {
    const grace = await world.person('Grace');
    provider.behave({ claims: { email: 'GRACE@example.com', email_verified: true, name: 'Somebody' } });
    const { id, name } = await who(await wholeWay());
    expect([id, name]).toEqual([grace.id, 'Grace']);
  });

  it('303 · the email address is read from the userinfo endpoint when the ID token has none', async () => {
    provider.behave({ claims: {}, userinfo: { email: 'info@example.com', email_verified: true } });
    expect((await who(await wholeWay())).email).toBe('info@example.com');
  });

  it('303 · the client secret is sent in the form to an upstream provider that requires it', async () => {
    serve();
    provider.behave({ authMethods: ['client_secret_post'] });
    expect((await wholeWay()).status).toBe(303);
    expect(provider.provedBy).toBe('client_secret_post');
    serve();
  });

  it.each(['//evil.example', 'https://evil.example/', '/\\evil.example', ''])(
    'an upstream sign-in returns to a page of this service, not to %j',
    async (to) => {
      const location = (await wholeWay(to)).headers.get('location')!;
      expect(new URL(location, world.url).origin).toBe(world.url);
    },
  );
});

describe('Refused upstream sign-ins', () => {
  const refusal = async (answer: Answer) => {
    expect(cookieIn(answer, 'session')).toBe(undefined);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    return [answer.status, /<h1>[^<]*<\/h1>\s*<p>([^<]*)<\/p>/.exec(answer.body)?.[1]];
  };
  const again = 'This sign-in expired or was started in another browser. Start again.';
  const noAddress = 'The provider did not return a verified email address. Use an emailed code instead.';
  const noAnswer = 'The sign-in provider returned an invalid response. Try again, or use an emailed code.';

  it.each([
    ['is not verified', { email: 'x@example.com', email_verified: false }],
    ['has the text "true" as email_verified', { email: 'x@example.com', email_verified: 'true' }],
    ['has no claim email_verified', { email: 'x@example.com' }],
    ['is invalid', { email: 'nonsense', email_verified: true }],
    ['is missing', {}],
  ])('403 · an email address that %s is refused, and no account is created', async (_what, claims) => {
    provider.behave({ claims });
    const before = await people();
    expect(await refusal(await wholeWay())).toEqual([403, noAddress]);
    expect(await people()).toBe(before);
  });

  it('403 · the audit log records when an upstream sign-in of a known person is refused because of an unverified address or a disabled account', async () => {
    const { person: mary, organization } = await createOwner(world, 'Mary', 'Acme');
    const orgId = organization.id;
    const session = await world.session(mary, orgId);
    const claims = { email: 'MARY@example.com', email_verified: false };
    provider.behave({ claims });
    await wholeWay();
    await recordRefusalOf(last);
    await world.knex('people').where({ id: mary.id }).update({ disabledAt: 1 });
    provider.behave({ claims: { ...claims, email_verified: true } });
    expect(await refusal(await wholeWay())).toEqual([403, 'This account is disabled.']);
    await recordRefusalOf(last);
    await world.knex('people').where({ id: mary.id }).update({ disabledAt: null });
    const { data } = (await world.rest('GET', '/audit-events?action=sign_in.refused', { session })).body;
    const target = { type: 'sign_in', id: mary.id, name: 'mary@example.com' };
    expect(data).toMatchObject([
      { targets: [target], changes: [{ path: 'reason', before: null, after: 'This account is disabled.' }] },
      { targets: [target], changes: [{ path: 'reason', before: null, after: noAddress }] },
    ]);
  });

  it('400 · a callback without its cookie, with another cookie or state, or a second time is refused', async () => {
    const { address, cookie } = await startSignIn();
    const back = await signInThere(address);
    expect(await refusal(await world.request('GET', back))).toEqual([400, again]);
    const other = await startSignIn();
    expect(await refusal(await world.request('GET', back, { headers: { cookie: other.cookie } }))).toEqual([
      400,
      again,
    ]);
    for (const forged of [`${cookie}x`, 'upstream=e30', 'upstream=']) {
      expect(await refusal(await world.request('GET', back, { headers: { cookie: forged } }))).toEqual([400, again]);
    }
    const stateless = back.replace(/&?state=[^&]+/, '');
    expect(await refusal(await world.request('GET', stateless, { headers: { cookie } }))).toEqual([400, again]);
    expect((await world.request('GET', back, { headers: { cookie } })).status).toBe(303);
    expect(await refusal(await world.request('GET', back, { headers: { cookie } }))).toEqual([
      400,
      'The provider rejected this sign-in. Start again.',
    ]);
  });

  it('400 · a callback after ten minutes is refused', async () => {
    const { address, cookie } = await startSignIn();
    const back = await signInThere(address);
    world.clock.turn(minutes(10));
    expect(await refusal(await world.request('GET', back, { headers: { cookie } }))).toEqual([400, again]);
  });

  it('403 · a callback is refused when the upstream provider did not sign the person in', async () => {
    provider.behave({ error: 'access_denied' });
    expect(await refusal(await wholeWay())).toEqual([
      403,
      'The provider did not sign you in. Start again, or use an emailed code.',
    ]);
  });

  it.each([
    ['signed by somebody else', { signsWithForeignKey: true }, 'signature verification failed'],
    [
      'for another sign-in',
      { claims: { nonce: 'other', email: 'x@example.com', email_verified: true } },
      'unexpected ID Token "nonce"',
    ],
    [
      'for another client',
      { claims: { aud: 'other', email: 'x@example.com', email_verified: true } },
      'unexpected JWT "aud"',
    ],
  ])('502 · an ID token %s is refused, and only the log has the reason', async (_what, how, reason) => {
    provider.behave(how);
    const before = await people();
    expect(await refusal(await wholeWay())).toEqual([502, noAnswer]);
    expect(faults).toHaveLength(1);
    const { message, cause } = (faults[0] as Error).cause as Error;
    expect(message).toContain(reason);
    // The library's own error, which contains the claims, is not kept as the cause.
    expect(cause).toBe(undefined);
    expect(await people()).toBe(before);
  });

  it('502 · an upstream sign-in fails until the unavailable provider is back', async () => {
    serve();
    provider.behave({ isAway: true });
    expect(await refusal(await world.request('GET', '/sign-in/upstream'))).toEqual([502, noAnswer]);
    provider.behave();
    expect((await wholeWay()).status).toBe(303);
    const { address, cookie } = await startSignIn();
    const back = await signInThere(address);
    provider.behave({ isAway: true });
    expect(await refusal(await world.request('GET', back, { headers: { cookie } }))).toEqual([502, noAnswer]);
  });

  it('502 · an upstream sign-in fails when the provider rejects the client secret', async () => {
    serve({ clientSecret: 'wrong' });
    expect(await refusal(await wholeWay())).toEqual([502, noAnswer]);
    serve();
  });
});

it('429 · upstream sign-ins are refused after 120 in an hour from one network, counted across all processes', async () => {
  await world.knex('throttle_counts').delete();
  for (let count = 0; count < 120; count++) {
    if (count % 40 === 0) serve();
    await startSignIn();
  }
  const answer = await world.request('GET', '/sign-in/upstream');
  expect(answer.status).toBe(429);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
});
