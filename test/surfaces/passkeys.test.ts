// Passkeys over real HTTP, with an authenticator in software: the options that the service sends, and accepted and rejected credentials.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sweepChallenges } from '#domain/organization/people/passkey-challenge.ts';
import { minutes, now } from '#foundation/clock.ts';
import { bindAddresses } from '#foundation/http/addresses.ts';
import { developmentMailbox } from '#foundation/mail/mail.ts';
import { sql } from '#foundation/postgres/database.ts';
import { createAuthenticator } from '../support/authenticator.ts';
import { type Answer, openWorld, type World } from '../support/world.ts';

let world: World;
let origin: string;
const rpId = 'localhost';
beforeAll(async () => {
  world = await openWorld();
  origin = world.url.replace('127.0.0.1', rpId);
  bindAddresses({ baseHost: world.url, issuer: origin, mcp: world.url, a2a: `${world.url}/a2a` });
});
afterAll(() => world.close());

/** A new browser, signed in if there is a session. */
function browser(session?: { secret: string; csrf: string }) {
  const jar = new Map<string, string>(session ? [['session', session.secret]] : []);
  const request = async (method: string, path: string, fields?: Record<string, string>): Promise<Answer> => {
    const answer = await world.request(method, path, {
      headers: {
        cookie: [...jar].map((pair) => pair.join('=')).join('; '),
        ...(fields && { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }),
      },
      ...(fields && {
        body: new URLSearchParams({ ...(session && { csrf_token: session.csrf }), ...fields }).toString(),
      }),
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [name, value] = cookie.split(';')[0]!.split('=') as [string, string];
      if (cookie.includes('Max-Age=0')) jar.delete(name);
      else jar.set(name, value);
    }
    return answer;
  };
  return {
    jar,
    open: (path: string) => request('GET', path),
    submit: (path: string, fields: Record<string, string> = {}) => request('POST', path, fields),
    async create(authenticator = createAuthenticator()) {
      const { challenge } = (await request('POST', '/console/passkeys/options', {})).body;
      const credential = JSON.stringify(authenticator.create({ challenge, origin, rpId }));
      return request('POST', '/console/passkeys', { credential });
    },
    challenge: async (): Promise<string> => (await request('POST', '/sign-in/passkey/options', {})).body.challenge,
    enter: (credential: unknown, returnTo = '') =>
      request('POST', '/sign-in/passkey', { credential: JSON.stringify(credential), return_to: returnTo }),
  };
}

let count = 0;
/** A person with a passkey. */
async function holder(authenticator = createAuthenticator()) {
  const person = await world.person(`Holder${++count}`);
  const console = browser(await world.session(person));
  expect((await console.create(authenticator)).status).toBe(200);
  return { person, console, authenticator };
}
const refused = 'The passkey could not be verified, or the page is older than five minutes. Try again.';

describe('Creating a passkey', () => {
  it('a new passkey must be discoverable and verify its user; the person’s existing passkeys are excluded, and the page lists them', async () => {
    const { person, console, authenticator } = await holder();
    const options = (await console.submit('/console/passkeys/options')).body;
    expect(options).toMatchObject({
      rp: { id: rpId, name: 'Agent Engineering Platform' },
      user: { id: Buffer.from(person.id).toString('base64url'), name: person.email, displayName: person.name },
      attestation: 'none',
      timeout: minutes(5),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    const { id } = authenticator.sign({ challenge: '', origin, rpId }, '');
    expect(options.excludeCredentials).toEqual([{ id, type: 'public-key', transports: [] }]);
    const page = await console.open('/console/passkeys');
    expect(page.body).toContain('Your passkeys');
    expect(page.body).toContain('Never used');
    expect(page.headers.get('content-security-policy')).toContain(
      "script-src 'self'; style-src 'self'; connect-src 'self'",
    );
  });

  it('a new passkey is named after its provider, and the person is notified by mail', async () => {
    const aaguid = Buffer.from('bada5566a7aa401fbd9645619a55120d', 'hex');
    const { person, console } = await holder(createAuthenticator({ aaguid }));
    expect((await console.open('/console/passkeys')).body).toContain('<strong>1Password</strong>');
    await world.delivered();
    const mail = developmentMailbox()!.find(({ to }) => to === person.email)!;
    expect(mail.subject).toBe('A passkey was added to your account');
    expect(mail.text).toContain('A passkey named "1Password" was added to your account at 2026-11-23T09:00:00.000Z.');
    expect(mail.text).toContain(`remove it at ${origin}/console/passkeys`);
  });

  it('401 · a new passkey is refused for a wrong or used challenge, another origin or domain, or without verification', async () => {
    const person = await world.person('Creator');
    const [mine, other] = [browser(await world.session(person)), browser(await world.session(person))];
    const ask = async (tab = mine) => (await tab.submit('/console/passkeys/options')).body.challenge as string;
    const authenticator = createAuthenticator();
    const bad = [
      { challenge: await ask(other), origin, rpId },
      { challenge: await browser().challenge(), origin, rpId },
      { challenge: Buffer.from('made.9999999999999.up').toString('base64url'), origin, rpId },
      { challenge: await ask(), origin: 'https://evil.example', rpId },
      { challenge: await ask(), origin, rpId: 'evil.example' },
      { challenge: await ask(), origin, rpId, verified: false },
    ];
    for (const ceremony of bad) {
      const answer = await mine.submit('/console/passkeys', {
        credential: JSON.stringify(authenticator.create(ceremony)),
      });
      expect([ceremony, answer.status]).toEqual([ceremony, 401]);
      expect(answer.body).toContain(refused);
    }
    const credential = JSON.stringify(authenticator.create({ challenge: await ask(), origin, rpId }));
    expect((await mine.submit('/console/passkeys', { credential })).status).toBe(200);
    expect((await mine.submit('/console/passkeys', { credential })).status).toBe(401);
    expect(await sql('select id from passkeys where person_id = $1', [person.id])).toHaveLength(1);
  });

  it('409 · a credential that already belongs to this or another account is refused', async () => {
    const { console, authenticator } = await holder();
    expect((await console.create(authenticator)).status).toBe(409);
    const another = browser(await world.session(await world.person('Another')));
    const answer = await another.create(authenticator);
    expect([answer.status, answer.body.includes('This passkey already belongs to an account.')]).toEqual([409, true]);
  });

  it('409 · the twenty-first passkey of a person is refused, even when many are created concurrently', async () => {
    const person = await world.person('Collector');
    const console = browser(await world.session(person));
    const answers = await Promise.all(Array.from({ length: 23 }, () => console.create()));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(answers.find(({ status }) => status === 409)!.body).toContain('An account can have at most 20 passkeys.');
  });

  it('creating a passkey returns 403 without the form token, 400 with an invalid credential, and 303 without a session', async () => {
    const tab = browser(await world.session(await world.person('Careless')));
    expect((await tab.submit('/console/passkeys/options', { csrf_token: 'x' })).status).toBe(403);
    for (const credential of ['', 'null', '{}', '{"id":"?"}']) {
      expect([credential, (await tab.submit('/console/passkeys', { credential })).status]).toEqual([credential, 400]);
    }
    expect((await browser().submit('/console/passkeys/options')).status).toBe(303);
  });
});

describe('Signing in with a passkey', () => {
  it('303 · a person signs in with a passkey from any browser, and returns to the requested page; the use of the passkey is recorded', async () => {
    const { person, authenticator } = await holder();
    const tab = browser();
    const { body: options } = await tab.submit('/sign-in/passkey/options');
    expect(options).toMatchObject({ rpId, userVerification: 'required', timeout: minutes(5) });
    expect(options.allowCredentials ?? []).toEqual([]);
    world.clock.turn(minutes(4));
    const credential = authenticator.sign({ challenge: options.challenge, origin, rpId }, person.id);
    const answer = await tab.enter(credential, '/claim?claim_attempt_token=cvt_1');
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/claim?claim_attempt_token=cvt_1']);
    expect((await tab.open('/console/account')).body).toContain(person.email);
    expect(await sql('select counter, last_used_at from passkeys where person_id = $1', [person.id])).toEqual([
      { counter: 2, lastUsedAt: now() },
    ]);
    expect((await tab.open('/console/passkeys')).body).toContain('Last used <time');
  });

  it('401 · a passkey challenge works only once, only in the browser that requested it, and for five minutes', async () => {
    const { person, authenticator } = await holder();
    const [tab, thief] = [browser(), browser()];
    const sign = (challenge: string) => authenticator.sign({ challenge, origin, rpId }, person.id);
    const stolen = sign(await tab.challenge());
    await thief.challenge();
    expect((await thief.enter(stolen)).body).toContain(refused);
    expect((await browser().enter(stolen)).status).toBe(401);
    const secret = tab.jar.get('sign-in')!;
    expect((await tab.enter(stolen)).status).toBe(303);
    tab.jar.set('sign-in', secret);
    expect((await tab.enter(stolen)).body).toContain(refused);
    const late = sign(await tab.challenge());
    world.clock.turn(minutes(5));
    expect((await tab.enter(late)).body).toContain(refused);
  });

  it('303 · only one of several concurrent uses of a passkey challenge signs in', async () => {
    const { person, authenticator } = await holder();
    const tab = browser();
    const credential = authenticator.sign({ challenge: await tab.challenge(), origin, rpId }, person.id);
    const answers = await Promise.all(Array.from({ length: 5 }, () => tab.enter(credential)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 401, 401, 401, 401]);
  });

  it('401 · a passkey is refused for another origin, domain, account, key or challenge, or without verification', async () => {
    const { person, authenticator, console } = await holder();
    const { person: other, authenticator: otherKey } = await holder();
    const tab = browser();
    const good = async () => ({ challenge: await tab.challenge(), origin, rpId });
    const bad = [
      authenticator.sign({ ...(await good()), origin: world.url }, person.id),
      authenticator.sign({ ...(await good()), rpId: 'evil.example' }, person.id),
      authenticator.sign({ ...(await good()), verified: false }, person.id),
      authenticator.sign(await good(), other.id),
      authenticator.sign(await good(), ''),
      { ...otherKey.sign(await good(), person.id), ...idOf(authenticator) },
      authenticator.sign(
        { ...(await good()), challenge: (await console.submit('/console/passkeys/options')).body.challenge },
        person.id,
      ),
    ];
    for (const credential of bad) {
      const answer = await tab.enter(credential);
      expect([answer.status, answer.body.includes(refused), tab.jar.has('session')]).toEqual([401, true, false]);
    }
    expect((await tab.enter(authenticator.sign(await good(), person.id))).status).toBe(303);
  });

  const idOf = (authenticator: ReturnType<typeof createAuthenticator>) => {
    const { id, rawId } = authenticator.sign({ challenge: '', origin, rpId }, '');
    return { id, rawId };
  };

  it('401 · a challenge for creating a passkey cannot be used to sign in, even if the sign-in cookie contains the id of the session in which the challenge was created', async () => {
    const { person, console, authenticator } = await holder();
    const { challenge } = (await console.submit('/console/passkeys/options')).body;
    const [session] = await sql<{ id: string }>('select id from sessions where person_id = $1', [person.id]);
    const tab = browser();
    tab.jar.set('sign-in', session!.id);
    const answer = await tab.enter(authenticator.sign({ challenge, origin, rpId }, person.id));
    expect([answer.status, answer.body.includes(refused)]).toEqual([401, true]);
  });

  it('401 · a passkey whose counter does not grow is refused; one without a counter can sign in repeatedly', async () => {
    const { person, authenticator } = await holder();
    const enter = async (key: typeof authenticator, id: string) => {
      const tab = browser();
      return tab.enter(key.sign({ challenge: await tab.challenge(), origin, rpId }, id));
    };
    expect((await enter(authenticator, person.id)).status).toBe(303);
    authenticator.setCounter(1);
    const copied = await enter(authenticator, person.id);
    expect(copied.status).toBe(401);
    expect(copied.body).toContain('The counter of this passkey has decreased, so it may have been copied.');
    authenticator.setCounter(7);
    expect((await enter(authenticator, person.id)).status).toBe(303);
    const plain = await holder(createAuthenticator({ counts: false }));
    for (let n = 0; n < 3; n++) expect((await enter(plain.authenticator, plain.person.id)).status).toBe(303);
  });

  it('401 · a removed passkey is refused; 404 · nobody can remove the passkey of another person', async () => {
    const { person, console, authenticator } = await holder();
    const { console: stranger } = await holder();
    const [{ id }] = (await sql<{ id: string }>('select id from passkeys where person_id = $1', [person.id])) as [
      { id: string },
    ];
    expect((await stranger.submit('/console/passkeys/remove', { passkey_id: id })).status).toBe(404);
    const removed = await console.submit('/console/passkeys/remove', { passkey_id: id });
    expect(removed.body).toContain('You have no passkey yet');
    const tab = browser();
    const answer = await tab.enter(authenticator.sign({ challenge: await tab.challenge(), origin, rpId }, person.id));
    expect(answer.status).toBe(401);
    expect(answer.body).toContain('This passkey is unknown. It may have been removed.');
  });

  it('403 · a disabled account cannot sign in by passkey, code or link', async () => {
    const { person, authenticator } = await holder();
    const tab = browser();
    await tab.submit('/sign-in', { email: person.email });
    await world.delivered();
    const { text } = developmentMailbox()!.find(({ to }) => to === person.email)!;
    await sql('update people set disabled_at = $2 where id = $1', [person.id, now()]);
    const ways = [
      tab.enter(authenticator.sign({ challenge: await tab.challenge(), origin, rpId }, person.id)),
      tab.submit('/sign-in/link', { token: /token=([\w-]+)/.exec(text)![1]! }),
    ];
    for (const answer of await Promise.all(ways)) {
      expect([answer.status, answer.body.includes('This account is disabled.')]).toEqual([403, true]);
    }
    await tab.submit('/sign-in', { email: person.email });
    await world.delivered();
    const code = /\b\d{6}\b/.exec(developmentMailbox()!.find(({ to }) => to === person.email)!.text)![0];
    expect((await tab.submit('/sign-in/code', { email: person.email, code })).status).toBe(403);
    expect(tab.jar.has('session')).toBe(false);
  });

  it('403 · a sign-in by passkey from another site is refused', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'cross-site' };
    for (const path of ['/sign-in/passkey', '/sign-in/passkey/options']) {
      expect((await world.request('POST', path, { headers, body: '' })).status).toBe(403);
    }
  });

  it('a passkey challenge is stored when it is used and not when it is issued, and deleted when it expires', async () => {
    await sql('delete from used_passkey_challenges');
    const { person, authenticator } = await holder();
    const tab = browser();
    for (let n = 0; n < 5; n++) await tab.challenge();
    const used = async () => (await sql('select digest from used_passkey_challenges')).length;
    expect(await used()).toBe(1);
    await tab.enter(authenticator.sign({ challenge: await tab.challenge(), origin, rpId }, person.id));
    world.clock.turn(minutes(5) - 1);
    await sweepChallenges();
    expect(await used()).toBe(2);
    world.clock.turn(1);
    await sweepChallenges();
    expect(await used()).toBe(0);
  });
});

describe('Consoles without a domain name', () => {
  it('a console without a domain name offers no passkeys, loads no script for them, and says why', async () => {
    const { url } = world;
    const session = await world.session(await world.person('Numbers'));
    bindAddresses({ baseHost: url, issuer: url, mcp: url, a2a: `${url}/a2a` });
    try {
      const tab = browser(session);
      for (const body of [(await browser().open('/sign-in')).body, (await tab.open('/console/account')).body]) {
        expect(body).not.toMatch(/passkey\.js|passkey"/);
      }
      const { body } = await tab.open('/console/passkeys');
      expect(body).toContain('Passkeys need a console at a domain name over https, or at localhost.');
      expect(body).not.toContain('passkey.js');
    } finally {
      bindAddresses({ baseHost: url, issuer: origin, mcp: url, a2a: `${url}/a2a` });
    }
  });
});

describe('Offers of a passkey', () => {
  it('a person without a passkey is offered one on the account page, until they skip it in this browser', async () => {
    const person = await world.person('Undecided');
    const tab = browser(await world.session(person));
    expect((await tab.open('/console/account')).body).toContain('Sign in faster next time');
    expect((await tab.submit('/console/passkeys/skip')).headers.get('location')).toBe('/console/account');
    expect((await tab.open('/console/account')).body).not.toContain('Sign in faster next time');
    const phone = browser(await world.session(person));
    expect((await phone.open('/console/account')).body).toContain('Sign in faster next time');
    await phone.create();
    expect((await phone.open('/console/account')).body).not.toContain('Sign in faster next time');
  });
});
