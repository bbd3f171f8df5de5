// Notices: each notice exists as long as its cause, can be dismissed by one person without effect for others, and returns only for a new
// cause.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sweepDismissals } from '#domain/lifecycle/notices/operations.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { days, hours, minutes } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { createMember, createProject } from '../support/callers.ts';
import { makeCertificate } from '../support/certificate.ts';
import { base64Of } from '../support/fake-saml-provider.ts';
import { type Place, spend } from '../support/runtime-records.ts';
import { openWorld, present, type Session, type World } from '../support/world.ts';

let world: World;
let owner: Person;

beforeAll(async () => {
  world = await openWorld();
  owner = await world.person('Alice');
});
afterAll(() => world.close());

interface Acme {
  organization: Organization;
  session: Session;
  place: Place;
}

let founded = 0;
async function found(): Promise<Acme> {
  // `createOwner` would also create a token, which would cause a notice before it expires.
  const organization = await world.found(owner, `Acme ${++founded}`);
  const session = await world.session(owner, organization.id);
  const projectId = await createProject(world, { session }, 'Shop');
  return { organization, session, place: { orgId: organization.id, projectId } };
}

const read = async ({ session }: { session: Session }) =>
  (await world.rest('GET', '/notices', { session })).body.notices;
const ids = async (acme: { session: Session }): Promise<string[]> =>
  (await read(acme)).map(({ id }: { id: string }) => id);
const dismiss = (id: string, session: Session) =>
  world.rest('POST', `/notices/${encodeURIComponent(id)}/dismissal`, { session });

async function run({ place }: Acme, more: object): Promise<string> {
  const id = newId('run');
  const row = { id, ...place, scheduledFor: present(), kind: 'manual', createdAt: present(), updatedAt: present() };
  await world.knex('runs').insert({ ...row, ...more });
  world.clock.turn(1);
  return id;
}

const triggers = [{ kind: 'schedule', schedule: { interval: 'daily', time: '09:00', timezone: 'UTC' } }];
async function task({ session, place }: Acme): Promise<string> {
  const body = { projectId: place.projectId, name: 'Nightly <b>audit</b>', prompt: 'Audit.', triggers };
  return (await world.rest('POST', '/scheduled-tasks', { session, body })).body.id;
}

