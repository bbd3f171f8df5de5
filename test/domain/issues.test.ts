// Issues of the built-in tracker as people use them: an agent is assigned, comments steer and continue its mission, and rules start other
// missions.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { continuePullRequests } from '#domain/execution/pull-requests/continue.ts';
import { answerWaits } from '#domain/work/runs/answers.ts';
import { minutes } from '#foundation/clock.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { type Account, createCallers, createMember, createProject } from '../support/callers.ts';
import { createRuntime, type Runtime } from '../support/runtime-client.ts';
import { openWorld, type World } from '../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

let world: World;
let owner: Account;
let viewer: Account;
let stranger: Account;
let bob: Account;
let runtime: Runtime;
let projectId: string;
let agentId: string;

beforeAll(async () => {
  openOutbound({ allowLoopback: true });
  world = await openWorld();
  // The clock advances at each reading, so that comments have different times.
  world.clock.tick(1);
  ({ owner, viewer, stranger } = await createCallers(world));
  bob = await createMember(world, owner.organization, 'Bob', 'member');
  await world.grant(owner.organization, 1_000);
  await world.lift(owner.organization);
  runtime = await createRuntime(world, owner.organization);
  projectId = await createProject(world, owner, 'Shop');
  const sandbox = { kind: 'existing', templateId: 'standard' };
  const agent = { name: 'Fixer', role: 'builder', harness: 'claude-code', model: 'claude-sonnet-4-5', sandbox };
  agentId = (await world.rest('POST', '/agents', { token: owner.token, body: agent })).body.id;
});
afterAll(async () => {
  await world.close();
  openOutbound({ allowLoopback: false });
});
afterEach(async () => {
  await world.knex('recurring_missions').delete();
  await world.knex('runs').delete();
  await world.knex('issues').delete();
  await world.knex('inbound_deliveries').delete();
});

const ask = (query: string, variables: object = {}, { token }: Pick<Account, 'token'> = owner): Promise<Json> =>
  world.field(query, { token, variables: { ...variables } });
const issueFields =
  '{ id key title body labels state agentId assigneeUserId assigneeName createdByUserId runId updatedAt }';
const write = (input: object = {}, by?: Account) =>
  ask(
    `mutation ($input: CreateIssueRequest!) { createIssue(input: $input) ${issueFields} }`,
    { input: { projectId, title: 'Wrong year', body: 'The footer says 2019.', ...input } },
    by,
  );
const assign = (issueId: string, assigneeId: string | null, by?: Account) =>
  ask(
    `mutation ($issueId: String!, $assigneeId: String) { assignIssue(issueId: $issueId, assigneeId: $assigneeId) ${issueFields} }`,
    { issueId, assigneeId },
    by,
  );
const change = (issueId: string, input: object, by?: Account) =>
  ask(
    `mutation ($issueId: String!, $input: UpdateIssueRequest!) { updateIssue(issueId: $issueId, input: $input) ${issueFields} }`,
    { issueId, input },
    by,
  );
const comment = (issueId: string, body: string, by?: Account) =>
  ask(
    `mutation ($issueId: String!, $body: String!) { commentOnIssue(issueId: $issueId, body: $body) { id author effect } }`,
    { issueId, body },
    by,
  );
const edit = (commentId: string, body: string, by?: Account) =>
  ask(
    `mutation ($issueCommentId: String!, $body: String!) { updateIssueComment(issueCommentId: $issueCommentId, body: $body) { body effect } }`,
    { issueCommentId: commentId, body },
    by,
  );
const remove = (commentId: string, by?: Account) =>
  ask(
    'mutation ($issueCommentId: String!) { deleteIssueComment(issueCommentId: $issueCommentId) { id body } }',
    { issueCommentId: commentId },
    by,
  );
const comments = async (issueId: string): Promise<Json[]> =>
  (
    await ask(
      `query ($issueId: String!) { issueComments(issueId: $issueId, limit: 50, order: oldest) { data { author body runId effect } } }`,
      { issueId },
    )
  ).data;
const runs = (): Promise<Json[]> => world.knex('runs').orderBy('createdAt');
const stateOf = async (issueId: string) => (await world.knex('issues').where({ id: issueId }).first('state')).state;

