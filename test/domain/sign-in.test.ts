// Sign-in by email: codes for the browser that requested them, links that work once in any browser, and limits for strangers.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findPersonByAddress } from '#domain/organization/people/operations.ts';
import {
  type SignInBrowser,
  sendSignInCode,
  sweepSignIns,
  useSignInCode,
} from '#domain/organization/people/sign-in-codes.ts';
import { createSignInLink, findSignInLink, useSignInLink } from '#domain/organization/people/sign-in-links.ts';
import { hours, minutes, now } from '#foundation/clock.ts';
import { developmentMailbox } from '#foundation/mail/mail.ts';
import { sql } from '#foundation/postgres/database.ts';
import type { Problem } from '#foundation/problem.ts';
import { digest, newSecret } from '#foundation/secrets/secrets.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
  // Connections are opened before a race, because a call that first has to open one would come too late.
  await Promise.all(Array.from({ length: 16 }, () => sql('select pg_sleep(0.05)')));
});
afterAll(() => world.close());

let count = 0;
const someone = () => `person${++count}@example.com`;
type Asking = SignInBrowser & { secret: string };
/** A browser in a separate network. */
const browser = (more: Partial<Asking> = {}): Asking => {
  const number = ++count;
  return { secret: newSecret(''), address: `10.1.${number >> 8}.${number & 255}`, knownBrowser: null, ...more };
};

const mailTo = async (to: string) => {
  await world.delivered();
  return developmentMailbox()!.find((mail) => mail.to === to)!;
};
const ask = async (email: string, from: Asking, returnTo = '/console') => {
  await sendSignInCode(email, from, returnTo);
  const { text } = await mailTo(email.toLowerCase());
  return { code: /\b\d{6}\b/.exec(text)![0], token: /link\?token=([\w-]{43})\n/.exec(text)![1]! };
};
/** A different six-digit code. */
const other = (code: string, n = 1) => String((Number(code) + n) % 1_000_000).padStart(6, '0');

const problemOf = async (work: Promise<unknown>): Promise<Problem> => {
  const problem = await work.then(
    () => null,
    (error: Problem) => error,
  );
  if (!problem) throw new Error('nothing was refused');
  return problem;
};
const wrong = 'This code is wrong, was used, or is older than ten minutes. After five wrong codes request a new one.';
const foreign =
  'This browser did not request a code for this email address. Enter the code in the browser that did, or open the link in the mail.';