describe('causes of notices', () => {
  it('a new organization has no notice, even before it gets its trial credits', async () => {
    expect(await read(await found())).toEqual([]);
  });

  it('the daily cost cap causes a notice at 80 and at 100 percent, another one after the cap is changed, and none the next day', async () => {
    const acme = await found();
    await spend(acme.place, 79);
    expect(await ids(acme)).toEqual([]);
    await spend(acme.place, 1);
    const day = new Date(present()).toISOString().slice(0, 10);
    expect(await read(acme)).toMatchObject([{ id: `cost_cap_80:${day}:100`, kind: 'warning' }]);
    await spend(acme.place, 20);
    expect(await read(acme)).toMatchObject([{ id: `cost_cap_100:${day}:100`, kind: 'action' }]);
    const body = { dailyCostCapUsd: 110 };
    await world.rest('PATCH', '/orchestrator', { session: acme.session, body });
    expect(await ids(acme)).toEqual([`cost_cap_80:${day}:110`]);
    world.clock.turn(days(1));
    expect(await ids(acme)).toEqual([]);
    await world.rest('PATCH', '/orchestrator', { session: acme.session, body: { dailyCostCapUsd: 0 } });
    expect(await read(acme)).toMatchObject([{ title: 'The daily cost cap is 0', kind: 'warning' }]);
  });

  it('the number of projects causes a notice when it exceeds the limit of the plan', async () => {
    const { organization, session } = await found();
    const add = (from: number, to: number) =>
      world.knex.raw(
        `insert into projects (id, org_id, slug, name, status, tracker, scm_owner, scm_repo, created_at)
          select 'prj_' || :orgId || n, :orgId, 'p' || n, 'P', 'active', 'builtin', 'acme', 'p' || n, 0 from generate_series(:from::int, :to::int) n`,
        { orgId: organization.id, from, to },
      );
    await add(2, 99);
    expect(await ids({ session })).toEqual([]);
    await add(100, 101);
    expect(await read({ session })).toMatchObject([
      { id: 'plan_limit:free:100', body: expect.stringContaining('allows 100 projects, and there are 101') },
    ]);
  });

  it('an expiring token causes a notice 14, 7 and 1 days before it expires; a token that is valid for one day causes none', async () => {
    const acme = await found();
    const create = async (expiresInDays: number) => {
      const body = { name: `For ${expiresInDays}`, scopes: ['projects:read'], expiresInDays };
      return (await world.rest('POST', '/tokens', { session: acme.session, body })).body.id;
    };
    await create(1);
    const id = await create(30);
    const seen: string[][] = [];
    for (const later of [0, 16, 7, 6, 1]) {
      world.clock.turn(days(later));
      acme.session = await world.session(owner, acme.organization.id);
      seen.push(await ids(acme));
    }
    const notice = (left: number) => [`token_expiring:${id}:${left}`];
    expect(seen).toEqual([[], notice(14), notice(7), notice(1), []]);
    const [other, revoked] = [await create(20), await create(20)];
    world.clock.turn(days(14));
    acme.session = await world.session(owner, acme.organization.id);
    await world.rest('DELETE', `/tokens/${revoked}`, { session: acme.session });
    expect((await ids(acme)).filter((one) => one.startsWith('token_'))).toEqual([`token_expiring:${other}:7`]);
  });

  it('a token sees the notice about itself, and none about another token', async () => {
    const acme = await found();
    const token = await world.token(owner, acme.organization, { scopes: ['setup:read'] });
    await world.token(owner, acme.organization, { scopes: ['projects:read'] });
    world.clock.turn(days(25));
    const { body } = await world.rest('GET', '/notices', { token });
    expect(body.notices).toHaveLength(1);
    expect(body.notices[0].id).toMatch(/^token_expiring:tok_\w+:7$/);
    world.clock.turn(days(-25));
  });

  it('exhausted and low credits cause a notice until enough are added; members who cannot see billing get none', async () => {
    const acme = await found();
    await world.rest('GET', '/billing/summary', { session: acme.session });
    world.clock.turn(days(31));
    acme.session = await world.session(owner, acme.organization.id);
    const [first] = await read(acme);
    expect(first).toMatchObject({ id: expect.stringMatching(/^credits_exhausted:lot_/), kind: 'action' });
    await dismiss(first.id, acme.session);
    await world.grant(acme.organization, 5);
    expect(await read(acme)).toMatchObject([
      {
        id: expect.stringMatching(/^credits_low:lot_/),
        title: 'Credits are low',
        actionUrl: `${world.url}/console/o/${acme.organization.slug}/billing`,
      },
    ]);
    await world.grant(acme.organization, 20);
    expect(await ids(acme)).toEqual([]);
    const { person: member } = await createMember(world, acme.organization, 'Member', 'member');
    expect(await ids({ session: await world.session(member, acme.organization.id) })).toEqual([]);
  });

  it('a recurring mission causes a notice after three failures in a row; the notice ends when a run completes or the mission is disabled', async () => {
    const acme = await found();
    const id = await task(acme);
    const end = (status: string, more: object = {}) =>
      run(acme, { status, recurringId: undefined, scheduledTaskId: id, ...more });
    const last = await end('completed');
    await end('failed');
    await end('failed');
    await end('skipped');
    expect(await ids(acme)).toEqual([]);
    await end('failed');
    expect(await read(acme)).toMatchObject([
      { id: `schedule_failing:${id}:${last}`, kind: 'action', title: '“Nightly <b>audit</b>” keeps failing' },
    ]);
    await end('failed');
    expect(await ids(acme)).toEqual([`schedule_failing:${id}:${last}`]);
    await dismiss(`schedule_failing:${id}:${last}`, acme.session);
    const again = await end('completed');
    expect(await ids(acme)).toEqual([]);
    for (let i = 0; i < 3; i++) await end('failed');
    expect(await ids(acme)).toEqual([`schedule_failing:${id}:${again}`]);
    const body = { enabled: false, triggers };
    await world.rest('PATCH', `/scheduled-tasks/${id}`, { session: acme.session, body });
    expect(await ids(acme)).toEqual([]);
  });

  it('several waiting runs cause one notice with their reason', async () => {
    const acme = await found();
    const id = await run(acme, { status: 'dispatching', issueId: 'iss_1', reason: 'No runtime is connected.' });
    await run(acme, { status: 'dispatching', issueId: 'iss_2' });
    expect(await ids(acme)).toEqual([]);
    world.clock.turn(minutes(6));
    expect(await read(acme)).toMatchObject([
      {
        id: expect.stringMatching(/^run_waiting:\d{4}-\d\d-\d\d$/),
        title: '2 missions wait for a runtime',
        body: 'No runtime is connected.',
      },
    ]);
    const planned = await run(acme, { status: 'dispatching', issueId: 'iss_3', awaitsApproval: true });
    world.clock.turn(minutes(6));
    expect((await read(acme)).map(({ title }: { title: string }) => title)).toEqual([
      `“${planned}” waits for a person to approve the plan`,
      '2 missions wait for a runtime',
    ]);
    await world.knex('runs').where({ projectId: acme.place.projectId }).update({ status: 'canceled' });
    expect(id && (await ids(acme))).toEqual([]);
  });
});