const claim = (): Promise<Json> =>
  runtime.claim({}, '{ runId leaseId branch prompt step { stepId prompt resumeSessionId } }');
const beat = (held: Json) => runtime.beat(held, {}, '{ messages { messageId author text } }');
async function checkpoint({ runId, leaseId, step: { stepId } }: Json): Promise<void> {
  const selection = '{ contentKey uploadUrl }';
  const { contentKey, uploadUrl } = await runtime.report('createArtifactUpload', { runId, leaseId }, selection);
  await fetch(uploadUrl, { method: 'PUT', body: 'bundle' });
  const saved = { contentKey, commitSha: 'a'.repeat(40), sessionId: 'session-1' };
  await runtime.report('reportCheckpoint', { runId, leaseId, stepId, ...saved });
}
async function finish(held: Json): Promise<void> {
  const { runId, leaseId, step } = held;
  await checkpoint(held);
  const done = { runId, leaseId, stepId: step.stepId, status: 'completed', sessionId: 'session-1' };
  await runtime.report('finishStep', done, '{ outcome }');
  await runtime.finish(held);
  await world.delivered();
}
const pass = async () => {
  world.clock.turn(minutes(1));
  await continuePullRequests();
  await world.delivered();
};

describe('starting missions on selected issues', () => {
  const start = `mutation ($input: StartMissionsRequest!) {
    startMissions(input: $input) { starts { issue runId reason run { missionTitle } } } }`;
  const send = (input: object, { token }: Pick<Account, 'token'> = owner, key?: string) =>
    world.graphql(start, { token, variables: { input }, ...(key && { headers: { 'idempotency-key': key } }) });
  const on = (...issues: string[]) => ({ issues: issues.map((issue) => ({ projectId, issue })) });

  it('each selected issue starts one mission, even concurrently and repeatedly; the response says why an issue cannot start a mission', async () => {
    const [first, second, closed, worked] = await Promise.all([write(), write(), write(), write()]);
    await change(closed.id, { state: 'closed' });
    await assign(worked.id, agentId);
    const [before] = await runs();
    const input = { ...on(first.id, second.key, closed.id, worked.id, 'SHOP-999', first.id), agentId, budgetUsd: 3 };
    const { starts } = (await send(input, owner, 'choice-1')).body.data.startMissions;
    const title = ({ key }: Json) => ({ missionTitle: `${key}: Wrong year` });
    expect(starts).toEqual([
      { issue: first.id, runId: expect.stringMatching(/^run_/), reason: null, run: title(first) },
      { issue: second.key, runId: expect.stringMatching(/^run_/), reason: null, run: title(second) },
      ...[
        [closed.id, 'The issue is closed: reopen it first.'],
        [worked.id, `A mission is already working on the issue: ${before.id}.`],
        ['SHOP-999', 'No such issue.'],
        [first.id, `A mission is already working on the issue: ${starts[0].runId}.`],
      ].map(([issue, reason]) => ({ issue, runId: null, reason, run: null })),
    ]);
    expect((await send(input, owner, 'choice-1')).body.data.startMissions.starts).toEqual(starts);
    expect((await runs()).slice(1).map(({ budgetUsd, prompt, issueId }) => [budgetUsd, prompt, issueId])).toEqual([
      [3, `Solve the issue ${first.key}.`, first.id],
      [3, `Solve the issue ${second.key}.`, second.id],
    ]);
    const [third, fourth] = await Promise.all([write(), write()]);
    const both = await Promise.all([send(on(third.id, fourth.id)), send(on(fourth.id, third.id), bob)]);
    const won = both.flatMap(({ body }) => body.data.startMissions.starts).filter(({ runId }) => runId !== null);
    expect(won.map(({ issue }) => issue).sort()).toEqual([third.id, fourth.id].sort());
    expect(await runs()).toHaveLength(5);
  });

  it('400, 403, 404 · an invalid request for missions on issues starts none of them', async () => {
    const { id } = await write();
    const code = async (answer: ReturnType<typeof send>) => (await answer).body.errors[0].extensions;
    const many = on(...Array.from({ length: 51 }, () => id));
    for (const [input, path] of [
      [{ ...on(id), agentId: 'agn_builtin_shell' }, 'agentId'],
      [{ ...on(id), budgetUsd: 1e9 }, 'budgetUsd'],
      [{ ...on(id), maxMinutes: 2_147_483_647 }, 'maxMinutes'],
      [{ issues: [] }, 'issues'],
      [many, 'issues'],
    ] as const)
      expect(await code(send(input))).toMatchObject({
        code: 'invalid_request',
        problem: { fields: [{ path: expect.stringContaining(path) }] },
      });
    expect((await code(send({ ...on(id), agentId: 'agn_unknown' }))).code).toBe('not_found');
    expect((await code(send(on(id), viewer))).code).toBe('missing_scope');
    expect((await code(send(on(id), stranger))).code).toBe('not_found');
    expect(await runs()).toEqual([]);
  });
});

