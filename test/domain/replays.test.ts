// Replay of a mission, and the link that shows it to people who are not members of the organization.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createMask } from '#domain/work/replays/masking.ts';
import { days, minutes } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { type Callers, createCallers, createProject } from '../support/callers.ts';
import {
  leaveArtifact,
  type Place,
  showFragments,
  spend,
  startSandbox,
  startSession,
  writeMessages,
  writeSteps,
} from '../support/runtime-records.ts';
import { openWorld, present, type World } from '../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

let world: World;
let callers: Callers;
let shop: Place;
let runId: `run_${string}`;
/** The time at which the mission begins; its events are whole minutes later. */
let begin: number;

beforeAll(async () => {
  world = await openWorld();
  callers = await createCallers(world);
  shop = { orgId: callers.owner.organization.id, projectId: await createProject(world, callers.owner, 'Shop') };
  const body = {
    scope: 'organization',
    kind: 'secret',
    name: 'TOKEN',
    value: 'tulip-4711-garden',
    hosts: ['api.example.com'],
  };
  const session = await world.session(callers.owner.person, shop.orgId);
  expect((await world.rest('POST', '/secrets', { session, body })).status).toBe(201);
  begin = present();
  runId = newId('run');
  const at = (n: number) => begin + minutes(n);
  await world.knex('runs').insert({
    ...{
      id: runId,
      ...shop,
      kind: 'manual',
      missionTitle: 'Mail alice@example.com',
      prompt: 'Go.',
      status: 'completed',
    },
    ...{
      issueId: 'SHOP-1',
      scheduledFor: begin,
      createdAt: begin,
      updatedAt: begin,
      startedAt: at(1),
      finishedAt: at(9),
    },
  });
  const sandbox = await startSandbox(shop, { runId });
  await writeSteps(shop, runId, [
    { role: 'planner', createdAt: at(1), startedAt: at(1), finishedAt: at(3), status: 'completed' },
    { role: 'builder', createdAt: at(3), startedAt: at(4), finishedAt: at(8), status: 'completed' },
  ]);
  await showFragments(sandbox, [
    { kind: 'plan', at: at(2), items: [{ content: 'Read', status: 'in_progress' }] },
    { kind: 'response', at: at(5), body: 'The token is tulip-4711-garden, see https://intranet.example/x' },
    { kind: 'plan', at: at(6), items: [{ content: 'Read', status: 'completed' }] },
  ]);
  await writeMessages(shop, runId, [{ text: 'Ask 10.1.2.3', author: 'Alice', createdAt: at(7) }]);
  await spend(shop, 0.5, { runId, at: at(2) });
  await spend(shop, 0.25, { runId, at: at(6) });
  const { role, sessionId } = await startSession(sandbox);
  await world.knex('sandbox_log_parts').insert(
    [2, 6].map((n, seq) => ({
      ...{ sandboxId: sandbox.id, role, sessionId, part: 'session', seq },
      ...{ content: `<b>line ${n}</b> password=${'hunter2hunter'}\n`, appendedAt: at(n) },
    })),
  );
  const diff = 'diff --git a/a.ts b/a.ts\n--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n-1\n+2\n';
  const described = {
    caption: 'change.diff',
    contentType: 'text/x-diff',
    kind: 'file',
    sandboxId: sandbox.id,
  } as const;
  const { id: artifactId } = await leaveArtifact(shop, diff, { ...described, createdAt: at(7) });
  await world.knex('change_versions').insert({
    ...{ runId, headSha: 'a'.repeat(40), ...shop, branch: 'mission', role: 'builder', artifactId, createdAt: at(7) },
  });
  // An agent's file has the same name as the diff. It must not be shown as the diff.
  await leaveArtifact(shop, diff.replaceAll('a.ts', 'b.ts'), { ...described, createdAt: at(8) });
  world.clock.turn(minutes(10));
});
afterAll(() => world.close());

const ask = (query: string, token = callers.owner.token): Promise<Json> => world.field(query, { token });
const momentAt = (n: number, as?: string): Promise<Json> =>
  ask(
    `{ runMoment(runId: "${runId}", at: ${begin + minutes(n)}) { status costUsd steps { role status } plan { content status }
      messages { text } fragments { kind } log paths } }`,
    as,
  );
const create = (more = ''): Promise<Json> =>
  ask(`mutation { createRunShare(runId: "${runId}"${more}) { address share { id runId expiresAt uses revokedAt } } }`);
const open = async (address: string, query = '') => {
  const answer = await fetch(address + query);
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};

