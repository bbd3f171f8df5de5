// The erasure of a person: values that were encrypted with their key cannot be read anywhere, the log still verifies, and nobody else loses
// anything.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { numberAllChanges, numberChanges } from '#domain/lifecycle/audit/numbers.ts';
import { deleteOldEvents } from '#domain/lifecycle/audit/retention.ts';
import { startDeliveries } from '#domain/lifecycle/audit/stream/delivery.ts';
import { signCheckpoints } from '#domain/lifecycle/audit/tree/checkpoints.ts';
import { growAllTrees } from '#domain/lifecycle/audit/tree/growth.ts';
import { verifyLog } from '#domain/lifecycle/audit/tree/verify.ts';
import { exportTables } from '#domain/lifecycle/closure/export-tables.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { peopleOfRecording } from '#domain/work/forks/people.ts';
import { keyOfPart } from '#domain/work/recordings/keys.ts';
import { Run } from '#domain/work/runs/model.ts';
import { days, hours } from '#foundation/clock.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { newId } from '#foundation/ids.ts';
import { checkpointsIn } from '#foundation/merkle/checkpoints.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { verifyFile } from '../../clients/cli/src/audit-file.ts';
import { checkpointsIn as checkpointsInFile } from '../../clients/cli/src/audit-notes.ts';
import { openAep } from '../support/aep.ts';
import { createMember, createOwner } from '../support/callers.ts';
import { type SampleOrganization, seedOrganization } from '../support/sample-organization.ts';
import { openWorld, present, type World } from '../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies of answers
type Body = any;
let world: World;
let alice: Person;
let acme: Organization;
let bob: Person;
let globex: Organization;
let runId: string;
let ids: SampleOrganization['ids'];
let serviceToken: string;
beforeAll(async () => {
  world = await openWorld();
  const sample = await seedOrganization(world);
  ({ owner: alice, organization: acme } = sample);
  ({ ids, serviceToken } = sample);
  runId = ids.runId!;
  ({ person: bob, organization: globex } = await createOwner(world, 'Bobbington', 'Globex'));
});
afterAll(() => world.close());

const list = async (query: string, [person, organization] = [alice, acme]): Promise<Body[]> =>
  (await world.rest('GET', `/audit-events?${query}`, { session: await world.session(person, organization.id) })).body
    .data;
const mutation = 'mutation ($orgId: String!, $person: String!) { it: erasePerson(orgId: $orgId, person: $person)';
const erase = async (person: string, by: Person = alice): Promise<Body> =>
  world.field(`${mutation} { personId erasedAt invites recordings } }`, {
    session: await world.session(by, acme.id),
    variables: { orgId: acme.id, person },
  });
const remove = async (person: Person) =>
  world.rest('DELETE', `/organizations/${acme.id}/memberships/${person.id}`, {
    session: await world.session(alice, acme.id),
  });
/** Events of Bob and about him, and an invite that he has sent. */
async function act(invited: string): Promise<void> {
  const session = await world.session(bob, acme.id);
  await world.rest('POST', '/invites', { session, body: { email: invited, role: 'viewer' } });
  await world.knex('people').where({ id: bob.id }).update({ name: 'Bobbington II' });
  await world.knex('people').where({ id: bob.id }).update({ name: bob.name });
  await numberAllChanges();
}
const ofBob = () => list(`actorId=${bob.id}&order=oldest&limit=200`);
/** Rows of the organization in any table that contain one of the texts. */
async function rowsWith(texts: readonly string[]): Promise<string[]> {
  const { rows } =
    await world.knex.raw(`select quote_ident(n.nspname) || '.' || quote_ident(c.relname) as name from pg_class c
    join pg_namespace n on n.oid = c.relnamespace where n.nspname in ('public', 'background') and c.relkind = 'r'`);
  const like = texts.map(() => 't::text ilike ?').join(' or ');
  const found: string[] = [];
  for (const { name } of rows as { name: string }[]) {
    const { rows: hits } = await world.knex.raw(`select 1 from ${name} t where t::text like ? and (${like}) limit 1`, [
      `%${acme.id}%`,
      ...texts.map((text) => `%${text}%`),
    ]);
    if (hits.length > 0) found.push(name);
  }
  return found;
}
const findings = async (kept = '') => (await verifyLog(acme.id, checkpointsIn(kept))).findings;