describe('issues assigned to an agent', () => {
  it('an issue assigned to an agent starts one mission, which keeps one comment up to date and closes the issue', async () => {
    const { id, key, ...issue } = await write();
    expect(issue).toMatchObject({ title: 'Wrong year', state: 'open', agentId: null, assigneeName: null, runId: null });
    await comment(id, 'It is 2026.', bob);
    const both = await Promise.all([assign(id, agentId), assign(id, agentId, bob)]);
    for (const one of both) expect(one).toMatchObject({ agentId, assigneeName: 'Fixer' });
    const [run, ...others] = await runs();
    expect(others).toEqual([]);
    expect(run).toMatchObject({
      issueId: id,
      agentId,
      missionTitle: `${key}: Wrong year`,
      prompt: `Solve the issue ${key}.`,
    });
    await world.delivered();
    const held = await claim();
    expect(held.step.prompt).toMatch(/Solve the issue WEB|Solve the issue SHOP-/);
    expect(held.step.prompt).toContain('Title: Wrong year\n\nThe footer says 2019.\n\nComment of Bob:\nIt is 2026.');
    const page = expect.stringContaining(`/runs/${run.id}`);
    expect((await comments(id)).at(-1)).toMatchObject({ author: 'Mission', runId: run.id, body: page });
    expect((await comments(id)).at(-1).body).toMatch(/: started\n/);
    await finish(held);
    const last = (await comments(id)).at(-1);
    expect(await comments(id)).toHaveLength(2);
    expect(last.body).toMatch(/^SHOP-\d+: Wrong year: completed\n\nCost: 0.00 USD\n\nhttp/);
    expect(await stateOf(id)).toBe('closed');
    const [hook] = await world.knex('inbound_hooks').where({ orgId: owner.organization.id });
    const { body } = await world.rest('GET', `/inbound-hooks/${hook.id}/deliveries`, { token: owner.token });
    expect(body.data.map(({ event, status, reason }: Json) => [event, status, reason])).toEqual([
      ['issues.assigned', 'started', `The agent Fixer works on it: ${run.id}.`],
      [
        'issue_comment.created',
        'ignored',
        'No rule matched: no enabled automation or task has a rule for such an event.',
      ],
      ['issues.opened', 'ignored', 'No rule matched: no enabled automation or task has a rule for such an event.'],
    ]);
  });

  it('a comment on an assigned issue is sent to its agent once, and ends the agent’s wait for an answer', async () => {
    const { id } = await write({ assigneeId: agentId });
    const held = await claim();
    const sandboxId = await runtime.register(held);
    const question = { kind: 'elicitation', body: 'Which zone?', t: Date.UTC(2026, 10, 23, 9) };
    await runtime.report(
      'appendFragments',
      { sandboxId, leaseId: held.leaseId, seq: 0, fragments: [question] },
      '{ nextSeq }',
    );
    await answerWaits();
    await world.delivered();
    expect((await comments(id))[0].body).toContain('waits for an answer\n\n> Which zone?');
    const said = await comment(id, 'Use UTC.', bob);
    expect(said).toEqual({
      id: expect.stringMatching(/^icm_/),
      author: 'Bob',
      effect: `Sent to the agent of ${held.runId}.`,
    });
    expect((await beat(held)).messages).toEqual([{ messageId: expect.any(String), author: 'Bob', text: 'Use UTC.' }]);
    expect(await edit(said.id, 'Use UTC, please.', bob)).toEqual({ body: 'Use UTC, please.', effect: said.effect });
    expect((await beat(held)).messages).toHaveLength(1);
    const [message] = await world.knex('run_messages');
    expect(message).toMatchObject({ kind: 'message', authorUserId: bob.person.id, key: said.id });
    await answerWaits();
    await world.delivered();
    expect(await comments(id)).toHaveLength(2);
  });

  it('comments within one minute continue the mission as one step if the issue is open or one of them mentions the agent', async () => {
    const { id } = await write({ assigneeId: agentId });
    const first = await claim();
    await checkpoint(first);
    await runtime.finish(first, { status: 'failed', error: 'The tests fail.' });
    await world.delivered();
    expect(await stateOf(id)).toBe('open');
    const effect = `The mission of ${first.runId} continues within a minute.`;
    expect(await comment(id, 'Skip the flaky test.', bob)).toMatchObject({ effect });
    expect(await comment(id, 'And say why.')).toMatchObject({ effect });
    await pass();
    const second = await claim();
    expect(second.step).toMatchObject({ resumeSessionId: 'session-1' });
    expect(second.step.prompt).toContain('Bob wrote:\nSkip the flaky test.\n\n---\n\nAlice wrote:\nAnd say why.');
    expect((await runs())[1]).toMatchObject({ billingActorUserId: owner.person.id, issueId: id });
    await finish(second);
    expect(await stateOf(id)).toBe('closed');
    // A comment that is deleted within the minute does not continue the mission.
    const { id: deleted } = await comment(id, '@agent no, wait', bob);
    expect(await remove(deleted, bob)).toEqual({ id: deleted, body: '@agent no, wait' });
    await pass();
    expect(await runs()).toHaveLength(2);
    expect((await comments(id)).map(({ body }) => body)).not.toContain('@agent no, wait');
    await change(id, { state: 'closed' });
    expect(await comment(id, 'Thanks!')).toMatchObject({
      effect: 'The issue is closed: mention @agent to continue its mission.',
    });
    expect(await comment(id, '@agent the header too')).toMatchObject({ effect: expect.stringContaining(second.runId) });
    expect(await stateOf(id)).toBe('open');
    await pass();
    expect(await runs()).toHaveLength(3);
    const third = await claim();
    await finish(third);
    expect((await comments(id)).filter(({ runId }) => runId !== null)).toMatchObject([
      { runId: first.runId, body: expect.stringContaining(`/runs/${third.runId}`) },
    ]);
    const setLoop = `mutation ($projectId: String!) { setPullRequestLoop(projectId: $projectId, rounds: 2, hours: 168) { id } }`;
    await ask(setLoop, { projectId });
    expect(await comment(id, '@agent once more')).toMatchObject({
      effect:
        'The mission of the issue was continued 2 times, the maximum. Assign the issue again to start another one.',
    });
    await change(id, { state: 'open' });
    await assign(id, agentId);
    expect(await runs()).toHaveLength(4);
    await world.knex('projects').update({ pullRequestLoop: null });
  });

  it('a person’s comment continues the mission on the branch of the open pull request; if the mission has no checkpoint, the effect of the comment is the reason why the mission is not continued', async () => {
    const { id } = await write({ assigneeId: agentId });
    const first = await claim();
    await finish(first);
    const pullRequest = { prNumber: 7, prUrl: 'https://github.com/acme/shop/pull/7', prState: 'open' };
    await world
      .knex('runs')
      .where({ id: first.runId })
      .update({ ...pullRequest, branch: 'mission/it', baseBranch: 'main' });
    await comment(id, '@agent in UTC');
    await pass();
    const second = await claim();
    expect(second).toMatchObject({
      branch: 'mission/it',
      step: { prompt: expect.stringContaining('pull request #7') },
    });
    await runtime.finish(second);
    await world.knex('checkpoints').delete();
    await comment(id, '@agent again');
    await pass();
    expect((await comments(id)).at(-1).effect).toMatch(
      /^The mission was not continued with the remarks on the pull request: The run has no checkpoint/,
    );
    expect(await runs()).toHaveLength(2);
  });

  it('unassigning or closing an issue cancels its mission, and later comments start nothing', async () => {
    const { id } = await write({ assigneeId: agentId });
    const [taken] = await runs();
    expect(await assign(id, null, bob)).toMatchObject({ agentId: null });
    await world.delivered();
    expect((await runs())[0]).toMatchObject({ status: 'canceled', reason: 'Bob took the issue from the agent.' });
    expect((await comments(id)).at(-1)).toMatchObject({ runId: taken.id, body: expect.stringContaining('canceled') });
    expect(await comment(id, 'Hello?')).toMatchObject({ effect: null });
    await assign(id, agentId);
    expect(await change(id, { state: 'closed' })).toMatchObject({ state: 'closed', agentId });
    expect((await runs())[1]).toMatchObject({ status: 'canceled', reason: 'Alice closed the issue.' });
    expect(await assign(id, bob.person.id)).toMatchObject({
      code: 'conflict',
      description: 'The issue is closed: reopen it first.',
    });
    await change(id, { state: 'open' });
    expect(await assign(id, bob.person.id)).toMatchObject({
      agentId: null,
      assigneeUserId: bob.person.id,
      assigneeName: 'Bob',
    });
    await world.delivered();
    expect(await runs()).toHaveLength(2);
  });
});