describe('mailed sign-in codes', () => {
  it('a mailed code signs in once, in the browser that requested it; the first time creates the account', async () => {
    const [email, mine] = [someone(), browser()];
    const { code } = await ask(email, mine);
    const mail = await mailTo(email);
    expect(mail.subject).toBe('Your sign-in code');
    expect(mail.text).toContain(`at 2026-11-23T09:00:00.000Z from the address ${mine.address}.`);
    expect((await useSignInCode(email.toUpperCase(), mine, code)).email).toBe(email);
    const problem = await problemOf(useSignInCode(email, mine, code));
    expect(problem.status).toBe(401);
    expect(problem.body).toEqual({
      category: 'auth',
      title: 'Unauthenticated',
      description: wrong,
      retryable: false,
      code: 'unauthenticated',
    });
  });

  it('401 · a mailed code does not work in another browser, not even in one that requested its own code', async () => {
    const [email, mine, second] = [someone(), browser(), browser()];
    const { code } = await ask(email, mine);
    const without = await problemOf(useSignInCode(email, { ...browser(), secret: null }, code));
    expect([without.status, without.body.description]).toEqual([401, foreign]);
    expect((await problemOf(useSignInCode(email, second, code))).body.description).toBe(foreign);
    await sendSignInCode(email, second, '/console');
    await sql(
      'update sign_in_codes set code_digest = (select code_digest from sign_in_codes where binding = $1) where binding = $2',
      [digest(mine.secret), digest(second.secret)],
    );
    // A copied digest is of no use: it is keyed by the row for which it was created.
    expect((await problemOf(useSignInCode(email, second, code))).body.description).toBe(wrong);
    await useSignInCode(email, mine, code);
  });

  it('401 · a mailed code does not sign in another email address in the same browser', async () => {
    const [alice, bob, mine] = [someone(), someone(), browser()];
    const first = await ask(alice, mine);
    const second = await ask(bob, mine);
    if (first.code !== second.code) await problemOf(useSignInCode(bob, mine, first.code));
    expect((await useSignInCode(alice, mine, first.code)).email).toBe(alice);
    expect((await useSignInCode(bob, mine, second.code)).email).toBe(bob);
  });

  it('401 · a mailed code expires after ten minutes', async () => {
    const [late, inTime, mine] = [someone(), someone(), browser()];
    const { code } = await ask(late, mine);
    world.clock.turn(minutes(10) - 1);
    const second = await ask(inTime, mine);
    world.clock.turn(1);
    expect((await problemOf(useSignInCode(late, mine, code))).status).toBe(401);
    world.clock.turn(minutes(10) - 2);
    await useSignInCode(inTime, mine, second.code);
  });

  it('401 · a newer code for the same browser replaces the earlier one; a code for another browser does not', async () => {
    const [email, mine, stranger] = [someone(), browser(), browser()];
    const { code: first } = await ask(email, mine);
    let { code: second } = await ask(email, mine);
    while (second === first) second = (await ask(email, mine)).code;
    await ask(email, stranger);
    expect((await problemOf(useSignInCode(email, mine, first))).status).toBe(401);
    await useSignInCode(email, mine, second);
  });

  it('401 · a mailed code locks after five wrong tries in its own browser; tries in other browsers do not count', async () => {
    const [email, mine, stranger] = [someone(), browser(), browser()];
    const { code } = await ask(email, mine);
    const { code: theirs } = await ask(email, stranger);
    for (let n = 1; n <= 5; n++)
      expect((await problemOf(useSignInCode(email, stranger, other(theirs, n)))).status).toBe(401);
    expect((await problemOf(useSignInCode(email, stranger, theirs))).body.description).toBe(wrong);
    expect(await findPersonByAddress(email)).toBeUndefined();
    for (let n = 1; n <= 4; n++) await problemOf(useSignInCode(email, mine, other(code, n)));
    await useSignInCode(email, mine, code);
  });

  it('concurrent correct entries of a mailed code sign in once', async () => {
    for (let round = 0; round < 5; round++) {
      const [email, mine] = [someone(), browser()];
      const { code } = await ask(email, mine);
      const results = await Promise.allSettled([useSignInCode(email, mine, code), useSignInCode(email, mine, code)]);
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    }
  });

  it('a mailed code is compared with at most five wrong entries, however many arrive at once', async () => {
    const [email, mine] = [someone(), browser()];
    const { code } = await ask(email, mine);
    const guesses = Array.from({ length: 30 }, (_, n) => useSignInCode(email, mine, other(code, n + 1)));
    const results = await Promise.allSettled(guesses);
    expect(results.every(({ status }) => status === 'rejected')).toBe(true);
    expect(await sql('select try_count from sign_in_codes where email = $1', [email])).toEqual([{ tryCount: 5 }]);
    expect((await problemOf(useSignInCode(email, mine, code))).status).toBe(401);
  });

  it('after many concurrent requests of one browser only one code is stored', async () => {
    const [email, mine] = [someone(), browser()];
    await Promise.all(Array.from({ length: 6 }, () => sendSignInCode(email, mine, '/console')));
    expect(await sql('select try_count from sign_in_codes where email = $1', [email])).toEqual([{ tryCount: 0 }]);
  });

  it('a mailed code is stored as a keyed digest only; the secret of its browser is not stored', async () => {
    const [email, mine] = [someone(), browser()];
    const { code } = await ask(email, mine);
    const [row] = await sql<{ codeDigest: Buffer }>('select * from sign_in_codes where email = $1', [email]);
    expect(JSON.stringify(row)).not.toContain(code);
    expect(row!.codeDigest.equals(digest(code))).toBe(false);
    expect(JSON.stringify(row)).not.toContain(mine.secret);
  });
});

describe('limits on sign-in requests', () => {
  it('429 · requests for another person’s codes use up only the limit of the requesting network', async () => {
    const [email, stranger, mine] = [someone(), browser(), browser()];
    const asked = await Promise.allSettled(
      Array.from({ length: 25 }, () => sendSignInCode(email, { ...browser(), address: stranger.address }, '/console')),
    );
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(20);
    const problem = await problemOf(sendSignInCode(email.toUpperCase(), stranger, '/console'));
    expect([problem.status, problem.headers['retry-after']]).toEqual([429, '86400']);
    expect(problem.body.description).toBe(
      'Too many codes for this email address were requested from this network. Sign in with a passkey, or with a code or link that was already sent. Try again in 86400 s.',
    );
    const { code } = await ask(email, mine);
    await useSignInCode(email, mine, code);
  });

  it('429 · requests for codes are counted per network, which is a /64 for IPv6', async () => {
    const email = someone();
    for (let n = 1; n <= 20; n++) {
      await sendSignInCode(email, browser({ address: `2001:db8:7:7:${n.toString(16)}::1` }), '/console');
    }
    const again = (address: string) => sendSignInCode(email, browser({ address }), '/console');
    expect((await problemOf(again('2001:db8:7:7:ffff::1'))).status).toBe(429);
    await again('2001:db8:7:8::1');
  });

  it('429 · many networks cause at most 100 mails a day to one email address; a browser that signed in before can still request a code', async () => {
    const [email, mine] = [someone(), browser({ knownBrowser: 'known' })];
    for (let n = 0; n < 100; n++) await sendSignInCode(email, browser(), '/console');
    const problem = await problemOf(sendSignInCode(email, browser(), '/console'));
    expect(problem.body.description).toContain('Too many codes were sent to this email address.');
    const { code } = await ask(email, mine);
    await useSignInCode(email, mine, code);
    for (let n = 1; n < 20; n++) await sendSignInCode(email, mine, '/console');
    expect((await problemOf(sendSignInCode(email, mine, '/console'))).body.description).toContain('from this browser');
  });

  it('429 · a network can try codes 120 times an hour, over any number of email addresses', async () => {
    const stranger = browser();
    const targets = Array.from({ length: 24 }, someone);
    for (const email of targets) {
      await sendSignInCode(email, stranger, '/console');
      for (let n = 0; n < 5; n++) await problemOf(useSignInCode(email, stranger, '000000x'));
    }
    const target = someone();
    const { code } = await ask(target, stranger);
    const problem = await problemOf(useSignInCode(target, stranger, code));
    expect([problem.status, problem.headers['retry-after']]).toEqual([429, '3600']);
    expect(problem.body.description).toContain('Too many codes were tried from this network.');
    await useSignInCode(target, { ...stranger, knownBrowser: 'known' }, code);
    world.clock.turn(hours(1));
  });

  it('429 · a network can request codes 120 times an hour, over any number of email addresses', async () => {
    const stranger = browser();
    for (let n = 0; n < 120; n++) await sendSignInCode(someone(), stranger, '/console');
    expect((await problemOf(sendSignInCode(someone(), stranger, '/console'))).status).toBe(429);
    world.clock.turn(hours(1));
    await sendSignInCode(someone(), stranger, '/console');
  });
});

