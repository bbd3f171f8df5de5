// Emails about notices: their recipients, one email regardless of the number of processes, and kinds that a person has turned off.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { numberAllChanges } from '#domain/lifecycle/audit/numbers.ts';
import { mailNotices } from '#domain/lifecycle/notices/mails.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { days, hours, minutes } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { developmentMailbox } from '#foundation/mail/mail.ts';
import { sql } from '#foundation/postgres/database.ts';
import { createMember, createOwner, createProject } from '../support/callers.ts';
import { spend } from '../support/runtime-records.ts';
import { openWorld, present, type Session, type World } from '../support/world.ts';

let world: World;
let acme: Organization;
let owner: Person;
let admin: Person;
let session: Session;
let projectId: `prj_${string}`;
let founded = 0;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  ({ person: owner, organization: acme } = await createOwner(world, `Owner-${++founded}`, `Acme ${founded}`));
  ({ person: admin } = await createMember(world, acme, `Admin-${founded}`, 'admin'));
  await createMember(world, acme, `Member-${founded}`, 'member');
  session = await world.session(owner, acme.id);
  projectId = await createProject(world, { session }, 'Shop');
});

const capReached = () => spend({ orgId: acme.id, projectId }, 100);
/**
 * Moves the clock by an hour, or by another time in milliseconds, and sends the mails of notices. Returns the recipient and subject of each
 * new email about this organization.
 */
async function mailed(processes = 1, later = hours(1)): Promise<string[]> {
  world.clock.turn(later);
  const before = developmentMailbox()!.length;
  await Promise.all(Array.from({ length: processes }, () => mailNotices()));
  await world.delivered();
  const mails = developmentMailbox()!;
  return mails
    .slice(0, mails.length - before)
    .filter(({ subject }) => subject.startsWith(`${acme.name}:`))
    .map(({ to, subject }) => `${to} ${subject.slice(acme.name.length + 2)}`)
    .sort();
}
const choose = async (input: object, by: Session) =>
  (
    await world.graphql(
      'mutation ($input: UpdateNoticeMailRequest!) { updateNoticeMail(input: $input) { kind enabled } }',
      { session: by, variables: { input } },
    )
  ).body;