describe('notices about sign-in', () => {
  it('a verified domain causes a notice while its TXT record is missing, and another one once the domain is no longer verified', async () => {
    const acme = await found();
    const [id, at] = [newId('signInDomain'), present()];
    const row = {
      id,
      orgId: acme.organization.id,
      domain: 'acme.example',
      token: 'aep-1',
      createdAt: at,
      checkedAt: at,
    };
    await world.knex('sign_in_domains').insert({ ...row, verifiedAt: at });
    expect(await ids(acme)).toEqual([]);
    const set = (columns: object) => world.knex('sign_in_domains').where({ id }).update(columns);
    await set({ missingSince: at });
    const since = new Date(at).toISOString();
    const end = new Date(at + days(7)).toISOString().slice(0, 10);
    expect(await read(acme)).toEqual([
      {
        id: `sign_in_domain_missing:${id}:${at}`,
        kind: 'action',
        title: 'The TXT record of acme.example is missing',
        body: `It has been missing since ${since}. If it is still missing on ${end}, nobody can sign in with email addresses of the domain through an identity provider any longer.`,
        actionUrl: `${world.url}/console/o/${acme.organization.slug}/sign-in`,
        createdAt: at,
      },
    ]);
    await set({ verifiedAt: null });
    expect(await read(acme)).toMatchObject([
      {
        id: `sign_in_domain_lost:${id}:${at}`,
        title: 'The domain acme.example no longer counts as verified',
        createdAt: at + days(7),
      },
    ]);
    expect(await ids(await found())).toEqual([]);
    const { person: member } = await createMember(world, acme.organization, 'Reader', 'member');
    expect(await ids({ session: await world.session(member, acme.organization.id) })).toEqual([]);
    await set({ verifiedAt: at, missingSince: null });
    expect(await ids(acme)).toEqual([]);
  });

  it('a tested SAML provider causes notices 30 and 7 days before its last certificate expires, and a notice after this expiry', async () => {
    const acme = await found();
    const [id, at] = [newId('identityProvider'), present()];
    const expiresAt = Math.floor(at / 1_000) * 1_000 + days(31);
    const certificates = [days(-20), 0].map((by) => base64Of(makeCertificate([], 'ec', expiresAt + by).cert));
    const place = { id, orgId: acme.organization.id, name: 'Entra', protocol: 'saml', issuer: 'https://idp.example' };
    const row = { ...place, signInUrl: 'https://idp.example', certificates, createdAt: at, updatedAt: at };
    await world.knex('identity_providers').insert(row);
    const noticesIn = async (passed: number) => {
      world.clock.turn(days(passed));
      acme.session = await world.session(owner, acme.organization.id);
      const notices = (await read(acme)) as Record<'id' | 'kind' | 'title', string>[];
      return notices
        .filter((notice) => notice.id.startsWith('sign_in_'))
        .map((notice) => [notice.id.split(':').at(-1), notice.kind, notice.title]);
    };
    const set = (columns: object) => world.knex('identity_providers').where({ id }).update(columns);
    const title = 'The certificate of the provider “Entra”';
    expect(await noticesIn(2)).toEqual([]);
    await set({ testedAt: at });
    expect(await noticesIn(0)).toEqual([['30', 'warning', `${title} expires in 30 days or less`]]);
    expect(await noticesIn(22)).toEqual([['7', 'action', `${title} expires in 7 days or less`]]);
    expect(await noticesIn(8)).toEqual([['7', 'action', `${title} has expired`]]);
    await set({ certificates: [...certificates, base64Of(makeCertificate([], 'ec').cert)] });
    expect(await noticesIn(0)).toEqual([]);
    world.clock.turn(days(-32));
  });

  it('the last directory token causes a notice for owners 30 and 7 days before its expiry, and for a month after it', async () => {
    const acme = await found();
    const { person: admin } = await createMember(world, acme.organization, 'Keeper', 'admin');
    const create = (expiresInDays: number) =>
      world.field(`mutation { createDirectoryToken(name: "Okta", expiresInDays: ${expiresInDays}) { id } }`, {
        session: acme.session,
      });
    const noticesAfter = async (passed: number, person = owner) => {
      world.clock.turn(days(passed));
      acme.session = await world.session(person, acme.organization.id);
      return (await ids(acme)).filter((id) => id.startsWith('directory_'));
    };
    await create(7);
    expect(await noticesAfter(0)).toEqual([]);
    const { id } = await create(40);
    expect(await noticesAfter(11)).toEqual([`directory_token:${id}:30`]);
    expect(await noticesAfter(22)).toEqual([`directory_token:${id}:7`]);
    expect(await noticesAfter(0, admin)).toEqual([]);
    expect(await noticesAfter(8)).toEqual([`directory_token:${id}:7`]);
    expect(await noticesAfter(30)).toEqual([]);
    await create(20);
    expect(await noticesAfter(14)).toEqual([expect.stringMatching(/^directory_token:sct_.*:7$/)]);
    await create(365);
    expect(await noticesAfter(0)).toEqual([]);
    world.clock.turn(days(-85));
  });
});