describe('rules for issues of the built-in tracker', () => {
  const rule = async (...eventTriggers: object[]) => {
    const input = { projectId, name: 'Work', prompt: 'Solve it.', triggers: [], eventTriggers };
    const query = 'mutation ($input: CreateScheduledTaskRequest!) { createAutomation(input: $input) { id } }';
    return ask(query, { input: { ...input, skipIfPreviousOpen: false } });
  };

  it('a rule starts one mission each for a label, an assignee and a mention, billed to the person who caused the event', async () => {
    await rule(
      { kind: 'issue', label: 'agent' },
      { kind: 'issue', assignee: 'bob@example.com' },
      { kind: 'comment', mention: 'fixer' },
    );
    const labeled = await write({ labels: ['agent', 'agent', 'bug'] }, bob);
    await world.delivered();
    expect(await runs()).toMatchObject([{ issueId: labeled.id, billingActorUserId: bob.person.id, prompt: null }]);
    await change(labeled.id, { labels: ['agent'] });
    const given = await write();
    await assign(given.id, bob.person.id);
    const spoken = await write();
    const said = await comment(spoken.id, 'Who can help?', bob);
    await world.delivered();
    expect((await runs()).slice(1)).toMatchObject([{ issueId: given.id, billingActorUserId: owner.person.id }]);
    await edit(said.id, '@fixer can you help?', bob);
    await world.delivered();
    await edit(said.id, '@fixer, can you help?', bob);
    await world.delivered();
    const started = await runs();
    expect(started.map(({ issueId }) => issueId)).toEqual([labeled.id, given.id, spoken.id]);
    expect(started[2].issueText).toContain('@fixer can you help?');
    // Comments written by missions start no missions.
    expect(await comments(spoken.id)).toMatchObject([{ author: 'Bob' }, { author: 'Mission', runId: started[2].id }]);
    expect(await comment(spoken.id, '@fixer in UTC')).toMatchObject({
      effect: `Sent to the agent of ${started[2].id}.`,
    });
    expect(await runs()).toHaveLength(3);
  });

  it('a rule starts missions only for issues of its own project, and only while the hook is enabled and the organization allows events to start missions', async () => {
    await rule({ kind: 'issue' });
    const other = await createProject(world, owner, 'Other');
    const session = await world.session(owner.person, owner.organization.id);
    const policy = (trackerTriggers: string) =>
      world.field(
        `mutation { updateBillingSettings(input: { trackerTriggers: ${trackerTriggers} }) { trackerTriggers } }`,
        {
          session,
        },
      );
    await write({ projectId: other });
    await policy('members');
    await write();
    await world.delivered();
    expect(await runs()).toHaveLength(1);
    await policy('off');
    await write();
    await world.delivered();
    await policy('anyone');
    const { id: hookId } = await world.knex('inbound_hooks').where({ vendor: 'builtin' }).first();
    await world.rest('PATCH', `/inbound-hooks/${hookId}`, { token: owner.token, body: { enabled: false } });
    await write();
    await world.delivered();
    expect(await runs()).toHaveLength(1);
    await world.rest('PATCH', `/inbound-hooks/${hookId}`, { token: owner.token, body: { enabled: true } });
    const body = { name: 'Mine', vendor: 'builtin' };
    expect(await world.rest('POST', '/inbound-hooks', { token: owner.token, body })).toMatchObject({ status: 400 });
    expect(await world.rest('PUT', `/inbound-hooks/${hookId}/secret`, { token: owner.token, body: {} })).toMatchObject({
      status: 409,
    });
    expect((await fetch(`${world.url}/hooks/${hookId}`, { method: 'POST', body: '{}' })).status).toBe(404);
  });
});