describe('mails of notices', () => {
  it('the notice of a reached cost cap is mailed once to owners and admins, however many processes send mails', async () => {
    expect(await mailed()).toEqual([]);
    await capReached();
    const title = 'The daily cost cap is reached';
    expect(await mailed(4)).toEqual([`${admin.email} ${title}`, `${owner.email} ${title}`].sort());
    expect(await mailed(4)).toEqual([]);
    const { text } = developmentMailbox()!.find(({ to }) => to === owner.email)!;
    expect(text).toContain(`Open: ${world.url}/console/o/acme-1/overview`);
    expect(text).toContain('Missions have cost 100.00 of 100.00 USD since midnight UTC.');
    expect(text).toContain(`Turn off emails of this kind: ${world.url}/console/o/acme-1/notifications`);
  });

  it('notices are checked after five minutes if the organization has changed or has an open mission, otherwise after an hour', async () => {
    expect(await mailed()).toEqual([]);
    await capReached();
    expect(await mailed(1, minutes(5))).toEqual([]);
    await world.rest('PATCH', `/projects/${projectId}`, { session, body: { name: 'Store' } });
    world.clock.turn(1);
    await numberAllChanges();
    expect(await mailed(1, minutes(5))).toHaveLength(2);
    await sql('delete from notice_mails where org_id = $1', [acme.id]);
    expect(await mailed(1, minutes(5))).toEqual([]);
    await world.knex('runs').insert({
      ...{ id: newId('run'), orgId: acme.id, projectId, scheduledFor: present(), kind: 'manual', issueId: 'iss_1' },
      ...{ status: 'dispatching', createdAt: present(), updatedAt: present() },
    });
    const aboutCap = (await mailed(1, minutes(5))).filter((mail) => mail.includes('cost cap'));
    expect(aboutCap).toHaveLength(2);
  });

  it('the notice of an expiring token is mailed only to its owner', async () => {
    const body = { name: 'CI', scopes: ['projects:read'], expiresInDays: 2 };
    expect((await world.rest('POST', '/tokens', { session, body })).status).toBe(201);
    expect(await mailed()).toEqual([]);
    world.clock.turn(days(1));
    expect(await mailed()).toEqual([`${owner.email} The token “CI” expires in one day or less`]);
    expect(await mailed()).toEqual([]);
  });

  it('the notice of a plan that waits for approval is mailed once to all who may run missions, not to viewers', async () => {
    await createMember(world, acme, `Viewer-${founded}`, 'viewer');
    const id = newId('run');
    await world.knex('runs').insert({
      ...{ id, orgId: acme.id, projectId, scheduledFor: present(), kind: 'manual', missionTitle: 'Rename a column' },
      ...{ status: 'dispatching', issueId: 'iss_1', awaitsApproval: true, createdAt: present(), updatedAt: present() },
    });
    const title = '“Rename a column” waits for a person to approve the plan';
    const everyone = [owner.email, admin.email, `member-${founded}@example.com`];
    expect((await mailed(2)).map((mail) => mail.toLowerCase())).toEqual(
      everyone.map((to) => `${to} ${title}`.toLowerCase()).sort(),
    );
    expect(await mailed()).toEqual([]);
  });

  it('the notice of a sign-in domain without its TXT record is mailed to owners and admins, once for each state', async () => {
    const id = newId('signInDomain');
    const [missingSince, domain] = [present(), `acme-${founded}.example`];
    const times = { createdAt: 1, verifiedAt: 1, checkedAt: 1, missingSince };
    await world.knex('sign_in_domains').insert({ id, orgId: acme.id, domain, token: 'aep-1', ...times });
    const toBoth = (title: string) => [`${admin.email} ${title}`, `${owner.email} ${title}`].sort();
    expect(await mailed(2)).toEqual(toBoth(`The TXT record of ${domain} is missing`));
    await world.knex('sign_in_domains').where({ id }).update({ verifiedAt: null });
    await choose({ kind: 'sign_in_domain', enabled: false }, session);
    expect(await mailed()).toEqual([`${admin.email} The domain ${domain} no longer counts as verified`]);
    expect(await mailed()).toEqual([]);
  });

  it('the notice of a disabled webhook is mailed once to owners and admins', async () => {
    const endpoint = { url: 'https://hooks.example', name: 'Deployments', types: ['invite.*'] };
    const created = await world.rest('POST', '/webhook-endpoints', { session, body: endpoint });
    expect(created.status).toBe(201);
    const disabled = { disabledAt: present(), disabledReason: 'gone' };
    await world.knex('webhook_endpoints').where({ orgId: acme.id }).update(disabled);
    const title = 'The webhook “Deployments” is disabled';
    expect(await mailed(2)).toEqual([`${admin.email} ${title}`, `${owner.email} ${title}`].sort());
    expect(await mailed()).toEqual([]);
  });

  it('no notice is mailed to a disabled account or after the organization is closed', async () => {
    await capReached();
    await world.knex('people').where({ id: admin.id }).update({ disabledAt: 1 });
    await world.rest('POST', `/organizations/${acme.id}/closure`, { session, body: { confirmSlug: acme.slug } });
    expect(await mailed()).toEqual([]);
  });
});

describe('settings of notice mails', () => {
  it('mails of notices are on by default for each kind, and a person can turn a kind off and on again', async () => {
    const kinds = 'query { noticeMails { kind enabled } }';
    const { noticeMails } = (await world.graphql(kinds, { session })).body.data;
    expect(noticeMails.map(({ enabled }: { enabled: boolean }) => enabled)).toEqual(Array(14).fill(true));
    const { data } = await choose({ kind: 'cost_cap', enabled: false }, session);
    expect(data.updateNoticeMail).toContainEqual({ kind: 'cost_cap', enabled: false });
    await capReached();
    expect(await mailed()).toEqual([`${admin.email} The daily cost cap is reached`]);
    await choose({ kind: 'cost_cap', enabled: true }, session);
    expect(await mailed()).toEqual([`${owner.email} The daily cost cap is reached`]);
  });

  it('an unknown kind of notice is refused and named in the error', async () => {
    const { errors } = await choose({ kind: 'weather', enabled: false }, session);
    expect(errors[0].message).toContain('weather');
  });
});