describe('POST /notices/{noticeId}/dismissal', () => {
  it('200 · dismissing a notice hides it only for the caller; 404 for an unknown notice or one of another organization', async () => {
    const acme = await found();
    await spend(acme.place, 90);
    const [id] = (await ids(acme)) as [string];
    const { person: bob } = await createMember(world, acme.organization, 'Bob', 'member');
    const session = await world.session(bob, acme.organization.id);
    const { status, body } = await dismiss(id, session);
    expect([status, body]).toEqual([200, { orgId: acme.organization.id, noticeId: id, dismissedAt: present() }]);
    world.clock.turn(hours(1));
    expect((await dismiss(id, session)).body).toEqual(body);
    expect([await ids({ session }), await ids(acme)]).toEqual([[], [id]]);
    expect((await dismiss('cost_cap_100:2020-01-01:100', session)).status).toBe(404);
    const other = await found();
    expect((await dismiss(id, other.session)).status).toBe(404);
    const { person: viewer } = await createMember(world, acme.organization, 'Watcher', 'viewer');
    expect((await dismiss(id, await world.session(viewer, acme.organization.id))).status).toBe(403);
    await sweepDismissals();
    expect(await world.knex('notice_dismissals').where({ noticeId: id })).toHaveLength(1);
    world.clock.turn(days(401));
    await sweepDismissals();
    expect(await world.knex('notice_dismissals')).toEqual([]);
  });
});