describe('refused changes of issues', () => {
  it('403, 404 · an issue cannot be changed by people who are not allowed to start missions, or from another organization', async () => {
    const { id } = await write();
    const { id: commentId } = await comment(id, 'Mine.', bob);
    for (const call of [() => write({}, viewer), () => assign(id, agentId, viewer), () => comment(id, 'Hi.', viewer)])
      expect(await call()).toMatchObject({ code: 'missing_scope' });
    for (const call of [
      () => write({}, stranger),
      () => assign(id, null, stranger),
      () => comment(id, 'Hi.', stranger),
    ])
      expect(await call()).toMatchObject({ code: 'not_found' });
    expect(await assign(id, stranger.person.id)).toMatchObject({ code: 'not_found', description: 'No such member.' });
    expect(await edit(commentId, 'Yours.')).toMatchObject({ code: 'forbidden' });
    expect(await edit(commentId, 'Yours.', stranger)).toMatchObject({ code: 'not_found' });
    expect(await remove(commentId)).toMatchObject({ code: 'forbidden' });
    expect(await remove(commentId, stranger)).toMatchObject({ code: 'not_found' });
    expect(await comments(id)).toMatchObject([{ body: 'Mine.' }]);
  });

  it('a change of an issue is refused for a script agent, another tracker, a paused project or an outdated form', async () => {
    const { id, updatedAt } = await write();
    expect(await assign(id, 'agn_builtin_shell')).toMatchObject({
      code: 'invalid_request',
      description: expect.stringContaining('assigneeId'),
    });
    expect(await assign(id, 'prj_1')).toMatchObject({ code: 'invalid_request' });
    expect(await assign(id, 'agn_1')).toMatchObject({ code: 'not_found' });
    await change(id, { title: 'Wrong year in the footer' });
    const late = `mutation ($issueId: String!, $seen: EpochMs) {
      updateIssue(issueId: $issueId, input: { title: "Mine" }, ifUpdatedAt: $seen) { id } }`;
    expect(await ask(late, { issueId: id, seen: updatedAt })).toMatchObject({ code: 'record_changed' });
    await world.knex('projects').where({ id: projectId }).update({ tracker: 'github' });
    expect(await write()).toMatchObject({ code: 'conflict', description: expect.stringContaining('in github') });
    await world.knex('projects').where({ id: projectId }).update({ tracker: 'builtin', status: 'paused' });
    const count = (await world.knex('issues')).length;
    expect(await write({ assigneeId: agentId })).toMatchObject({
      code: 'conflict',
      description: expect.stringContaining('paused'),
    });
    expect(await world.knex('issues')).toHaveLength(count);
    await world.knex('projects').where({ id: projectId }).update({ status: 'active' });
    await write({ assigneeId: agentId });
    const [run] = await runs();
    expect(await assign(run.issueId, null)).toMatchObject({ agentId: null });
    const rest = await world.rest('GET', '/issues?state=open', { token: owner.token });
    expect(rest.body.data).toHaveLength(2);
  });
});
