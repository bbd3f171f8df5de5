// The audit log: concurrent writers get numbers without gaps, an event names the interface that caused it, and only some callers may read
// the log.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueAccessToken } from '#domain/identity/oauth/access-tokens.ts';
import { SignIn } from '#domain/identity/oauth/sign-ins.ts';
import { numberAllChanges, numberChanges } from '#domain/lifecycle/audit/numbers.ts';
import { deleteOldEvents } from '#domain/lifecycle/audit/retention.ts';
import { eraseClosedOrganizations } from '#domain/lifecycle/closure/erase.ts';
import { settleClosures } from '#domain/lifecycle/closure/steps.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { days, hours, now } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { developmentMailbox } from '#foundation/mail/mail.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { asService } from '#foundation/postgres/origin.ts';
import { createMember, createOwner, createProject } from '../support/callers.ts';
import { openWorld, type Session, type World } from '../support/world.ts';

let world: World;
let acme: Organization;
let alice: Person;
let session: Session;
beforeAll(async () => {
  world = await openWorld();
  ({ person: alice, organization: acme } = await createOwner(world, 'Alice', 'Acme'));
  session = await world.session(alice, acme.id);
});
afterAll(() => world.close());

// biome-ignore lint/suspicious/noExplicitAny: bodies of answers
type Body = any;
const list = async (query = '', ask: object = { session }): Promise<Body> =>
  (await world.rest('GET', `/audit-events${query}`, ask)).body;
const budget = { subject: 'organization', period: 'day', amountUsd: 5 };
const rename = (name: string, ask: object = { session }) =>
  world.rest('PATCH', `/organizations/${acme.id}`, { ...ask, body: { name } });

