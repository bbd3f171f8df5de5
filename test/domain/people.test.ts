// People: one account per mail address, codes and links that prove it, console sessions (design decisions, People).
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Caller } from '#access/principal.ts';
import { scopesOfRole } from '#access/scopes.ts';
import { addMember } from '#domain/memberships/operations.ts';
import { foundOrganization } from '#domain/organizations/operations.ts';
import { mailAddress } from '#domain/people/mail-address.ts';
import {
  ensurePerson,
  findOrCreatePerson,
  findPersonByAddress,
  peopleOf,
  updateOwnName,
} from '#domain/people/operations.ts';
import {
  callerOfSession,
  callerStillBehind,
  endOtherSessions,
  endSession,
  listSessions,
  openSession,
  sweepSessions,
} from '#domain/people/session.ts';
import {
  createSignInLink,
  sendSignInCode,
  sweepSignIns,
  useSignInCode,
  useSignInLink,
} from '#domain/people/sign-in.ts';
import { days, hours, minutes, now, seconds } from '#foundation/clock.ts';
import { sql, transaction, watchStatements } from '#foundation/database.ts';
import { developmentMailbox } from '#foundation/mail.ts';
import type { Problem } from '#foundation/problem.ts';
import { digest } from '#foundation/secrets.ts';
import { openWorld, type World } from '../world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
  // Races need their connections beforehand: a call that has to open one comes too late to be at once.
  await Promise.all(Array.from({ length: 16 }, () => sql('select pg_sleep(0.05)')));
});
afterAll(() => world.close());

const latestMail = async (to: string) => {
  await world.delivered();
  return developmentMailbox()!.find((mail) => mail.to === to)!;
};
const codeIn = (text: string): string => /\b\d{6}\b/.exec(text)![0];

/** Somebody with an organization of their own, in the console. */
async function founder(name: string) {
  const person = await world.person(name);
  const organization = await world.found(person, `${name} Works`);
  const caller: Caller = {
    principalType: 'cookie',
    credentialId: 'ses_test',
    userId: person.id,
    orgId: organization.id,
    role: 'owner',
    scopes: scopesOfRole('owner'),
    projectId: null,
  };
  return { person, organization, caller };
}

const problemOf = async (work: Promise<unknown>): Promise<Problem> => {
  const result = await work.then(
    () => null,
    (error: unknown) => error,
  );
  if (!result) throw new Error('nothing was refused');
  return result as Problem;
};

let count = 0;
/** A mail address that no other test has. */
const someone = () => `person${++count}@example.com`;
const codeFor = async (address: string) => {
  await sendSignInCode(address);
  return codeIn((await latestMail(address.toLowerCase())).text);
};
/** A code of six digits that is not this one. */
const other = (code: string, n = 1) => String((Number(code) + n) % 1_000_000).padStart(6, '0');
const device = { userAgent: 'Firefox', address: '192.0.2.7' };

describe('people', () => {
  it('are found by their mail address, whatever its case, and made once', async () => {
    const first = await findOrCreatePerson('Ada.Lovelace@Example.com');
    expect({ ...first }).toEqual({
      id: expect.stringMatching(/^usr_[0-9a-f]{32}$/),
      email: 'ada.lovelace@example.com',
      name: 'ada.lovelace',
      createdAt: now(),
      disabledAt: null,
    });
    expect((await findOrCreatePerson('ada.lovelace@EXAMPLE.com', 'Another')).id).toBe(first.id);
    expect((await findPersonByAddress('ADA.lovelace@example.com'))?.id).toBe(first.id);
    expect(await findPersonByAddress('nobody@example.com')).toBeUndefined();
    expect((await peopleOf([first.id, 'usr_none'])).map(({ id }) => id)).toEqual([first.id]);
  });

  it('are made once even when the first sign-in happens many times at once', async () => {
    const address = someone();
    const made = await Promise.all(Array.from({ length: 8 }, () => transaction((trx) => ensurePerson(trx, address))));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect(await sql('select id from people where email = $1', [address])).toHaveLength(1);
  });

  it('choose their name', async () => {
    const { person, caller } = await founder('Grace');
    await updateOwnName(caller, 'Rear Admiral Grace Hopper');
    expect((await findPersonByAddress(person.email))?.name).toBe('Rear Admiral Grace Hopper');
  });

  it.each([
    ['alice@example.com', true],
    ["o'hara+tag@mail.example.co.uk", true],
    ['root@localhost', true],
    ['alice', false],
    ['@example.com', false],
    ['alice@', false],
    ['a b@example.com', false],
    ['alice@exam_ple.com', false],
    ['alice@example.com\nBcc: eve@example.com', false],
    ['älice@example.com', false],
    ['alice\0@example.com', false],
    [`${'a'.repeat(309)}@example.com`, false],
  ])('%j is a mail address: %s', (text, is) => {
    expect(mailAddress.safeParse(text).success).toBe(is);
  });
});