describe('sign-in links', () => {
  const operatorsLink = async (email: string) => new URL(await createSignInLink(email)).searchParams.get('token')!;

  it('a link that the operator created signs in once, and creates the account if there is none', async () => {
    const email = someone();
    const url = new URL(await createSignInLink(email.toUpperCase()));
    expect(url.origin + url.pathname).toBe(`${world.url}/sign-in/link`);
    const secret = url.searchParams.get('token')!;
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect(await findSignInLink(secret)).toEqual({ email, createdAt: now() });
    const { person, returnTo } = await useSignInLink(secret, null);
    expect([person.email, returnTo]).toEqual([email, null]);
    const problem = await problemOf(useSignInLink(secret, null));
    expect(problem.status).toBe(401);
    expect(problem.body.description).toBe(
      'This sign-in link was used or is older than ten minutes. Request a new one.',
    );
    expect((await problemOf(findSignInLink(secret))).status).toBe(401);
  });

  it('a mailed link signs the person in with any browser, but returns to the page only in the browser that requested the link', async () => {
    const [email, mine, phone] = [someone(), browser(), browser()];
    const first = await ask(email, mine, '/claim?a=1');
    expect((await useSignInLink(first.token, phone.secret)).returnTo).toBe(null);
    const second = await ask(email, mine, '/claim?a=1');
    expect((await useSignInLink(second.token, mine.secret)).returnTo).toBe('/claim?a=1');
    const long = await ask(email, mine, `/claim?a=${'1'.repeat(8_000)}`);
    expect((await useSignInLink(long.token, mine.secret)).returnTo).toBe(null);
  });

  it('401 · a mailed link is refused after its code was used, and the code after the link was used', async () => {
    const [email, mine] = [someone(), browser()];
    const first = await ask(email, mine);
    await useSignInCode(email, mine, first.code);
    expect((await problemOf(useSignInLink(first.token, mine.secret))).status).toBe(401);
    const second = await ask(email, mine);
    await useSignInLink(second.token, null);
    expect((await problemOf(useSignInCode(email, mine, second.code))).body.description).toBe(wrong);
  });

  it('a mailed link and its code that are used concurrently sign in once', async () => {
    for (let round = 0; round < 5; round++) {
      const [email, mine] = [someone(), browser()];
      const { code, token } = await ask(email, mine);
      const results = await Promise.allSettled([
        ...Array.from({ length: 4 }, () => useSignInLink(token, null)),
        useSignInCode(email, mine, code),
        useSignInCode(email, mine, code),
      ]);
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    }
  });

  it('401 · a link is refused after ten minutes, and so is one that never existed', async () => {
    const secret = await operatorsLink(someone());
    world.clock.turn(minutes(10));
    for (const token of [secret, 'never', '']) {
      expect((await problemOf(useSignInLink(token, null))).status).toBe(401);
    }
  });

  it('expired links and codes are deleted', async () => {
    const email = someone();
    await operatorsLink(email);
    await sendSignInCode(email, browser(), '/console');
    world.clock.turn(minutes(5));
    await sendSignInCode(email, browser(), '/console');
    world.clock.turn(minutes(5));
    await sweepSignIns();
    expect(await sql('select 1 from sign_in_links where email = $1', [email])).toHaveLength(1);
    expect(await sql('select 1 from sign_in_codes where email = $1', [email])).toHaveLength(1);
  });
});
