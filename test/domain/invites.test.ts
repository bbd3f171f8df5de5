// Invites from sending to acceptance, revocation or expiry (docs/contract.md#invites).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OrgRole } from '#access/roles.ts';
import { acceptInvite, pendingInvitesFor } from '#domain/organization/invites/operations.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import { organizationsOf } from '#domain/organization/organizations/operations.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { days } from '#foundation/clock.ts';
import { developmentMailbox, openMail } from '#foundation/mail/mail.ts';
import { sql } from '#foundation/postgres/database.ts';
import type { Problem } from '#foundation/problem.ts';
import { createMember, createOwner, createProject } from '../support/callers.ts';
import { openWorld, present, type World } from '../support/world.ts';

let world: World;
let alice: Person;
let org: Organization;
let foreign: Organization;
let token: string;

beforeAll(async () => {
  world = await openWorld();
  // Connections are opened before a race, because a call that first has to open one would come too late.
  await Promise.all(Array.from({ length: 16 }, () => sql('select pg_sleep(0.05)')));
  ({ person: alice, organization: org } = await createOwner(world, 'Alice', 'Alice Works'));
  ({ organization: foreign } = await createOwner(world, 'Bob', 'Bob Works'));
});
afterAll(() => world.close());

let count = 0;
const address = () => `guest${++count}@example.com`;
const owner = async () => (token ??= await world.token(alice, org));
const invite = async (email: string, role: OrgRole = 'member') => {
  const answer = await world.rest('POST', '/invites', { token: await owner(), body: { email, role } });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return answer.body;
};
const statusIn = async (id: string) => {
  const { body } = await world.rest('GET', '/invites', { token: await world.token(alice, org) });
  return body.invites.find((one: { id: string }) => one.id === id).status;
};
const accept = (person: Person, id: string) => acceptInvite(person, id);
const refusedWith = async (work: Promise<unknown>) => {
  const problem = (await work.then(
    () => null,
    (error: unknown) => error,
  )) as Problem | null;
  return problem && [problem.status, problem.body.description];
};

