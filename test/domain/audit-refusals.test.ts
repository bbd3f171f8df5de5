// Refusals in the audit log: what was refused to whom, and how an attack is counted without filling the log.
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { issueAccessToken } from '#domain/identity/oauth/access-tokens.ts';
import { SignIn } from '#domain/identity/oauth/sign-ins.ts';
import { recordedPerHour, recordOmittedRefusals } from '#domain/organization/audit-changes/refusals.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { days, hours, now } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { createOwner, createProject } from '../support/callers.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let acme: Organization;
let alice: Person;
beforeAll(async () => {
  world = await openWorld();
  // `createOwner` would also create a token, which would be the first event of the audit log.
  alice = await world.person('Alice');
  acme = await world.found(alice, 'Acme');
});
afterAll(() => world.close());

// biome-ignore lint/suspicious/noExplicitAny: bodies of answers
type Body = any;
const list = async (query: string, orgId = acme.id): Promise<Body[]> => {
  const session = await world.session(alice, orgId);
  return (await world.rest('GET', `/audit-events?limit=200&${query}`, { session })).body.data;
};
/** The events of the log. Waits for the expected number of events, because refusals are recorded after the response. */
const recorded = (query: string, count: number): Promise<Body[]> =>
  vi.waitFor(async () => {
    const events = await list(query);
    expect(events).toHaveLength(count);
    return events;
  });
const agent = { name: 'Smith', role: 'builder', harness: 'shell', model: 'none', sandbox: { kind: 'existing' } };

it('the audit log records each call that lacks the required scope, and names the caller: over REST, GraphQL and MCP', async () => {
  const token = await world.token(alice, acme, { scopes: ['projects:read'] });
  const [{ id }] = (await world.rest('GET', '/tokens', { session: await world.session(alice, acme.id) })).body.data;
  expect((await world.rest('POST', '/agents', { token, body: agent })).status).toBe(403);
  await recorded('action=operation.refused', 1);
  await world.graphql('mutation { deleteAgent(agentId: "agt_1") { ok } }', { token });
  await recorded('action=operation.refused', 2);
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'delete_agent', arguments: {} } };
  const headers = { accept: 'application/json, text/event-stream' };
  await world.request('POST', '/mcp', { token, headers, body: call });
  const events = await recorded('action=operation.refused', 3);
  expect(events.map(({ surface, operation }) => [surface, operation])).toEqual([
    ['mcp', 'deleteAgent'],
    ['graphql', 'deleteAgent'],
    ['rest', 'createAgent'],
  ]);
  expect(events[2]).toMatchObject({
    ...{ actor: { type: 'person', id: alice.id, name: 'Alice' }, credentialId: id, sourceAddress: '127.0.0.1' },
    targets: [{ type: 'operation', id: 'createAgent', name: null }],
    changes: [{ path: 'reason', before: null, after: expect.stringContaining('agents:write') }],
  });
});

it('the audit log records a query that a project-bound token may not execute, over REST and GraphQL', async () => {
  const projectId = await createProject(world, { token: await world.token(alice, acme) }, 'Bound');
  const token = await world.token(alice, acme, { scopes: ['audit:read'], projectId });
  const refused = () => recorded('targetId=auditRetention', 1);
  expect((await world.graphql('{ auditRetention { days } }', { token })).body.errors).toHaveLength(1);
  expect(await refused()).toMatchObject([{ action: 'operation.refused', surface: 'graphql' }]);
  expect((await world.rest('GET', '/audit-checkpoints', { token })).status).toBe(403);
  expect(await recorded('targetId=auditCheckpoints', 1)).toMatchObject([{ surface: 'rest' }]);
});