describe('events of the audit log', () => {
  it('an audit event says who changed what and when, with which credential, by which interface and from which IP address', async () => {
    const created = await world.rest('POST', '/budgets', {
      session,
      body: budget,
      headers: { 'x-request-id': 'req-audit-1' },
    });
    await world.rest('PATCH', `/budgets/${created.body.id}`, { session, body: { amountUsd: 7 } });
    const [updated, first] = (await list('?limit=2')).data;
    const actor = { type: 'person', id: alice.id, name: 'Alice' };
    const common = {
      ...{ occurredAt: now(), recordedAt: now(), actor, onBehalfOf: null, surface: 'rest', sourceAddress: '127.0.0.1' },
      ...{ credentialId: expect.stringMatching(/^ses_/), projectId: null, traceId: null, personalValues: 'readable' },
      targets: [{ type: 'budget', id: created.body.id, name: 'organization' }],
    };
    expect(first).toEqual({
      ...{
        ...common,
        number: updated.number - 1,
        action: 'budget.created',
        operation: 'createBudget',
        requestId: 'req-audit-1',
      },
      changes: expect.arrayContaining([
        { path: 'period', before: null, after: 'day' },
        { path: 'amountUsd', before: null, after: 5 },
      ]),
    });
    expect(updated).toEqual({
      ...{ ...common, number: expect.any(Number), action: 'budget.updated', operation: 'updateBudget' },
      ...{ requestId: expect.stringMatching(/^req_/), changes: [{ path: 'amountUsd', before: 5, after: 7 }] },
    });
  });

  it('a call that is repeated with its Idempotency-Key is in the audit log once', async () => {
    const headers = { 'idempotency-key': 'audit-key-1' };
    const body = { email: 'once@example.com', role: 'viewer' };
    for (const _ of [1, 2]) await world.rest('POST', '/invites', { session, body, headers });
    const { data } = await list('?action=invite.created');
    expect(data).toMatchObject([
      { operation: 'createInvite', actor: { id: alice.id }, targets: [{ name: 'once@example.com' }] },
    ]);
  });

  it('the audit event of a call with an Idempotency-Key names its caller, even for a change outside a transaction', async () => {
    const { body } = await world.rest('POST', '/budgets', { session, body: { ...budget, period: 'month' } });
    const query = `mutation { deleteBudget(budgetId: "${body.id}") { ok } }`;
    await world.graphql(query, { session, headers: { 'idempotency-key': 'audit-key-2' } });
    const { data } = await list(`?targetId=${body.id}&limit=1`);
    expect(data).toMatchObject([{ action: 'budget.deleted', operation: 'deleteBudget', actor: { id: alice.id } }]);
  });

  it('an audit event shows that a secret was set, but not the secret itself', async () => {
    const body = {
      scope: 'organization',
      kind: 'secret',
      name: 'KEY',
      value: 'hunter2-hunter2',
      hosts: ['api.example.com'],
    };
    const { body: secret } = await world.rest('POST', '/secrets', { session, body });
    await world.rest('PATCH', `/secrets/${secret.id}`, { session, body: { value: 'hunter3-hunter3' } });
    const { data } = await list(`?targetId=${secret.id}`);
    expect(data.map(({ action }: Body) => action)).toEqual(['secret.updated', 'secret.created']);
    expect(data[0].changes).toContainEqual({ path: 'sealedValue', before: '[secret]', after: '[secret]' });
    expect(JSON.stringify(data)).not.toContain('hunter');
    const stored = JSON.stringify(await world.knex('audit_events').select('changes'));
    expect(stored).not.toMatch(/hunter|x[0-9a-f]{40}/);
  });

  it('an audit event contains the beginning of a long text, even when the cut divides an emoji', async () => {
    const projectId = await createProject(world, { session }, 'Long');
    const query = 'mutation ($input: CreateIssueRequest!) { createIssue(input: $input) { id } }';
    const input = { projectId, title: 'Long', body: `${'a'.repeat(999)}\u{1F600} and more` };
    const issue = await world.field(query, { session, variables: { input } });
    const [event] = (await list(`?targetId=${issue.id}`)).data;
    expect(event.changes).toContainEqual({ path: 'body', before: null, after: `${'a'.repeat(999)}\uFFFD…` });
  });

  it('the SQL function for the audit event of a run is inlined, so its body is not planned at each call', async () => {
    const { rows } = await world.knex.raw('explain (verbose, format json) select audit_run(r) from runs r');
    expect(rows[0]['QUERY PLAN'][0].Plan.Output[0]).toMatch('jsonb_build_object');
  });

  it('an audit event about a member has the current name of the person', async () => {
    const { data } = await list('?action=member.added&order=oldest&limit=1');
    expect(data[0].targets).toEqual([{ type: 'member', id: alice.id, name: alice.name }]);
  });

  it('the audit event of an application names the person for whom it acted', async () => {
    const signIn = {
      id: newId('signIn'),
      clientId: 'https://c.example/m.json',
      clientName: 'Client',
      userId: alice.id,
    };
    await SignIn.query().insert({
      ...{ ...signIn, orgId: acme.id, projectId: null, resource: 'api', scopes: ['members:write'] },
      ...{ createdAt: now(), expiresAt: now() + days(1) },
    });
    const grant = { resource: 'api' as const, scopes: ['members:write'], grantExpiresAt: now() + hours(1) };
    const { accessToken } = await transaction((trx) =>
      issueAccessToken(trx, { ...grant, owner: { signInId: signIn.id } }),
    );
    const body = { email: 'by-client@example.com', role: 'viewer' };
    await world.rest('POST', '/invites', { token: accessToken, body });
    const [event] = (await list('?limit=1')).data;
    expect(event).toMatchObject({
      ...{ action: 'invite.created', actor: { type: 'application', name: 'Client' } },
      onBehalfOf: { type: 'person', id: alice.id, name: 'Alice' },
    });
    expect((await list(`?actorId=${alice.id}&limit=1`)).data).toEqual([event]);
  });

  it('the audit event of a job or an operator’s command names the job or command; a change made outside the service has an unknown actor', async () => {
    const set = (name: string) => world.knex('organizations').where({ id: acme.id }).update({ name });
    await asService('system', 'scheduler', 'a job', () => set('By a job'));
    await asService('operator', 'operator', 'org:rename', () => set('By the operator'));
    await set('By hand');
    const { data } = await list('?action=organization.updated&limit=3');
    expect(
      data.map(({ actor, surface, operation, changes }: Body) => [actor.type, surface, operation, changes[0].after]),
    ).toEqual([
      ['unknown', null, null, 'By hand'],
      ['operator', 'operator', 'org:rename', 'By the operator'],
      ['system', 'scheduler', 'a job', 'By a job'],
    ]);
  });

  it('a sign-in is recorded in the audit log of each organization of the person', async () => {
    const { organization: other } = await createOwner(world, alice, 'Beside');
    const form = (fields: Record<string, string>) => ({
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams(fields).toString(),
    });
    const begun = await world.request('POST', '/sign-in', form({ email: alice.email }));
    await world.delivered();
    const code = /\b\d{6}\b/.exec(developmentMailbox()!.find(({ to }) => to === alice.email)!.text)![0];
    const cookie = begun.headers
      .getSetCookie()
      .map((one) => one.split(';')[0])
      .join('; ');
    const sent = form({ email: alice.email, code });
    await world.request('POST', '/sign-in/code', { ...sent, headers: { ...sent.headers, cookie } });
    for (const orgId of [acme.id, other.id]) {
      const { data } = await list('?action=session.started', { session: await world.session(alice, orgId) });
      expect(data.find(({ surface }: Body) => surface === 'console')).toMatchObject({
        ...{ actor: { type: 'person', id: alice.id }, sourceAddress: '127.0.0.1' },
      });
    }
  });
});