describe('inviting a person', () => {
  it('201 · an invited email address may have any letter case; it is stored in lower case, and a mail is sent to it', async () => {
    const email = address();
    const answer = await world.rest('POST', '/invites', {
      token: await owner(),
      body: { email: email.toUpperCase(), role: 'admin' },
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^inv_[0-9a-f]{32}$/),
      email,
      role: 'admin',
      orgId: org.id,
      status: 'pending',
      invitedByUserId: alice.id,
      expiresAtSec: Math.floor((present() + days(7)) / 1_000),
      createdAt: present(),
    });
    await world.delivered();
    expect(developmentMailbox()![0]).toEqual({
      to: email,
      subject: 'You are invited to "Alice Works"',
      text: `You are invited to join the organization "Alice Works" as admin.

To accept, sign in with this email address within seven days:
${world.url}/console/account

If you do not know "Alice Works", ignore this mail.
`,
      at: present(),
    });
  });

  it('201 · an invite is created even when the mail server is unavailable', async () => {
    openMail({ smtpUrl: 'smtp://127.0.0.1:1', from: 'platform@example.com', log: () => {} });
    const email = address();
    const { status } = await invite(email);
    await world.delivered();
    openMail({ from: 'platform@example.com', log: () => {} });
    expect(status).toBe('pending');
    expect(await pendingInvitesFor(email)).toHaveLength(1);
    await world.knex.raw('update background.job set start_after = now()');
    await world.delivered();
    expect(developmentMailbox()!.map(({ to }) => to)).toEqual([email]);
  });

  it('409 · an email address with an open invite cannot be invited again, regardless of letter case', async () => {
    const email = address();
    await invite(email);
    await world.delivered();
    const mails = developmentMailbox()!.length;
    const again = await world.rest('POST', '/invites', {
      token: await owner(),
      body: { email: email.toUpperCase(), role: 'viewer' },
    });
    expect(again.status).toBe(409);
    expect(again.body).toEqual({
      category: 'validation',
      title: 'Conflict',
      description: `email: ${email} has already been invited; revoke that invite first.`,
      retryable: false,
      code: 'conflict',
    });
    await world.delivered();
    expect(developmentMailbox()).toHaveLength(mails);
  });

  it('409 · only one of several concurrent invites to one email address succeeds', async () => {
    const body = { email: address(), role: 'viewer' };
    const answers = await Promise.all(
      Array.from({ length: 8 }, async () => world.rest('POST', '/invites', { token: await owner(), body })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
  });

  it('409 · a person who is already a member cannot be invited', async () => {
    const answer = await world.rest('POST', '/invites', {
      token: await owner(),
      body: { email: 'ALICE@example.com', role: 'viewer' },
    });
    expect([answer.status, answer.body.description]).toEqual([
      409,
      'email: alice@example.com belongs to a member of this organization.',
    ]);
  });

  it('201 · an email address can be invited again after its invite has expired', async () => {
    const email = address();
    const first = await invite(email);
    world.clock.turn(days(7) - 1);
    expect(await statusIn(first.id)).toBe('pending');
    world.clock.turn(1);
    expect(await statusIn(first.id)).toBe('expired');
    const second = await invite(email);
    expect([await statusIn(first.id), await statusIn(second.id)]).toEqual(['expired', 'pending']);
  });

  it('200, 409 · an expired invite stays expired: revoking it has no effect, and it cannot be accepted', async () => {
    const email = address();
    const { id } = await invite(email);
    world.clock.turn(days(7));
    for (let n = 0; n < 2; n++) {
      const answer = await world.rest('DELETE', `/invites/${id}`, { token: await world.token(alice, org) });
      expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
      expect(await statusIn(id)).toBe('expired');
    }
    expect(await refusedWith(accept(await world.person(email.split('@')[0]!), id))).toEqual([
      409,
      'This invite is no longer open: expired.',
    ]);
    expect(await statusIn(id)).toBe('expired');
  });

  it('403 · nobody can invite to a role above their own', async () => {
    const { person: admin } = await createMember(world, org, 'Adam', 'admin');
    const body = { email: address(), role: 'owner' };
    const answer = await world.rest('POST', '/invites', { token: await world.token(admin, org), body });
    expect([answer.status, answer.body.code, answer.body.description]).toEqual([
      403,
      'forbidden',
      'role: owner is above your own role (admin).',
    ]);
    expect(await pendingInvitesFor(body.email)).toEqual([]);
  });

  it('403 · a project-bound token neither lists nor creates nor revokes invites', async () => {
    const projectId = await createProject(world, { token: await owner() }, 'P');
    const bound = await world.token(alice, org, { projectId });
    const { id } = await invite(address());
    const answers = [
      await world.rest('GET', '/invites', { token: bound }),
      await world.rest('POST', '/invites', { token: bound, body: { email: address(), role: 'viewer' } }),
      await world.rest('DELETE', `/invites/${id}`, { token: bound }),
    ];
    for (const { status, body } of answers) {
      expect([status, body.description]).toEqual([
        403,
        'A project-bound credential cannot reach records of the whole organization.',
      ]);
    }
    expect(await statusIn(id)).toBe('pending');
  });

  it.each([
    ['text that is not an email address', { email: 'guest', role: 'viewer' }, 'email: must be an email address'],
    ['an empty email address', { email: '', role: 'viewer' }, 'email: must be'],
    [
      'an email address that contains a mail header',
      { email: 'a@example.com\r\nBcc: b@example.com', role: 'viewer' },
      'email: must be',
    ],
    [
      'an email address of 321 characters',
      { email: `${'a'.repeat(309)}@example.com`, role: 'viewer' },
      'email: must be at most 320',
    ],
    ['an unknown role', { email: 'a@example.com', role: 'root' }, 'role: must be one of'],
    ['null as email address', { email: null, role: 'viewer' }, 'email'],
  ])('400 · an invite is refused with %s', async (_what, body, says) => {
    const answer = await world.rest('POST', '/invites', { token: await world.token(alice, org), body });
    expect(answer.status).toBe(400);
    expect(answer.body.description).toContain(says);
  });
});

describe('revoking an invite', () => {
  it('200 · an invite can be revoked repeatedly', async () => {
    const email = address();
    const { id } = await invite(email);
    for (let n = 0; n < 2; n++) {
      const answer = await world.rest('DELETE', `/invites/${id}`, { token: await owner() });
      expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
    }
    expect(await statusIn(id)).toBe('revoked');
    expect(await refusedWith(accept(await world.person(email.split('@')[0]!), id))).toEqual([
      409,
      'This invite is no longer open: revoked.',
    ]);
  });

  it('409 · an accepted invite cannot be revoked', async () => {
    const email = address();
    const { id } = await invite(email);
    await accept(await world.person(email.split('@')[0]!), id);
    const answer = await world.rest('DELETE', `/invites/${id}`, { token: await owner() });
    expect([answer.status, answer.body.description]).toEqual([
      409,
      'The invite was accepted, so the person is already a member.',
    ]);
    expect(await statusIn(id)).toBe('accepted');
  });

  it('404 · an invite of another organization gets the same answer as an unknown one', async () => {
    const { id } = await invite(address());
    const stranger = await world.token(await world.person('Bob'), foreign);
    for (const other of [id, 'inv_none']) {
      const answer = await world.rest('DELETE', `/invites/${other}`, { token: stranger });
      expect([answer.status, answer.body.description]).toEqual([404, 'No such invite.']);
    }
    expect(await statusIn(id)).toBe('pending');
    const { body } = await world.rest('GET', '/invites', { token: stranger });
    expect(body).toEqual({ invites: [] });
  });
});

describe('accepting an invite', () => {
  it('an accepted invite makes the person a member with its role, and cannot be accepted again', async () => {
    const email = address();
    const { id } = await invite(email, 'admin');
    expect(await pendingInvitesFor(email.toUpperCase())).toEqual([
      { id, role: 'admin', expiresAt: present() + days(7), organizationName: 'Alice Works', invitedByName: 'Alice' },
    ]);
    const person = await world.person(email.split('@')[0]!);
    expect(await accept(person, id)).toBe(org.id);
    expect(await organizationsOf(person.id)).toMatchObject([
      { id: org.id, name: 'Alice Works', slug: 'alice-works', formerSlugs: [], role: 'admin', closedAt: null },
    ]);
    expect(await pendingInvitesFor(email)).toEqual([]);
    expect(await refusedWith(accept(person, id))).toEqual([409, 'This invite is no longer open: accepted.']);
  });

  it('an invite that is accepted four times concurrently adds the person once', async () => {
    for (let round = 0; round < 5; round++) {
      const email = address();
      const { id } = await invite(email);
      const person = await world.person(email.split('@')[0]!);
      const results = await Promise.allSettled(Array.from({ length: 4 }, () => accept(person, id)));
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected']);
      expect(await organizationsOf(person.id)).toHaveLength(1);
    }
  });

  it('404 · an invite can be accepted only by the account with the invited email address', async () => {
    const { id } = await invite(address());
    const eve = await world.person('Eve');
    expect(await refusedWith(accept(eve, id))).toEqual([404, 'No such invite.']);
    expect(await refusedWith(accept(eve, 'inv_none'))).toEqual([404, 'No such invite.']);
    expect(await organizationsOf(eve.id)).toEqual([]);
  });

  it('409 · an invite cannot be accepted after seven days', async () => {
    const email = address();
    const { id } = await invite(email);
    world.clock.turn(days(7));
    const person = await world.person(email.split('@')[0]!);
    expect(await refusedWith(accept(person, id))).toEqual([409, 'This invite is no longer open: expired.']);
  });

  it('a person who has become a member in the meantime keeps their role when they accept an invite', async () => {
    const email = address();
    const { id } = await invite(email, 'owner');
    const person = await world.person(email.split('@')[0]!);
    await world.join(org, person, 'viewer');
    await accept(person, id);
    expect((await organizationsOf(person.id))[0]?.role).toBe('viewer');
    expect(await statusIn(id)).toBe('accepted');
  });
});

it('200 · invites are listed newest first; GraphQL shows who sent them', async () => {
  const { token: carols } = await createOwner(world, 'Carol', 'Carol Works');
  const emails = [address(), address(), address()];
  for (const email of emails) {
    world.clock.turn(1);
    await world.rest('POST', '/invites', { token: carols, body: { email, role: 'viewer' } });
  }
  const { status, body } = await world.rest('GET', '/invites', { token: carols });
  expect(status).toBe(200);
  expect(body.invites.map(({ email }: { email: string }) => email)).toEqual([...emails].reverse());
  const graph = await world.graphql('{ invites { invites { email invitedBy { name } organization { slug } } } }', {
    token: carols,
  });
  expect(graph.body.data.invites.invites[0]).toEqual({
    email: emails[2],
    invitedBy: { name: 'Carol' },
    organization: { slug: 'carol-works' },
  });
});
