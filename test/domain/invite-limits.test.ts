// The number of invites per day is limited for an organization, for the person who invites, and for the recipient. The email of an invite
// quotes the name of the organization safely.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bindInvitesPerDay } from '#domain/organization/invites/rate.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import { days, hours } from '#foundation/clock.ts';
import { developmentMailbox } from '#foundation/mail/mail.ts';
import { sql } from '#foundation/postgres/database.ts';
import { invitesPerDay } from '#limits.ts';
import { type Account, createMember, createOwner } from '../support/callers.ts';
import { type Answer, openWorld, type World } from '../support/world.ts';

let world: World;
let count = 0;

beforeAll(async () => {
  world = await openWorld();
  // Connections are opened before a race, because a call that first has to open one would come too late.
  await Promise.all(Array.from({ length: 16 }, () => sql('select pg_sleep(0.05)')));
});
afterEach(() => bindInvitesPerDay(invitesPerDay.organization));
afterAll(() => world.close());

async function sender(organization?: Organization): Promise<Account> {
  const name = `Sender${++count}`;
  return organization ? createMember(world, organization, name, 'admin') : createOwner(world, name, `Works ${count}`);
}
const invite = ({ token }: Account, email = `guest${++count}@example.com`): Promise<Answer> =>
  world.rest('POST', '/invites', { token, body: { email, role: 'viewer' } });
const statuses = (answers: Answer[]) => answers.map(({ status }) => status).sort();
const at = (times: number, work: () => Promise<Answer>) => Promise.all(Array.from({ length: times }, work));

const expectLimited = (answer: Answer, description: string, seconds: number) => {
  expect([answer.status, answer.body.code, answer.body.retryable]).toEqual([429, 'rate_limited', true]);
  expect(answer.body.description).toContain(description);
  expect(answer.headers.get('retry-after')).toBe(String(seconds));
};

describe('invites in one day', () => {
  it('429 · an email address gets at most 5 invites a day from all senders, even concurrently; refused invites send no mail', async () => {
    const email = `victim${++count}@example.com`;
    const senders = await Promise.all(Array.from({ length: 12 }, () => sender()));
    const answers = await Promise.all(senders.map((one) => invite(one, email)));
    expect(statuses(answers)).toEqual([...Array(5).fill(201), ...Array(7).fill(429)]);
    await world.delivered();
    expect(developmentMailbox()!.filter(({ to }) => to === email)).toHaveLength(5);
    expectLimited(await invite(await sender(), email.toUpperCase()), 'email: has been sent too many invites.', 86_400);
  });

  it('429 · an invite counts against the limit for a day, even when it is revoked', async () => {
    const [one, email] = [await sender(), `revoked${++count}@example.com`];
    for (let n = 0; n < 5; n++) {
      const { body } = await invite(one, email);
      await world.rest('DELETE', `/invites/${body.id}`, { token: one.token });
      world.clock.turn(hours(1));
    }
    expectLimited(await invite(one, email), 'email: has been sent too many invites.', 19 * 3_600);
    world.clock.turn(hours(19) - 1);
    expect((await invite(one, email)).status).toBe(429);
    world.clock.turn(1);
    const next = await invite(one, email);
    expect(next.status).toBe(201);
    await world.rest('DELETE', `/invites/${next.body.id}`, { token: one.token });
    expect((await invite(one, email)).status).toBe(429);
  });

  it('429 · an organization sends at most the configured number of invites a day, and one person at most half of it, even concurrently', async () => {
    bindInvitesPerDay(10);
    const first = await sender();
    const second = await sender(first.organization);
    const third = await sender(first.organization);
    expect(statuses(await at(8, () => invite(first)))).toEqual([...Array(5).fill(201), ...Array(3).fill(429)]);
    expectLimited(await invite(first), 'You have sent too many invites.', 86_400);
    expect(statuses(await at(3, () => invite(second)))).toEqual([201, 201, 201]);
    expect(statuses(await at(4, () => invite(third)))).toEqual([201, 201, 429, 429]);
    expectLimited(await invite(third), 'Your organization has sent too many invites.', 86_400);
    expect((await invite(await sender())).status).toBe(201);
    world.clock.turn(days(1));
    expect((await invite(first)).status).toBe(201);
  });
});

describe('mails of invites', () => {
  it.each([
    ['Works\r\nBcc: x@example.com', null],
    ['Works\u2028Second line', null],
    ['\u202Eskrow', null],
    ['Pay at https://evil.example/now', '"Pay at https[:]//evil[.]example/now"'],
    ['www.evil.example "Support"', `"www[.]evil[.]example 'Support'"`],
    ['Sons, Inc. of Bern', '"Sons, Inc. of Bern"'],
  ])('the mail of an invite shows the organization name %j as %j', async (name, quoted) => {
    const owner = await sender();
    const session = await world.session(owner.person, owner.organization.id);
    const renamed = await world.rest('PATCH', `/organizations/${owner.organization.id}`, { session, body: { name } });
    if (quoted === null) return expect(renamed.status).toBe(400);
    const email = `guest${++count}@example.com`;
    await invite(owner, email);
    await world.delivered();
    const mail = developmentMailbox()!.find(({ to }) => to === email)!;
    expect(mail.subject).toBe(`You are invited to ${quoted}`);
    expect(mail.text).toContain(`the organization ${quoted} as viewer`);
    expect(mail.text).toContain(`If you do not know ${quoted}, ignore`);
  });
});
