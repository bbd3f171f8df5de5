// The inbox: items that wait for people, in order. Everybody who may act on an item sees it until one person has acted.
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { isNotWithheldSql } from '#domain/work/runs/states.ts';
import { days, hours, minutes } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { type Account, type CallersWithProjects, createCallersWithProjects, createMember } from '../support/callers.ts';
import { type Place, showFragments, startSandbox, writeSteps } from '../support/runtime-records.ts';
import { eventsOf } from '../support/server-sent-events.ts';
import { openWorld, present, type World } from '../support/world.ts';

let world: World;
let callers: CallersWithProjects;
let bob: Account;
let shop: Place;
const sha = 'a'.repeat(40);

beforeAll(async () => {
  world = await openWorld();
  callers = await createCallersWithProjects(world);
  ({ shop } = callers);
  await world.grant(callers.owner.organization, 1_000);
  bob = await createMember(world, callers.owner.organization, 'Bob', 'member');
});
afterAll(() => world.close());
// Each test begins with an empty inbox.
afterEach(async () => {
  await world.knex.raw('delete from inbox_marks');
  await world.knex('inbound_hooks').delete();
  await world.knex('sandboxes').delete();
  await world.knex('runs').delete();
});

let made = 0;
/** Inserts a run as its runtime would have left it. The run is created a minute after the previous run. */
async function run(missionTitle: string, more: object): Promise<`run_${string}`> {
  const id = newId('run');
  const at = present() + ++made * minutes(1) - hours(20);
  await world.knex('runs').insert({
    ...{ id, ...shop, scheduledFor: at, kind: 'manual', missionTitle, status: 'running', issueId: id },
    ...{ leaseId: newId('lease'), leaseUntil: present() + minutes(1), prompt: 'Do it.' },
    ...{ billingActorUserId: callers.owner.person.id, createdAt: at, updatedAt: at, ...more },
  });
  return id;
}
const ended = (status: string, age = hours(1)) => ({ status, finishedAt: present() - age });
const changed = { branch: 'mission/1', headSha: sha, changedFiles: 2, prState: 'open', prNumber: 7 };
async function asks(runId: `run_${string}`, at: number, question: object): Promise<string> {
  const sandbox = await startSandbox(shop, { runId });
  await showFragments(sandbox, [{ kind: 'elicitation', toolUseId: 'q1', at, ...question }]);
  return sandbox.id;
}
async function waitingEvent(): Promise<{ hookId: string; deliveryId: string }> {
  const { token } = callers.owner;
  const { body } = await world.rest('POST', '/inbound-hooks', {
    token,
    body: { name: 'GitHub', vendor: 'github' },
  });
  const [hookId, deliveryId, at] = [body.hook.id, newId('inboundDelivery'), present()];
  const outcome = {
    recurringId: 'sch_1',
    name: 'Triage',
    result: 'waiting',
    reason: 'eve may not write.',
    runId: null,
  };
  await world.knex('inbound_deliveries').insert({
    ...{
      id: deliveryId,
      orgId: shop.orgId,
      hookId,
      externalId: deliveryId,
      event: 'issues.opened',
      title: 'Issue #3 opened by eve',
    },
    ...{ status: 'waiting', reason: 'eve may not write.', outcomes: JSON.stringify([outcome]) },
    ...{ receivedAt: at - hours(3), createdAt: at },
  });
  return { hookId, deliveryId };
}

const read = (account: { token: string }, args = '') =>
  world.field(`{ inbox${args} { data { id kind title detail since } nextCursor } }`, { token: account.token });
const titles = async (account: { token: string }, args = ''): Promise<string[]> =>
  (await read(account, args)).data.map(({ kind, title }: { kind: string; title: string }) => `${kind}: ${title}`);
const act = (account: { token: string }, mutation: string) =>
  world.field(`mutation { ${mutation} }`, { token: account.token });