describe('numbering of the audit log', () => {
  const numbersFrom = async (start: number): Promise<number[]> => {
    const found: number[] = [];
    let cursor: string | null = null;
    do {
      const page: Body = await list(`?order=oldest&limit=50${cursor ? `&cursor=${cursor}` : ''}`);
      found.push(...page.data.map(({ number }: Body) => number));
      cursor = page.nextCursor;
    } while (cursor);
    return found.filter((number) => number > start);
  };
  const last = async (): Promise<number> => (await list('?limit=1')).data[0].number;

  it('audit events are numbered in the order of the commits, not of the writes', async () => {
    const start = await last();
    const early = await world.knex.transaction();
    await early('budgets').where({ orgId: acme.id }).update({ amountUsd: 8 });
    await world.rest('POST', '/invites', { session, body: { email: 'late@example.com', role: 'viewer' } });
    expect(await numbersFrom(start)).toEqual([start + 1]);
    await early.commit();
    expect(await numbersFrom(start)).toEqual([start + 1, start + 2]);
    expect((await list('?limit=1')).data[0].action).toBe('budget.updated');
  });

  it('numbers of audit events have no gaps under concurrent writers and readers, and a reader who follows them misses no event', async () => {
    const start = await last();
    const seen = new Set<number>();
    const writes = Array.from({ length: 30 }, (_, i) =>
      world.rest('POST', '/invites', { session, body: { email: `many-${i}@example.com`, role: 'viewer' } }),
    );
    const readers = Array.from({ length: 6 }, async () => {
      // Each reader sees all numbers up to the largest number that it reads.
      const numbers = await numbersFrom(start);
      expect(numbers).toEqual(numbers.map((_, i) => start + 1 + i));
      for (const number of numbers) seen.add(number);
    });
    await Promise.all([...writes, ...readers, ...Array.from({ length: 6 }, () => numberChanges(acme.id))]);
    for (const number of await numbersFrom(start)) seen.add(number);
    expect([...seen].sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, i) => start + 1 + i));
  });

  it('a writer that is killed before its commit leaves neither a change nor an audit event', async () => {
    const start = await last();
    const killed = await world.knex.transaction();
    await killed('budgets').where({ orgId: acme.id }).update({ amountUsd: 9 });
    const { rows } = await killed.raw('select pg_backend_pid() as pid');
    await world.knex.raw('select pg_terminate_backend(?)', [rows[0].pid]);
    await killed.rollback().catch(() => {});
    expect(await numbersFrom(start)).toEqual([]);
    expect((await world.knex('budgets').where({ orgId: acme.id }).first()).amountUsd).toBe(8);
  });

  it('audit events of an organization are numbered even when those of another organization cannot be read', async () => {
    await numberAllChanges();
    const { organization: later } = await createOwner(world, alice, 'Later');
    const unreadable = { orgId: acme.id, source: 'budgets', origin: 'no JSON', after: { id: 'bud_1' } };
    await world.knex('audit_changes').insert(unreadable);
    await expect(numberAllChanges()).rejects.toThrow(SyntaxError);
    expect(await world.knex('audit_changes').where({ orgId: later.id })).toEqual([]);
    expect(await world.knex('audit_changes').where({ orgId: acme.id }).del()).toBe(1);
  });

  it('numbers and recording times of audit events never decrease, even if a clock is set back', async () => {
    await rename('Now');
    const before = (await list('?limit=1')).data[0];
    world.clock.turn(-hours(1));
    await rename('An hour ago');
    const after = (await list('?limit=1')).data[0];
    world.clock.turn(hours(1));
    expect((await list(`?after=${before.number}&order=oldest`)).data).toEqual([after]);
    expect(after).toMatchObject({
      number: before.number + 1,
      recordedAt: before.recordedAt,
      occurredAt: before.occurredAt - hours(1),
    });
  });
});