describe('a mailed code', () => {
  it('signs the owner of the address in, once; the first time makes the account', async () => {
    const address = someone();
    const code = await codeFor(address);
    expect((await latestMail(address)).subject).toBe('Your sign-in code');
    const person = await useSignInCode(address.toUpperCase(), code);
    expect(person.email).toBe(address);
    const problem = await problemOf(useSignInCode(address, code));
    expect(problem.status).toBe(401);
    expect(problem.body).toEqual({
      category: 'auth',
      title: 'Unauthenticated',
      description:
        'This code is wrong, was used, or is older than ten minutes. After five wrong ones ask for a new code.',
      retryable: false,
      code: 'unauthenticated',
    });
  });

  it('401 · is good for ten minutes and not a millisecond longer', async () => {
    const late = someone();
    const code = await codeFor(late);
    world.clock.turn(minutes(10) - 1);
    const intime = someone();
    const second = await codeFor(intime);
    world.clock.turn(1);
    expect((await problemOf(useSignInCode(late, code))).status).toBe(401);
    world.clock.turn(minutes(10) - 2);
    await useSignInCode(intime, second);
  });

  it('401 · ends when a newer one is asked for', async () => {
    const address = someone();
    const first = await codeFor(address);
    let second = await codeFor(address);
    while (second === first) second = await codeFor(address);
    expect((await problemOf(useSignInCode(address, first))).status).toBe(401);
    await useSignInCode(address, second);
  });

  it('401 · of one address opens no other', async () => {
    const [alice, bob] = [someone(), someone()];
    const code = await codeFor(alice);
    await codeFor(bob);
    await sql(
      'update sign_in_codes set code_digest = (select code_digest from sign_in_codes where email = $1) where email = $2',
      [alice, bob],
    );
    // Even a copied digest is of no use: it is keyed by the row it was made for.
    expect((await problemOf(useSignInCode(bob, code))).status).toBe(401);
    await useSignInCode(alice, code);
  });

  it('401 · is locked by five wrong ones: then the right one fails too', async () => {
    const address = someone();
    const code = await codeFor(address);
    for (let n = 1; n <= 5; n++) expect((await problemOf(useSignInCode(address, other(code, n)))).status).toBe(401);
    expect((await problemOf(useSignInCode(address, code))).status).toBe(401);
    expect(await findPersonByAddress(address)).toBeUndefined();
  });

  it('still works as the fifth, after four wrong ones', async () => {
    const address = someone();
    const code = await codeFor(address);
    for (let n = 1; n <= 4; n++) await problemOf(useSignInCode(address, other(code, n)));
    await useSignInCode(address, code);
  });

  it('works once when the right one comes twice at once', async () => {
    for (let round = 0; round < 5; round++) {
      const address = someone();
      const code = await codeFor(address);
      const results = await Promise.allSettled([useSignInCode(address, code), useSignInCode(address, code)]);
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    }
  });

  it('lets no more than five wrong ones be compared, however many come at once', async () => {
    const address = someone();
    const code = await codeFor(address);
    // Which five are admitted is a matter of luck; the right code among thirty wrong ones often is not.
    const guesses = Array.from({ length: 30 }, (_, n) => useSignInCode(address, other(code, n + 1)));
    const results = await Promise.allSettled(guesses);
    expect(results.every(({ status }) => status === 'rejected')).toBe(true);
    expect(await sql('select try_count from sign_in_codes where email = $1', [address])).toEqual([{ tryCount: 5 }]);
    expect((await problemOf(useSignInCode(address, code))).status).toBe(401);
  });

  it('429 · is sent ten times an hour to one address; says when the next may be asked for', async () => {
    const address = someone();
    for (let n = 0; n < 10; n++) {
      await sendSignInCode(address);
      world.clock.turn(minutes(1));
    }
    const problem = await problemOf(sendSignInCode(address.toUpperCase()));
    expect(problem.status).toBe(429);
    expect(problem.headers).toEqual({ 'retry-after': '3000' });
    expect(problem.body.description).toBe('Too many codes were asked for this mail address. Try again in 3000 s.');
    await sendSignInCode(someone());
    world.clock.turn(seconds(3_000));
    await sendSignInCode(address);
  });

  it('429 · ten, not one more, when they are asked for at once; the last one mailed is the one that works', async () => {
    const address = someone();
    const results = await Promise.allSettled(Array.from({ length: 14 }, () => sendSignInCode(address)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    const live = await sql('select id from sign_in_codes where email = $1 and expires_at > $2', [address, now()]);
    expect(live).toHaveLength(1);
  });

  it('stands in the table as a keyed digest, never as it is', async () => {
    const address = someone();
    const code = await codeFor(address);
    const [row] = await sql<{ codeDigest: Buffer }>('select * from sign_in_codes where email = $1', [address]);
    expect(JSON.stringify(row)).not.toContain(code);
    expect(row!.codeDigest.equals(digest(code))).toBe(false);
  });
});

describe('a sign-in link', () => {
  it('signs in once, and makes the account when there is none', async () => {
    const address = someone();
    const url = new URL(await createSignInLink(address.toUpperCase()));
    expect(url.origin + url.pathname).toBe(`${world.url}/sign-in/link`);
    const secret = url.searchParams.get('token')!;
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect((await useSignInLink(secret)).email).toBe(address);
    const problem = await problemOf(useSignInLink(secret));
    expect(problem.status).toBe(401);
    expect(problem.body.description).toBe(
      'This sign-in link was used or is older than ten minutes. Ask for a new one.',
    );
  });

  it('works once when it is used many times at once', async () => {
    const secret = new URL(await createSignInLink(someone())).searchParams.get('token')!;
    const results = await Promise.allSettled(Array.from({ length: 6 }, () => useSignInLink(secret)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('401 · after ten minutes, and for one that never was', async () => {
    const secret = new URL(await createSignInLink(someone())).searchParams.get('token')!;
    world.clock.turn(minutes(10));
    expect((await problemOf(useSignInLink(secret))).status).toBe(401);
    expect((await problemOf(useSignInLink('never'))).status).toBe(401);
    expect((await problemOf(useSignInLink(''))).status).toBe(401);
  });

  it('is swept away with old codes; what still counts against the rate stays', async () => {
    const address = someone();
    await createSignInLink(address);
    await sendSignInCode(address);
    world.clock.turn(minutes(59));
    await sendSignInCode(address);
    world.clock.turn(minutes(1));
    await sweepSignIns();
    expect(await sql('select 1 from sign_in_links')).toEqual([]);
    expect(await sql('select 1 from sign_in_codes where email = $1', [address])).toHaveLength(1);
  });
});

describe('a console session', () => {
  beforeEach(() => sql('delete from sessions'));

  it('is the person behind the cookie, with the full present role; one statement finds it', async () => {
    const { person, organization } = await founder('Alice');
    const { id, secret } = await openSession(person.id, device);
    await callerOfSession(secret, null);
    const statements: string[] = [];
    const stop = watchStatements((text) => statements.push(text));
    const found = await callerOfSession(secret, null);
    stop();
    expect(statements).toHaveLength(1);
    expect(found).toEqual({
      caller: {
        principalType: 'cookie',
        credentialId: id,
        userId: person.id,
        orgId: organization.id,
        role: 'owner',
        scopes: scopesOfRole('owner'),
        projectId: null,
      },
      session: { id, person: { id: person.id, email: 'alice@example.com', name: 'Alice' }, renewed: false },
    });
  });

  it('is nobody for a secret that opens nothing; the secret itself is not stored', async () => {
    const { person } = await founder('Bob');
    const { secret } = await openSession(person.id, device);
    expect(await callerOfSession(`${secret}x`, null)).toBeNull();
    expect(await callerOfSession('', null)).toBeNull();
    expect(JSON.stringify(await sql('select * from sessions'))).not.toContain(secret);
  });

  it('403 · is not opened for a disabled account, whose other cookies stop working at once', async () => {
    const person = await findOrCreatePerson(someone());
    const open = () => openSession(person.id, device);
    const { secret } = await open();
    await sql('update people set disabled_at = $2 where id = $1', [person.id, now()]);
    expect(await callerOfSession(secret, null)).toBeNull();
    expect(await callerStillBehind(secret, null)).toBeNull();
    await expect(open()).rejects.toMatchObject({ status: 403, body: { description: 'This account is disabled.' } });
  });

  it('has no organization, no role and no scopes while its person belongs to none', async () => {
    const person = await findOrCreatePerson(someone());
    const { secret } = await openSession(person.id, device);
    const found = await callerOfSession(secret, null);
    expect(found?.caller).toMatchObject({ orgId: null, role: null, projectId: null, scopes: new Set() });
    expect(await problemOf(callerOfSession(secret, 'org_any'))).toMatchObject({ status: 404 });
  });

  it('works where it is told to, and stays there; 404 · where its person does not belong', async () => {
    const { person, organization } = await founder('Carol');
    world.clock.turn(1);
    const second = await foundOrganization(person.id, { name: 'Second' });
    const foreign = await founder('Dave');
    const { secret } = await openSession(person.id, device);
    const orgOf = async (wanted: string | null) => (await callerOfSession(secret, wanted))?.caller.orgId;
    expect(await orgOf(null)).toBe(organization.id);
    expect(await orgOf(second.id)).toBe(second.id);
    expect(await orgOf(null)).toBe(second.id);
    const problem = await problemOf(callerOfSession(secret, foreign.organization.id));
    expect(problem.status).toBe(404);
    expect(problem.body.description).toBe('No such organization.');
    expect(await orgOf(null)).toBe(second.id);
    await sql('delete from memberships where org_id = $1', [second.id]);
    expect(await orgOf(null)).toBe(organization.id);
  });

  it('takes the role of the moment: a change acts on the next call', async () => {
    const { organization } = await founder('Erin');
    const person = await findOrCreatePerson(someone());
    await transaction((trx) => addMember(trx, organization.id, person.id, 'viewer'));
    const { secret } = await openSession(person.id, device);
    expect((await callerOfSession(secret, null))?.caller.scopes).toEqual(scopesOfRole('viewer'));
    await sql(`update memberships set role = 'member' where user_id = $1`, [person.id]);
    expect((await callerOfSession(secret, null))?.caller.scopes).toEqual(scopesOfRole('member'));
  });

  it('ends after 14 days without use; each use moves its end, written down at most once a minute', async () => {
    const { person } = await founder('Frank');
    const { secret } = await openSession(person.id, device);
    const opened = now();
    const times = async () =>
      (await sql('select last_used_at - $1 as used, expires_at - $1 as "end" from sessions', [opened]))[0];
    await callerOfSession(secret, null);
    world.clock.turn(minutes(1) - 1);
    expect((await callerOfSession(secret, null))?.session.renewed).toBe(false);
    expect(await times()).toEqual({ used: 0, end: days(14) });
    world.clock.turn(1);
    expect((await callerOfSession(secret, null))?.session.renewed).toBe(true);
    expect(await times()).toEqual({ used: minutes(1), end: days(14) + minutes(1) });
    world.clock.turn(days(14) - 1);
    expect(await callerOfSession(secret, null)).not.toBeNull();
    world.clock.turn(days(14));
    expect(await callerOfSession(secret, null)).toBeNull();
  });

  it('is listed and ended by its own person alone; an ended one stops working at once', async () => {
    const { person, caller: founded } = await founder('Heidi');
    const stranger = (await founder('Ivan')).caller;
    const laptop = await openSession(person.id, { userAgent: 'x'.repeat(1_000), address: '2001:db8::1' });
    world.clock.turn(hours(1));
    const phone = await openSession(person.id, device);
    const caller = { ...founded, credentialId: phone.id };
    expect(await listSessions(caller)).toEqual([
      {
        id: phone.id,
        personId: person.id,
        orgId: null,
        userAgent: 'Firefox',
        address: '192.0.2.7',
        createdAt: now(),
        lastUsedAt: now(),
        expiresAt: now() + days(14),
      },
      expect.objectContaining({ id: laptop.id, userAgent: 'x'.repeat(300), address: '2001:db8::1' }),
    ]);
    expect((await problemOf(endSession(stranger, laptop.id))).status).toBe(404);
    await endSession(caller, laptop.id);
    await endSession(caller, laptop.id);
    expect(await callerOfSession(laptop.secret, null)).toBeNull();
    expect((await listSessions(caller)).map(({ id }) => id)).toEqual([phone.id]);
  });

  it('can end all others of its person', async () => {
    const { person, caller: founded } = await founder('Judy');
    const sessions = await Promise.all(Array.from({ length: 3 }, () => openSession(person.id, device)));
    const caller = { ...founded, credentialId: sessions[0]!.id };
    expect(await endOtherSessions(caller)).toBe(2);
    const alive = await Promise.all(sessions.map(({ secret }) => callerOfSession(secret, null)));
    expect(alive.map((found) => found !== null)).toEqual([true, false, false]);
    await sweepSessions();
    expect((await sql<{ id: string }>('select id from sessions')).map(({ id }) => id)).toEqual([sessions[0]!.id]);
  });
});