it('the inbox lists waiting items in pages, urgent ones first, then the oldest', async () => {
  const at = present();
  const planned = await run('Planned', { status: 'dispatching', awaitsApproval: true });
  await writeSteps(shop, planned, [
    { role: 'planner', output: { steps: ['Add the column', 'Fill it'] } as never, finishedAt: at - 7 },
  ]);
  await run('Poor', {
    parkedAt: at - 6,
    parkedBy: 'budget',
    parkedReason: 'It has cost 5.00 of its budget of 5.00 USD.',
  });
  await run('Slow', { parkedAt: at - 5, parkedBy: 'time', parkedReason: 'It has used 60 minutes.' });
  for (const ms of [3, 4])
    await run(`Capped ${ms}`, { parkedAt: at - ms, parkedBy: 'cap', parkedReason: 'Missions have cost 100.00.' });
  const asked = await asks(await run('Curious', {}), at - 2, { body: 'Which column?', choices: ['name', 'id'] });
  await asks(await run('Careful', {}), at - 1, { body: 'May I?', action: 'shop.delete', parameter: '{"id":1}' });
  const { deliveryId } = await waitingEvent();
  await run('Ready', { ...ended('completed', hours(2)), ...changed });
  const failed = await run('Broke', { ...ended('failed'), reason: 'The tests fail.' });
  await run('Fine', ended('completed'));
  await run('Long ago', ended('failed', days(20)));
  const whole = [
    'approval: Planned',
    'budget: Poor',
    'limit: Slow',
    'spending: 2 missions wait for the daily cap',
    'answer: Curious',
    'decision: Careful',
    'event: Issue #3 opened by eve',
    'review: Ready',
    'failure: Broke',
  ];
  expect(await titles(callers.owner)).toEqual(whole);
  const first = await read(callers.owner, '(limit: 5)');
  expect(first.data[0]).toEqual({
    ...{ id: `approval-${planned}`, kind: 'approval', title: 'Planned' },
    ...{ detail: '1. Add the column\n2. Fill it', since: at - 7 },
  });
  expect([
    ...first.data,
    ...(await read(callers.owner, `(limit: 5, cursor: "${first.nextCursor}")`)).data,
  ]).toHaveLength(9);
  const { status, body } = await world.rest('GET', '/inbox?limit=200', { token: callers.owner.token });
  expect(status).toBe(200);
  expect(body.data[4]).toMatchObject({
    id: `answer-${asked}-0`,
    question: { sandboxId: asked, seq: 0, text: 'Which column?', choices: ['name', 'id'], tool: null, arguments: null },
  });
  expect(body.data[6]).toMatchObject({ id: `event-${deliveryId}`, runId: null, deliveryId, isUrgent: false });
  const related = await world.field('{ inbox { data { id run { startedBy } project { name } delivery { event } } } }', {
    token: callers.owner.token,
  });
  expect(related.data[8]).toEqual({
    ...{ id: `failure-${failed}`, run: { startedBy: 'Alice' }, project: { name: 'Shop' }, delivery: null },
  });
  expect(related.data[6].delivery).toEqual({ event: 'issues.opened' });
});

it('an inbox item is shown only to people who may act on it', async () => {
  await run('Poor', { parkedAt: present(), parkedBy: 'cap' });
  await run('Broke', ended('failed'));
  await run('Elsewhere', {
    ...ended('failed', minutes(30)),
    projectId: callers.other.projectId,
    billingActorUserId: bob.person.id,
  });
  await waitingEvent();
  expect(await titles(callers.owner)).toHaveLength(4);
  expect(await titles(bob)).toEqual(['failure: Broke', 'failure: Elsewhere']);
  expect(await titles(bob, '(mine: true)')).toEqual(['failure: Elsewhere']);
  expect(await titles(callers.viewer)).toEqual([]);
  expect(await titles(callers.stranger)).toEqual([]);
  expect(await titles({ token: callers.projectToken })).toEqual(['failure: Broke']);
  expect(await world.field('{ inboxCount { count } }', { token: bob.token })).toEqual({ count: 2 });
});

it('only the newest run of a task, an issue or a branch is in the inbox, until somebody has reviewed it', async () => {
  const schedule = { interval: 'weekly', time: '09:00', timezone: 'UTC', weekday: 'monday' };
  const task = {
    name: 'Check',
    prompt: 'Look.',
    triggers: [{ kind: 'schedule', schedule }],
    projectId: shop.projectId,
  };
  const { body } = await world.rest('POST', '/scheduled-tasks', { token: callers.owner.token, body: task });
  const recurringId = body.id;
  await run('Monday', { ...ended('failed'), recurringId });
  await run('Tuesday', { ...ended('failed'), recurringId });
  await run('Wednesday', { ...ended('skipped'), recurringId });
  // The inbox shows all scheduled runs of a task as one item. A run that was started by an event, instead of the schedule, has an inbox
  // item of its own.
  await run('Event', { ...ended('failed'), recurringId, originDeliveryId: 'dlv_1' });
  await run('Broke', { ...ended('failed'), issueId: 'iss_1' });
  await run('Continued', { ...ended('completed'), issueId: 'iss_1' });
  await run('Reviewed once', { ...ended('completed'), ...changed });
  const newest = await run('Changed again', { ...ended('completed'), ...changed, headSha: 'b'.repeat(40) });
  await run('Merged', { ...ended('completed'), ...changed, branch: 'mission/2', prState: 'merged' });
  await world
    .knex('runs')
    .where({ missionTitle: 'Event' })
    .update({ createdAt: present() - days(1) });
  expect((await titles(bob)).sort()).toEqual(['failure: Event', 'failure: Tuesday', 'review: Changed again']);
  const review = { runId: newest, headSha: 'b'.repeat(40), verdict: 'approve' };
  const submit = 'mutation ($input: SubmitReviewRequest!) { submitReview(input: $input) { verdict } }';
  expect(await world.field(submit, { token: bob.token, variables: { input: review } })).toEqual({ verdict: 'approve' });
  expect((await titles(bob)).sort()).toEqual(['failure: Event', 'failure: Tuesday']);
});