describe('reading and retention of the audit log', () => {
  it('the audit log is read with filters, in pages whose cursors are valid only for these filters', async () => {
    const { data, nextCursor } = await list('?targetType=invite&limit=2');
    const next = await list(`?targetType=invite&limit=2&cursor=${nextCursor}`);
    expect(next.data[0].number).toBeLessThan(data[1].number);
    expect((await world.rest('GET', `/audit-events?limit=2&cursor=${nextCursor}`, { session })).status).toBe(400);
    expect((await list(`?occurredFrom=${now() + 1}`)).data).toEqual([]);
    expect((await list(`?occurredBefore=${now() - hours(2)}`)).data).toEqual([]);
    expect((await list('?projectId=prj_none')).data).toEqual([]);
    for (const query of ['limit=0', 'limit=201', 'occurredFrom=-1', 'after=-1', `action=${'x'.repeat(300)}`]) {
      expect((await world.rest('GET', `/audit-events?${query}`, { session })).status).toBe(400);
    }
  });

  it('the audit log is readable only by admins whose credential has the scope, and only in their own organization', async () => {
    const { person: viewer } = await createMember(world, acme, 'Viewer', 'viewer');
    const { person: member } = await createMember(world, acme, 'Member', 'member');
    for (const person of [viewer, member]) {
      const refused = await world.rest('GET', '/audit-events', { session: await world.session(person, acme.id) });
      expect([refused.status, refused.body.code]).toEqual([403, 'missing_scope']);
    }
    const without = await world.token(alice, acme);
    expect((await world.rest('GET', '/audit-events', { token: without })).status).toBe(403);
    const withScope = await world.token(alice, acme, { scopes: ['audit:read'] });
    expect((await list('?limit=1', { token: withScope })).data).toHaveLength(1);
    const { person: mallory, organization: globex } = await createOwner(world, 'Mallory', 'Globex');
    const foreign = await list('', { session: await world.session(mallory, globex.id) });
    expect(foreign.data.map(({ action }: Body) => action)).not.toContain('budget.created');
    expect(JSON.stringify(foreign)).not.toContain(acme.id);
  });

  it('an admin chooses how long audit events are kept; the choice is itself an event, and the remaining events keep their numbers', async () => {
    const set = (days: number, by: Session) =>
      world.graphql(`mutation { setAuditRetention(days: ${days}) { days } }`, { session: by });
    const { person: member } = await createMember(world, acme, 'Retainer', 'member');
    for (const [days, by, code] of [
      [29, session, 'invalid_request'],
      [3_651, session, 'invalid_request'],
      [365, await world.session(member, acme.id), 'forbidden'],
    ] as const)
      expect((await set(days, by)).body.errors[0].extensions.code).toBe(code);
    const kept = async () => (await world.graphql('{ auditRetention { days } }', { session })).body.data;
    expect(await kept()).toEqual({ auditRetention: { days: 730 } });
    await set(30, session);
    expect(await kept()).toEqual({ auditRetention: { days: 30 } });
    const [changed] = (await list('?action=audit_retention.updated')).data;
    expect(changed.changes).toEqual([{ path: 'retentionDays', before: null, after: 30 }]);
    const later = async (count: number) => {
      world.clock.turn(days(count));
      session = await world.session(alice, acme.id);
      await deleteOldEvents();
    };
    await later(29);
    await rename('Kept');
    expect((await list('?order=oldest&limit=1')).data[0].number).toBe(1);
    await later(2);
    const left = (await list('?limit=200&order=oldest')).data;
    expect(left[0].number).toBeGreaterThan(changed.number);
    expect(left.map(({ changes }: Body) => changes[0]?.after)).toContain('Kept');
  });

  it('the audit log creates the partition of the next quarter ahead of time, and drops partitions that are older than the longest retention period', async () => {
    const names = async (query: string) => (await world.knex.raw(query)).rows.map(({ name }: Body) => name);
    const partitions = () =>
      names(`select inhrelid::regclass::text as name from pg_inherits
        where inhparent = 'audit_events'::regclass and inhrelid <> 'audit_events_default'::regclass`);
    await deleteOldEvents();
    await deleteOldEvents();
    const [next, ...others] = await partitions();
    expect(others).toEqual([]);
    expect(await names("select conname as name from pg_constraint where conname like '%is_later'")).toEqual([]);
    world.clock.turn(days(91));
    session = await world.session(alice, acme.id);
    await rename('Next quarter');
    await numberAllChanges();
    const [{ last }] = (await world.knex(next).where({ orgId: acme.id }).max('number as last')) as Body[];
    expect(Number(last)).toBeGreaterThan(0);
    world.clock.turn(days(730 + 91 + 91));
    await deleteOldEvents();
    expect(await partitions()).not.toContain(next);
    const counter = await world.knex('audit_counters').where({ orgId: acme.id }).first();
    expect(Number(counter.firstNumber)).toBe(Number(last) + 1);
    session = await world.session(alice, acme.id);
    await rename('Still recorded');
    expect((await list('?limit=1')).data[0].number).toBeGreaterThan(Number(last));
  });

  it('the audit log is erased with its organization, and no event of the erasure remains', async () => {
    const body = { confirmSlug: (await world.knex('organizations').where({ id: acme.id }).first()).slug };
    expect((await world.rest('POST', `/organizations/${acme.id}/closure`, { session, body })).status).toBe(201);
    await settleClosures();
    world.clock.turn(days(31));
    await eraseClosedOrganizations();
    await numberAllChanges();
    for (const table of ['audit_events', 'audit_counters', 'audit_changes']) {
      expect(await world.knex(table).where({ orgId: acme.id })).toEqual([]);
    }
    expect(await world.knex('audit_events').count('* as n').first()).not.toEqual({ n: 0 });
  });
});