describe('erasure of a former member’s personal values', () => {
  let before: Body[];
  let entries: string[];
  let note: string;
  const lines: string[] = [];
  const collector = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    lines.push(...Buffer.concat(chunks).toString('utf8').trimEnd().split('\n'));
    res.writeHead(204).end();
  });
  afterAll(() => {
    openOutbound({ allowLoopback: false });
    collector.close();
  });
  const stream = async () => {
    lines.length = 0;
    await world.knex('audit_streams').where({ orgId: acme.id }).update({ lastNumber: 0, dueAt: 0, failures: 0 });
    await growAllTrees();
    await startDeliveries();
    await world.delivered();
    return lines.filter((line) => line.includes(`"actorId":"${bob.id}"`));
  };
  const archived = async (): Promise<Body[]> => {
    const { query, map } = exportTables.find(({ name }) => name === 'audit_events')!;
    const { rows } = await world.knex.raw(query, [acme.id]);
    return transaction((trx) =>
      map!(
        trx,
        acme.id,
        rows.map(({ row }: { row: string }) => row),
      ),
    ).then((texts) => texts.map((text) => JSON.parse(text)).filter((row: Body) => row.actor_id === bob.id));
  };
  const leaves = async () =>
    (
      await world.field('{ auditEntries(limit: 200) { data { number entry leafHash } } }', {
        session: await world.session(alice, acme.id),
      })
    ).data as { number: number; entry: string; leafHash: string }[];

  it('before the erasure, the audit log shows personal values, but the Merkle tree and the tables contain these values only encrypted', async () => {
    openOutbound({ allowLoopback: true });
    await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
    const address = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/audit`;
    await world.knex('audit_streams').where({ orgId: acme.id }).update({ address });
    await world.join(acme, bob, 'admin');
    await act('carol@example.com');
    before = await ofBob();
    const invite = before.find(({ action }) => action === 'invite.created');
    expect(invite).toMatchObject({
      ...{ actor: { id: bob.id, name: bob.name }, sourceAddress: '127.0.0.1', personalValues: 'readable' },
      targets: [{ name: 'carol@example.com' }],
      changes: expect.arrayContaining([{ path: 'email', before: null, after: 'carol@example.com' }]),
    });
    const about = (await list(`targetId=${bob.id}&order=oldest`)).find(({ action }) => action === 'person.updated');
    expect(about.changes).toEqual([{ path: 'name', before: bob.name, after: 'Bobbington II' }]);
    expect(await rowsWith(['Bobbington II'])).toEqual([]);
    const stored = await world.knex('audit_events').where({ orgId: acme.id, actorId: bob.id });
    expect(JSON.stringify(stored)).not.toMatch(/127\.0\.0\.1|carol|bobbington/i);
    await signCheckpoints();
    entries = (await leaves()).map(({ entry }) => entry);
    note = (await world.knex('audit_checkpoints').where({ orgId: acme.id }).orderBy('hour', 'desc').first()).note;
    expect((await stream()).some((line) => line.includes('"sourceAddress":"127.0.0.1"'))).toBe(true);
    expect((await archived()).find(({ action }) => action === 'invite.created').personal).toMatchObject({
      ...{ sourceAddress: '127.0.0.1', targetName: 'carol@example.com' },
    });
  });

  it('only an owner can erase a person, and only after the membership has ended; an unknown person is not found', async () => {
    expect(await erase(bob.id)).toMatchObject({ code: 'conflict', fields: [{ path: 'person' }] });
    expect(await erase(bob.email)).toMatchObject({ code: 'conflict' });
    await remove(bob);
    const { person: dave } = await createMember(world, acme, 'Dave', 'admin');
    expect(await erase(bob.id, dave)).toMatchObject({ code: 'forbidden' });
    for (const unknown of ['usr_unknown', (await world.person('Unknown')).id, 'unknown@example.com', 'nobody'])
      expect(await erase(unknown)).toMatchObject({ code: 'not_found' });
    expect(await findings()).toEqual([]);
  });

  it('erased personal values cannot be read anywhere: in events, exports, recordings and reviews', async () => {
    // A fork that another person has started contains copies of the recorded calls.
    const [recorded] = await world.knex('recording_parts').where({ runId });
    const fork = { runId: newId('run'), orgId: acme.id, projectId: ids.projectId, createdAt: present() };
    const changes = { id: fork.runId, status: 'completed', lease_id: null };
    await world.knex.raw('insert into runs select (jsonb_populate_record(r, ?)).* from runs r where id = ?', [
      changes,
      runId,
    ]);
    const source = {
      sourceRunId: runId,
      sourceStepId: 'stp_1',
      sourceSeq: 1,
      call: 1,
      calls: 0,
      model: 'm',
      agent: '{}',
    };
    await world.knex('run_forks').insert({ ...fork, ...source });
    await world
      .knex('recording_parts')
      .insert({ ...recorded, id: `${recorded.id}f`, contentKey: `${recorded.contentKey}f`, runId: fork.runId });
    await world.knex('runs').where({ id: runId }).update({ billingActorUserId: bob.id });
    const keys = () =>
      transaction(async (trx) => {
        const people = await peopleOfRecording(trx, (await Run.find({ id: fork.runId }, trx))!);
        return { people, key: await keyOfPart({ ...copied, personIds: people }, trx) };
      });
    const opened = `mutation { openRecordingPart(input: { runId: "${runId}", leaseId: "${ids.leaseId}", part: "early" }) { keyId } }`;
    expect(await world.field(opened, { token: serviceToken })).toEqual({ keyId: expect.any(String) });
    const copied = { id: recorded.id, orgId: acme.id };
    expect(await keys()).toMatchObject({ people: [alice.id, bob.id].sort(), key: { key: expect.anything() } });
    await world.knex('reviews').where({ runId }).update({ authorUserId: bob.id, author: bob.name });
    await world.rest('POST', '/invites', {
      session: await world.session(alice, acme.id),
      body: { email: bob.email, role: 'viewer' },
    });
    const aep = await openAep();
    const token = await world.token(alice, acme, { scopes: ['audit:read', 'members:write'] });
    const env = { AEP_URL: world.url, AEP_TOKEN: token };
    expect((await aep(['audit', 'erase', bob.id], env)).code).toBe(1);
    const { stdout, code } = await aep(['audit', 'erase', bob.id, '--yes', '--json'], env);
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      { personId: bob.id, erasedAt: Date.UTC(2026, 10, 23, 9), invites: 1, recordings: 2 },
    ]);
    const [erased] = await list('action=person.erased');
    expect(erased).toMatchObject({
      ...{ actor: { id: alice.id, name: alice.name }, targets: [{ type: 'person', id: bob.id, name: null }] },
      changes: expect.arrayContaining([{ path: 'recordings', before: null, after: 2 }]),
    });
    const after = await ofBob();
    expect(
      after.map(({ number, action, personalValues, actor }) => [number, action, personalValues, actor.name]),
    ).toEqual(after.map(({ number, action }) => [number, action, 'erased', null]));
    expect(after.map(({ number }) => number)).toEqual(expect.arrayContaining(before.map(({ number }) => number)));
    expect(after.map(({ sourceAddress }) => sourceAddress)).toEqual(after.map(() => null));
    // The email address of the invited person is encrypted with a separate key.
    expect(after.find(({ action }) => action === 'invite.created').targets[0].name).toBe('carol@example.com');
    expect(JSON.stringify([after, await list('limit=200')])).not.toMatch(/bobbington/i);
    const asked = { session: await world.session(alice, acme.id) };
    expect(
      JSON.stringify(
        await world.field('{ auditEvents(limit: 200) { data { actor { name } targets { name } } } }', asked),
      ),
    ).not.toMatch(/bobbington/i);
    const csv = (await aep(['audit', 'export', '--format', 'csv', '--actor', bob.id], env)).stdout;
    expect(csv).not.toMatch(/bobbington|127\.0\.0\.1/i);
    expect(csv).toContain(',erased');
    for (const text of [...(await stream()), ...(await archived()).map((row) => JSON.stringify(row))])
      expect(text).not.toMatch(/bobbington|127\.0\.0\.1/i);
    expect(await rowsWith(['bobbington'])).toEqual([]);
    expect(await world.knex('person_keys').where({ orgId: acme.id, subject: bob.id })).toEqual([]);
    expect(await world.knex('recording_parts').whereIn('runId', [runId, fork.runId])).toEqual([]);
    // A copy of the storage can no longer be decrypted: the parts of the run and of its fork need the keys of all people of the recording,
    // and Bob's key is deleted.
    expect((await keys()).key).toBeNull();
    const part = `mutation { openRecordingPart(input: { runId: "${runId}", leaseId: "${ids.leaseId}", part: "late" }) { keyId } }`;
    expect(await world.field(part, { token: serviceToken })).toMatchObject({ code: 'conflict' });
    expect(new Set(await world.knex('reviews').where({ runId }).pluck('author'))).toEqual(new Set(['Erased person']));
  });

  it('the audit log still verifies against earlier checkpoints after an erasure, in the service and in copies', async () => {
    world.clock.turn(hours(1));
    await signCheckpoints();
    expect(await findings(note)).toEqual([]);
    const now = await leaves();
    expect(now.slice(0, entries.length).map(({ entry }) => entry)).toEqual(entries);
    for (const { entry, leafHash } of now)
      expect(createHash('sha256').update(`\u0000${entry}`).digest('base64')).toBe(leafHash);
    await stream();
    const streamed = [...lines];
    const { findings: found, signed } = await verifyFile(
      (async function* () {
        yield* streamed;
      })(),
      { kept: checkpointsInFile(note) },
    );
    expect([found, signed > entries.length]).toEqual([[], true]);
    expect(streamed.some((line) => line.includes('"personal":'))).toBe(true);
  });

  it('personal values erased in one organization stay readable in other organizations', async () => {
    const [started] = await list('action=session.started&order=oldest', [bob, globex]);
    expect(started).toMatchObject({ personalValues: 'readable', targets: [{ name: 'test' }] });
    const [added] = await list('action=member.added', [bob, globex]);
    expect(added.targets).toEqual([{ type: 'member', id: bob.id, name: bob.name }]);
  });

  it('a repeated erasure changes nothing, and the list of former members shows no name', async () => {
    const first = await erase(bob.id);
    expect(await erase(bob.email)).toEqual(first);
    expect(await list('action=person.erased')).toHaveLength(1);
    const query = '{ formerMembers(orgId: "$org") { people { userId name email removedAt erasedAt } } }';
    const session = await world.session(alice, acme.id);
    expect((await world.field(query.replace('$org', acme.id), { session })).people).toEqual([
      { userId: bob.id, name: null, email: null, removedAt: expect.any(Number), erasedAt: first.erasedAt },
    ]);
  });

  it('a former member who joins again has a new key: later events are readable, earlier ones are not', async () => {
    world.clock.turn(hours(1));
    await world.join(acme, bob, 'admin');
    await act('carla@example.com');
    const events = await ofBob();
    const [old, fresh] = [events[0], events.at(-1)];
    expect([old.personalValues, old.actor.name, old.sourceAddress]).toEqual(['erased', null, null]);
    expect([fresh.personalValues, fresh.actor.name]).toEqual(['readable', bob.name]);
    expect(events.filter(({ sourceAddress }) => sourceAddress === '127.0.0.1').length).toBeGreaterThan(0);
    await remove(bob);
    const { erasedAt } = await erase(bob.id);
    expect(erasedAt).toBeGreaterThan(Date.UTC(2026, 10, 23, 9));
    expect((await ofBob()).every(({ personalValues }) => personalValues === 'erased')).toBe(true);
  });

  it('no new key is created for the erased person by a change that commits after the erasure, or by a change that gets its number in the audit log during the erasure', async () => {
    const late = await world.knex.transaction();
    const origin = { actorType: 'person', actorId: bob.id, surface: 'rest', address: '198.51.100.7' };
    const change = (n: number) => ({
      ...{ orgId: acme.id, source: 'invites', origin: JSON.stringify(origin) },
      after: { id: `inv_${n}`, email: 'late@example.com', role: 'viewer' },
    });
    await late('audit_changes').insert(change(1));
    await world.join(acme, bob, 'viewer');
    await remove(bob);
    await world.knex('audit_changes').insert(Array.from({ length: 600 }, (_, i) => change(i + 2)));
    await Promise.all([numberChanges(acme.id), erase(bob.id), numberChanges(acme.id), numberAllChanges()]);
    await late.commit();
    await numberAllChanges();
    expect(await world.knex('person_keys').where({ orgId: acme.id, subject: bob.id })).toEqual([]);
    const events = await list(`actorId=${bob.id}&limit=200`);
    expect(new Set(events.map(({ personalValues, sourceAddress }) => `${personalValues} ${sourceAddress}`))).toEqual(
      new Set(['erased null']),
    );
    expect(await rowsWith(['198.51.100.7'])).toEqual([]);
  });
});

describe('erasure of an invited person without an account', () => {
  it('an invited person without an account is erased by email address, regardless of letter case', async () => {
    const body = { email: 'Eve@Example.com', role: 'viewer' };
    await world.rest('POST', '/invites', { session: await world.session(alice, acme.id), body });
    const { personId, invites } = await erase('eve@example.COM');
    expect([personId, invites]).toEqual([expect.stringMatching(/^adr_[\w-]{43}$/), 1]);
    expect((await list('action=invite.created&limit=1'))[0]).toMatchObject({
      ...{ personalValues: 'erased', sourceAddress: '127.0.0.1', targets: [{ name: null }] },
    });
    await world.delivered();
    expect(await rowsWith(['eve@example.com'])).toEqual([]);
  });
});

describe('erasure of an invited person whose account the organization has never seen', () => {
  it('an erasure by email address does not reveal that the person has an account', async () => {
    const carol = await world.person('Carol');
    const body = { email: carol.email, role: 'viewer' };
    await world.rest('POST', '/invites', { session: await world.session(alice, acme.id), body });
    const { personId, invites } = await erase(carol.email);
    expect([personId, invites]).toEqual([expect.stringMatching(/^adr_/), 1]);
  });
});

describe('erasure of a directory user', () => {
  it('only an inactive directory user can be erased; events never contain names or email addresses of directory users', async () => {
    const dan = { id: newId('directoryUser'), orgId: acme.id, userName: 'dan@corp.example', email: 'dan@corp.example' };
    const at = present();
    const row = {
      ...dan,
      displayName: 'Dan Dare',
      active: true,
      isOffered: false,
      version: 1,
      createdAt: at,
      updatedAt: at,
    };
    await world.knex('directory_users').insert(row);
    expect(await erase(dan.email)).toMatchObject({
      code: 'conflict',
      description: expect.stringContaining('is active'),
    });
    await world.knex('directory_users').where({ id: dan.id }).update({ active: false, displayName: 'Daniel Dare' });
    expect((await erase(dan.email)).personId).toMatch(/^adr_/);
    expect((await list('action=directory_user.created&limit=1'))[0].targets).toEqual([
      { id: dan.id, name: dan.id, type: 'directory_user' },
    ]);
    await numberAllChanges();
    // The name contains a space, so it cannot occur in an encrypted value by chance.
    expect(await rowsWith(['dan@corp.example', ' Dare'])).toEqual([]);
  });
});

describe('sealed values of audit events', () => {
  it('a sealed value that was changed, or copied from another event, is read as null, and the verification names its entry', async () => {
    await world.rest('POST', '/invites', {
      session: await world.session(alice, acme.id),
      body: { email: 'frank@example.com', role: 'viewer' },
    });
    const [event] = await list('action=invite.created&limit=1');
    await growAllTrees();
    const where = { orgId: acme.id, number: event.number };
    const { changes } = await world.knex('audit_events').where(where).first();
    const flipped = JSON.stringify(changes).replace(
      /("sealed":\{"[\w-]+":".{30})(.)/,
      (_, head, byte) => head + (byte === 'A' ? 'B' : 'A'),
    );
    await world.knex('audit_events').where(where).update({ changes: flipped });
    expect(await findings()).toEqual([`Entry ${event.number} was edited.`]);
    const [read] = await list('action=invite.created&limit=1');
    expect(read.personalValues).toBe('altered');
    await world
      .knex('audit_events')
      .where(where)
      .update({ changes: JSON.stringify(changes) });
    expect(await findings()).toEqual([]);
    // A sealed value cannot be opened for another event.
    const other = { orgId: acme.id, number: event.number - 1 };
    await world
      .knex('audit_events')
      .where(other)
      .update({ changes: JSON.stringify(changes) });
    expect((await list(`after=${event.number - 2}&order=oldest&limit=1`))[0]).toMatchObject({
      personalValues: 'altered',
    });
  });
});

describe('retention of keys and erasures', () => {
  it('the retention of the audit log deletes keys and erasures that no event needs any longer, and keeps the rest', async () => {
    await world.knex('audit_counters').where({ orgId: acme.id }).update({ retentionDays: 30 });
    world.clock.turn(days(20));
    await world.rest('POST', '/budgets', {
      session: await world.session(alice, acme.id),
      body: { subject: 'organization', period: 'day', amountUsd: 5 },
    });
    await numberAllChanges();
    const subjects = async () => [
      ...(await world.knex('person_keys').where({ orgId: acme.id }).pluck('subject')),
      ...(await world.knex('person_erasures').where({ orgId: acme.id }).pluck('subject')),
    ];
    await deleteOldEvents();
    expect((await subjects()).length).toBeGreaterThan(2);
    world.clock.turn(days(12));
    await deleteOldEvents();
    expect(await subjects()).toEqual([alice.id]);
    const [event] = await list('action=budget.created&limit=1');
    expect(event).toMatchObject({ sourceAddress: '127.0.0.1', personalValues: 'readable' });
  });
});
