// People: one account per email address, and console sessions (docs/decisions/0032-sign-in-without-passwords.md).
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Caller } from '#access/principal.ts';
import { scopesOfRole } from '#access/scopes.ts';
import { callerOfSession, recheckSession } from '#domain/identity/sessions/caller.ts';
import {
  chooseOrganization,
  endOtherSessions,
  endSession,
  listSessions,
  openSession,
  sweepSessions,
} from '#domain/identity/sessions/operations.ts';
import { addMember } from '#domain/organization/memberships/operations.ts';
import { foundOrganization } from '#domain/organization/organizations/operations.ts';
import { emailAddress } from '#domain/organization/people/email.ts';
import {
  ensurePerson,
  findOrCreatePerson,
  findPersonByAddress,
  peopleOf,
  updateOwnName,
} from '#domain/organization/people/operations.ts';
import { days, hours, minutes, now } from '#foundation/clock.ts';
import { sql, transaction, watchStatements } from '#foundation/postgres/database.ts';
import type { Problem } from '#foundation/problem.ts';
import { createOwner } from '../support/callers.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
  // Connections are opened before a race, because a call that first has to open one would come too late.
  await Promise.all(Array.from({ length: 16 }, () => sql('select pg_sleep(0.05)')));
});
afterAll(() => world.close());

/** A person with a new organization and a console session. */
async function founder(name: string) {
  const { person, organization } = await createOwner(world, name, `${name} Works`);
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
/** An email address that no other test uses. */
const someone = () => `person${++count}@example.com`;
const device = { userAgent: 'Firefox', address: '192.0.2.7' };

describe('accounts of people', () => {
  it('a person is found by their email address regardless of letter case, and is created only once', async () => {
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

  it('concurrent first sign-ins create one person', async () => {
    const address = someone();
    const made = await Promise.all(Array.from({ length: 8 }, () => transaction((trx) => ensurePerson(trx, address))));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect(await sql('select id from people where email = $1', [address])).toHaveLength(1);
  });

  it('a person chooses their name', async () => {
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
  ])('the email address %j of a person is accepted: %s', (text, is) => {
    expect(emailAddress.safeParse(text).success).toBe(is);
  });
});

describe('console sessions', () => {
  beforeEach(() => sql('delete from sessions'));

  it('one statement finds the person of a console session, with their full current role', async () => {
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
        hiddenOrgIds: [],
        isOrgOnly: false,
        principalType: 'cookie',
        credentialId: id,
        userId: person.id,
        orgId: organization.id,
        role: 'owner',
        scopes: scopesOfRole('owner'),
        projectId: null,
        isOrgClosed: false,
      },
      session: { id, person: { id: person.id, email: 'alice@example.com', name: 'Alice' }, renewed: false },
    });
  });

  it('a console session with an unknown secret is rejected; the secret itself is not stored', async () => {
    const { person } = await founder('Bob');
    const { secret } = await openSession(person.id, device);
    expect(await callerOfSession(`${secret}x`, null)).toBeNull();
    expect(await callerOfSession('', null)).toBeNull();
    expect(JSON.stringify(await sql('select * from sessions'))).not.toContain(secret);
  });

  it('403 · a disabled account cannot open a session, and its other sessions end at once', async () => {
    const person = await findOrCreatePerson(someone());
    const open = () => openSession(person.id, device);
    const { secret } = await open();
    await sql('update people set disabled_at = $2 where id = $1', [person.id, now()]);
    expect(await callerOfSession(secret, null)).toBeNull();
    expect(await recheckSession(secret, null)).toBeNull();
    await expect(open()).rejects.toMatchObject({ status: 403, body: { description: 'This account is disabled.' } });
  });

  it('a console session without an organization has no role, and only the scopes to read and create organizations', async () => {
    const person = await findOrCreatePerson(someone());
    const { secret } = await openSession(person.id, device);
    const found = await callerOfSession(secret, null);
    expect(found?.caller).toMatchObject({ orgId: null, role: null, projectId: null });
    expect([...found!.caller.scopes]).toEqual(['organizations:read', 'organizations:write']);
    expect(await problemOf(callerOfSession(secret, 'org_any'))).toMatchObject({ status: 404 });
  });

  it('a console session works in the organization that the request header names, or else in the one that the person chose; 404 unless the person is a member', async () => {
    const { person, organization } = await founder('Carol');
    world.clock.turn(1);
    const second = await foundOrganization(person.id, { name: 'Second' });
    const foreign = await founder('Dave');
    const { secret } = await openSession(person.id, device);
    const orgOf = async (wanted: string | null) => (await callerOfSession(secret, wanted))?.caller.orgId;
    expect(await orgOf(null)).toBe(organization.id);
    expect(await orgOf(second.id)).toBe(second.id);
    expect(await orgOf(null)).toBe(organization.id);
    const { caller } = (await callerOfSession(secret, null))!;
    await chooseOrganization(caller, second.id);
    expect(await orgOf(null)).toBe(second.id);
    expect(await problemOf(chooseOrganization(caller, foreign.organization.id))).toMatchObject({ status: 404 });
    const problem = await problemOf(callerOfSession(secret, foreign.organization.id));
    expect(problem.status).toBe(404);
    expect(problem.body.description).toBe('No such organization.');
    expect(await orgOf(null)).toBe(second.id);
    await sql('delete from memberships where org_id = $1', [second.id]);
    expect(await orgOf(null)).toBe(organization.id);
  });

  it('a console session has the person’s current role: a change applies to the next call', async () => {
    const { organization } = await founder('Erin');
    const person = await findOrCreatePerson(someone());
    await transaction((trx) => addMember(trx, organization.id, person.id, 'viewer'));
    const { secret } = await openSession(person.id, device);
    expect((await callerOfSession(secret, null))?.caller.scopes).toEqual(scopesOfRole('viewer'));
    await sql(`update memberships set role = 'member' where user_id = $1`, [person.id]);
    expect((await callerOfSession(secret, null))?.caller.scopes).toEqual(scopesOfRole('member'));
  });

  it('a console session ends after 14 days without use; using it extends it at most once a minute', async () => {
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

  it('a console session is listed and ended only by its own person; an ended session stops working at once', async () => {
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
        ...{ orgOnly: false, ssoOrgId: null, ssoUntil: null },
      },
      expect.objectContaining({ id: laptop.id, userAgent: 'x'.repeat(300), address: '2001:db8::1' }),
    ]);
    expect((await problemOf(endSession(stranger, laptop.id))).status).toBe(404);
    await endSession(caller, laptop.id);
    await endSession(caller, laptop.id);
    expect(await callerOfSession(laptop.secret, null)).toBeNull();
    expect((await listSessions(caller)).map(({ id }) => id)).toEqual([phone.id]);
  });

  it('a person can end all their other sessions', async () => {
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