it('a replay shows plan, steps, messages, transcript, log, files and cost as they were at a chosen moment', async () => {
  expect(await momentAt(2)).toEqual({
    ...{ status: 'running', costUsd: 0.5, steps: [{ role: 'planner', status: 'running' }], messages: [] },
    ...{ plan: [{ content: 'Read', status: 'in_progress' }], fragments: [{ kind: 'plan' }], paths: null },
    log: '<b>line 2</b> password=hunter2hunter\n',
  });
  expect(await momentAt(7)).toMatchObject({
    ...{ status: 'running', costUsd: 0.75, messages: [{ text: 'Ask 10.1.2.3' }], paths: ['a.ts'] },
    plan: [{ content: 'Read', status: 'completed' }],
    steps: [
      { role: 'planner', status: 'completed' },
      { role: 'builder', status: 'running' },
    ],
  });
  expect(await momentAt(0)).toMatchObject({ status: 'dispatching', costUsd: 0, steps: [], fragments: [], log: '' });
  expect(await momentAt(9)).toMatchObject({ status: 'completed' });
  expect((await momentAt(-1)).description).toContain('at');
  expect((await momentAt(2, callers.stranger.token)).code).toBe('not_found');
  const { data } = await ask(`{ runEvents(runId: "${runId}") { data { at kind text } } }`);
  expect(data.map(({ at, kind }: Json) => [(at - begin) / minutes(1), kind])).toEqual([
    ...[
      [0, 'start'],
      [1, 'step'],
      [2, 'plan'],
      [3, 'step'],
      [4, 'step'],
      [6, 'plan'],
      [7, 'message'],
      [7, 'artifact'],
    ],
    ...[
      [8, 'step'],
      [8, 'artifact'],
      [9, 'end'],
    ],
  ]);
});

it('the replay of a mission that has more than 500 events shows the newest 500 events', async () => {
  const id = newId('run');
  const created = { createdAt: begin, updatedAt: begin, scheduledFor: begin, finishedAt: begin + 1_000 };
  await world.knex('runs').insert({ id, ...shop, kind: 'manual', status: 'completed', issueId: 'SHOP-2', ...created });
  const errors = Array.from({ length: 600 }, (_, n) => ({
    kind: 'error' as const,
    at: begin + 1 + n,
    body: `Error ${n}`,
  }));
  await showFragments(await startSandbox(shop, { runId: id }), errors);
  const { data } = await ask(`{ runEvents(runId: "${id}") { data { text } } }`);
  expect(data.map(({ text }: Json) => text)).toEqual([
    ...errors.slice(-499).map(({ body }) => body),
    'Mission completed',
  ]);
});

it('a replay link shows the masked mission without a sign-in, counts its reads, and ends when it is revoked or expires', async () => {
  const { address, share } = await create();
  expect(share).toMatchObject({ runId, uses: 0, revokedAt: null, expiresAt: present() + days(7) });
  const page = await open(address);
  expect(page.status).toBe(200);
  for (const hidden of ['tulip-4711', 'intranet', 'alice@', 'Alice', '10.1.2.3', 'hunter2', '<b>', shop.orgId, runId])
    expect(page.text).not.toContain(hidden);
  for (const shown of ['The token is [secret], see [address]', 'Mail [address]', '&lt;b&gt;line 6', 'a.ts', '0.75 USD'])
    expect(page.text).toContain(shown);
  expect(page.headers.get('x-robots-tag')).toContain('noindex');
  expect(page.headers.get('referrer-policy')).toBe('no-referrer');
  expect(page.headers.get('cache-control')).toBe('no-store');
  expect(page.headers.get('content-security-policy')).not.toContain('script-src');
  const earlier = await open(address, `?at=${begin + minutes(2)}`);
  expect(earlier.text).toContain('0.50 USD');
  expect(earlier.text).not.toContain('line 6');
  expect((await open(address, '?at=x')).status).toBe(400);

  const list = `{ runShares(runId: "${runId}") { data { id uses lastUsedAt createdBy revokedBy } } }`;
  expect((await ask(list)).data).toEqual([
    { id: share.id, uses: 2, lastUsedAt: present(), createdBy: 'Alice', revokedBy: null },
  ]);
  expect(JSON.stringify(await world.knex('run_shares'))).not.toContain(address.split('/').at(-1));
  expect((await open(`${address.slice(0, -1)}${address.endsWith('A') ? 'B' : 'A'}`)).status).toBe(404);

  const revoke = `mutation { revokeRunShare(shareId: "${share.id}") { revokedBy } }`;
  expect((await ask(revoke, callers.viewer.token)).code).toBe('missing_scope');
  expect((await ask(revoke, callers.stranger.token)).code).toBe('not_found');
  expect(await ask(revoke)).toEqual({ revokedBy: 'Alice' });
  expect(await ask(revoke)).toEqual({ revokedBy: 'Alice' });
  expect((await open(address)).status).toBe(404);

  const { address: short } = await create(', days: 1');
  world.clock.turn(days(1));
  expect((await open(short)).status).toBe(404);
  expect((await create(', days: 31')).description).toContain('days');
  for (let i = 0; i < 20; i++) await create();
  expect((await create()).description).toContain('20 active links');
});

it.each([
  ['ghp_0123456789abcdefABCD and sk-ant-api03-abcdefghijkl', '[secret] and [secret]'],
  ['Authorization: Bearer abcdefghijklmnop', 'Authorization: Bearer [secret]'],
  ['DB_PASSWORD="s3cretpass" next', 'DB_PASSWORD="[secret]" next'],
  ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----', '[secret]'],
  ['postgres://u:p@db:5432/x, fe80:0:0:0:1:2:3:4, 12:30:45', '[address] [address], 12:30:45'],
  ['v1.2.3 of a.ts:12 costs 0.50', 'v1.2.3 of a.ts:12 costs 0.50'],
])('a shared replay shows the text %j as %j', (text, masked) => {
  expect(createMask([])(text)).toBe(masked);
});