it('the audit log records the use of a revoked credential, but not of an unknown credential or an expired access token', async () => {
  const session = await world.session(alice, acme.id);
  const { body: made } = await world.rest('POST', '/tokens', {
    session,
    body: { name: 'Old', scopes: ['projects:read'], expiresInDays: 1 },
  });
  await world.rest('DELETE', `/tokens/${made.id}`, { session });
  const signIn = { id: newId('signIn'), clientId: 'https://c.example/m.json', clientName: 'Client', userId: alice.id };
  await SignIn.query().insert({
    ...{ ...signIn, orgId: acme.id, projectId: null, resource: 'api', scopes: ['projects:read'] },
    ...{ createdAt: now(), expiresAt: now() + days(9) },
  });
  const grant = { resource: 'api' as const, scopes: ['projects:read'], grantExpiresAt: now() + days(9) };
  const issue = () => transaction((trx) => issueAccessToken(trx, { ...grant, owner: { signInId: signIn.id } }));
  const { accessToken: expired } = await issue();
  world.clock.turn(days(2));
  const { accessToken: ended } = await issue();
  await world.knex('sign_ins').where({ id: signIn.id }).update({ revokedAt: now() });
  for (const token of [made.token, expired, `pat_${'x'.repeat(43)}`, ended]) {
    expect((await world.rest('GET', '/projects', { token })).status).toBe(401);
  }
  const events = await recorded('action=credential.refused', 2);
  const reason = [{ path: 'reason', before: null, after: 'revoked' }];
  expect(events).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ targets: [{ type: 'credential', id: made.id, name: 'Old' }], changes: reason }),
      expect.objectContaining({ targets: [{ type: 'credential', id: signIn.id, name: 'Client' }], changes: reason }),
    ]),
  );
  // The bearer of a revoked credential need not be its owner.
  expect(events[0].actor).toEqual({ type: 'unknown', id: null, name: null });
});

it('a wrong sign-in code for a person is recorded in the audit log of every organization to which this person belongs', async () => {
  const { organization: other } = await createOwner(world, alice, 'Beside');
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
  const send = (email: string) =>
    world.request('POST', '/sign-in/code', {
      headers,
      body: new URLSearchParams({ email, code: '000000' }).toString(),
    });
  expect((await send('nobody@example.com')).status).toBe(401);
  expect((await send(alice.email)).status).toBe(401);
  const [event] = await recorded('action=sign_in.refused', 1);
  expect(event).toMatchObject({ surface: 'console', targets: [{ type: 'sign_in', id: alice.id, name: alice.email }] });
  expect(await list('action=sign_in.refused', other.id)).toHaveLength(1);
});

it('a limited number of refused calls is recorded per credential and hour; one more entry counts the refusals that were left out', async () => {
  const [token, quiet] = await Promise.all(
    ['Loud', 'Quiet'].map(() => world.token(alice, acme, { scopes: ['agents:read'] })),
  );
  const refuse = (by: string) =>
    world.rest('POST', '/projects', { token: by, body: { name: 'P', repoFullName: 'a/b' } });
  await Promise.all(Array.from({ length: recordedPerHour + 15 }, () => refuse(token!)));
  await vi.waitFor(async () => {
    const [row] = await world.knex('audit_refusals').where('count', '>', recordedPerHour);
    expect(row?.count).toBe(recordedPerHour + 15);
  });
  await refuse(quiet!);
  const from = now() - hours(1);
  await recorded(`action=operation.refused&occurredFrom=${from}`, recordedPerHour + 1);
  await recordOmittedRefusals();
  expect(await list('targetType=refusal')).toEqual([]);
  world.clock.turn(hours(1));
  await Promise.all([1, 2, 3].map(recordOmittedRefusals));
  const omitted = await list('targetType=refusal');
  expect(omitted).toMatchObject([{ action: 'refusal.omitted', targets: [{ name: 'operation' }] }]);
  expect(omitted[0].changes).toContainEqual({ path: 'omitted', before: null, after: 15 });
  expect(await world.knex('audit_refusals').where('hour', '<', Math.floor(now() / hours(1)))).toEqual([]);
});