it('a person can hide an inbox item until something new happens to it, or until a given time', async () => {
  const id = await run('Poor', { parkedAt: present(), parkedBy: 'budget' });
  const item = `budget-${id}`;
  const mark = (args = '') => act(bob, `markInboxItemDone(itemId: "${item}"${args}) { id isDone hiddenUntil }`);
  expect(await mark()).toEqual({ id: item, isDone: true, hiddenUntil: null });
  expect(await mark()).toEqual({ id: item, isDone: true, hiddenUntil: null });
  expect(await titles(bob)).toEqual([]);
  expect(await titles(callers.owner)).toHaveLength(1);
  expect(await titles(bob, '(hidden: true)')).toEqual(['budget: Poor']);
  expect(await act(bob, `restoreInboxItem(itemId: "${item}") { isDone }`)).toEqual({ isDone: false });
  expect(await titles(bob)).toHaveLength(1);

  const until = present() + hours(1);
  expect(await mark(`, until: ${until}`)).toMatchObject({ hiddenUntil: until });
  expect(await titles(bob)).toEqual([]);
  world.clock.turn(hours(1) + 1);
  expect(await titles(bob)).toHaveLength(1);

  await mark();
  await world
    .knex('runs')
    .where({ id })
    .update({ parkedAt: present() + 1 });
  expect(await titles(bob)).toHaveLength(1);
  for (const bad of [present(), present() + days(91)])
    expect(await mark(`, until: ${bad}`)).toMatchObject({ fields: [{ path: 'until' }] });
  expect(await act(callers.stranger, `markInboxItemDone(itemId: "${item}") { id }`)).toMatchObject({
    description: 'No such inbox item.',
  });
});

it('two concurrent reruns of a failed mission start one run, and its inbox item disappears', async () => {
  const id = await run('Broke', { ...ended('failed'), maxMinutes: 5, issueText: 'The issue.' });
  const rerun = (token: string) => world.rest('POST', `/runs/${id}/rerun`, { token });
  const [one, other] = await Promise.all([rerun(bob.token), rerun(callers.owner.token)]);
  expect([one.status, other.status]).toEqual([201, 201]);
  expect(one.body).toMatchObject({ id: other.body.id, status: 'dispatching', prompt: 'Do it.', issueId: id });
  expect(await world.knex('runs').where({ id: one.body.id })).toMatchObject([
    { maxMinutes: 5, issueText: 'The issue.' },
  ]);
  expect(await titles(bob)).toEqual([]);
  await world.knex('runs').where({ id: one.body.id }).update(ended('failed'));
  expect(await titles(bob)).toEqual(['failure: Do it.']);
  expect((await rerun(bob.token)).body.id).not.toBe(one.body.id);
  await world.knex('runs').where({ id }).update({ prompt: null });
  await world.knex('runs').update({ rerunAs: null });
  expect((await rerun(bob.token)).status).toBe(409);
});

it('an event that waits for approval is dismissed from the inbox for everybody', async () => {
  const { hookId, deliveryId } = await waitingEvent();
  const dismiss = () =>
    world.rest('POST', `/inbound-hooks/${hookId}/deliveries/${deliveryId}/dismissal`, { token: callers.owner.token });
  const { status, body } = await dismiss();
  expect([status, body.status, body.reason]).toEqual([200, 'ignored', 'Dismissed by Alice.']);
  expect(body.outcomes).toMatchObject([{ result: 'ignored', reason: 'Dismissed by Alice.' }]);
  expect(await titles(callers.owner)).toEqual([]);
  expect((await dismiss()).status).toBe(409);
});

it('open pages receive the new number of inbox items after each change', async () => {
  const leaving = new AbortController();
  const query = new URLSearchParams({ query: 'subscription { inboxUpdated { count } }' });
  const response = await fetch(`${world.url}/graphql?${query}`, {
    headers: { authorization: `Bearer ${bob.token}`, accept: 'text/event-stream' },
    signal: leaving.signal,
  });
  const counts: number[] = [];
  const reading = (async () => {
    for await (const { data } of eventsOf(response)) if (data) counts.push(data.data.inboxUpdated.count);
  })().catch(() => {});
  await vi.waitFor(() => expect(counts).toEqual([0]));
  const runId = await run('Curious', {});
  await asks(runId, present(), { body: 'Which?' });
  await vi.waitFor(() => expect(counts.at(-1)).toBe(1));
  await act(callers.owner, `answerElicitation(runId: "${runId}", text: "This one.") { id }`);
  await vi.waitFor(() => expect(counts.at(-1)).toBe(0));
  leaving.abort();
  await reading;
});

it('PostgreSQL expects that most ended runs are shown, so that it reads only the newest of them', async () => {
  for (let n = 0; n < 20; n++) await run(`Ended ${n}`, ended('failed'));
  await world.knex.raw('analyze runs');
  const shown = `explain (format json) select from runs r where ${isNotWithheldSql('r')}`;
  const [{ 'QUERY PLAN': plan }] = (await world.knex.raw(shown)).rows;
  expect(plan[0].Plan['Plan Rows']).toBe(20);
});
