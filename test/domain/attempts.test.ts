// Attempts at one task: they share an issue and a budget, a person chooses one, and the others end without a trace at the source host.
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { pathsIn } from '#domain/work/attempts/paths.ts';
import { settleAttempts } from '#domain/work/attempts/settle.ts';
import { dispatchDue } from '#domain/work/recurring/dispatch.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import type { Id } from '#foundation/ids.ts';
import { type Account, createMember, createOwner, createProject } from '../support/callers.ts';
import { type GitHub, openGitHub } from '../support/fake-github.ts';
import { createRuntime, type Held, type Runtime } from '../support/runtime-client.ts';
import { leaveArtifact, noteArtifact, startSandbox } from '../support/runtime-records.ts';
import { openWorld, type World } from '../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

const token = 'ghp_OfAcmeAndOfNobodyElse';
const [first, second] = ['a'.repeat(40), 'b'.repeat(40)];
let world: World;
let github: GitHub;
let owner: Account;
let bob: Account;
let runtime: Runtime;
let projectId: Id<'project'>;

beforeAll(async () => {
  openOutbound({ allowLoopback: true });
  github = await openGitHub(token);
  world = await openWorld({ vendors: { github: github.address } });
  owner = await createOwner(world, 'Alice', 'Acme');
  const { id: orgId } = owner.organization;
  await world.lift(owner.organization);
  bob = await createMember(world, owner.organization, 'Bob', 'member');
  for (const vendorKind of ['scm', 'tracker'] as const)
    await connectIntegration({ orgId, vendor: 'github', vendorKind, displayName: 'GitHub', credentials: token });
  runtime = await createRuntime(world, owner.organization);
  projectId = await createProject(world, owner, 'Shop', { tracker: 'github' });
});
afterAll(async () => {
  await Promise.all([world.close(), github.close()]);
  openOutbound({ allowLoopback: false });
});
beforeEach(() => github.clear('acme/shop'));
afterEach(async () => {
  await world.knex('runs').delete();
  await world.knex('attempt_groups').delete();
  expect(github.violations).toEqual([]);
});

const builder = 'agn_builtin_builder';
const start = (attempts: object[] | null, more: object = {}): Promise<Json> =>
  world.field(
    `mutation ($projectId: String!, $attempts: [NewAttempt!], $budgetUsd: Float) {
      startMission(projectId: $projectId, prompt: "Mend the date test.", attempts: $attempts, budgetUsd: $budgetUsd) {
        id attemptNumber attemptState attemptGroup { id title budgetUsd state attempts { run { id issueId prompt } } } } }`,
    { token: owner.token, variables: { projectId, attempts, ...more } },
  );
const compared = `id state chosenRunId decidedBy costUsd budgetUsd attempts { number state choiceBlocker agentName harness model review
  isTestPassed criteria criteriaPassed changedPaths run { id status reason prNumber outcome { result files } } }`;
const compare = (groupId: string, as = owner.token): Promise<Json> =>
  world.field(`query ($groupId: String!) { attemptGroup(attemptGroupId: $groupId) { ${compared} } }`, {
    token: as,
    variables: { groupId },
  });
const choose = (runId: string, as = owner.token): Promise<Json> =>
  world.field(`mutation ($runId: String!) { chooseAttempt(runId: $runId) { ${compared} } }`, {
    token: as,
    variables: { runId },
  });
const close = (groupId: string): Promise<Json> =>
  world.field(`mutation ($groupId: String!) { closeAttempts(attemptGroupId: $groupId) { ${compared} } }`, {
    token: owner.token,
    variables: { groupId },
  });

const repository = () => github.repositories.get('acme/shop')!;
async function push(held: Held, headSha: string, more: object = {}): Promise<Json> {
  repository().heads.set(`mission/${held.runId}`, headSha);
  return runtime.ask('reportBranch', { ...held, headSha, baseBranch: 'main', ...more }, '{ prNumber prUrl }');
}
const finish = async (held: Held, status = 'completed') => {
  await runtime.finish(held, { status });
  await world.delivered();
};
/** Starts attempts, which the runtime claims in the order of their numbers. */
async function startHeld(count: number, more: object = {}): Promise<{ groupId: string; held: Held[] }> {
  const { attemptGroup } = await start(Array(count).fill({}), more);
  const held: Held[] = [];
  for (let i = 0; i < count; i++) held.push(await runtime.claim());
  const order = attemptGroup.attempts.map(({ run }: Json) => run.id);
  held.sort((a, b) => order.indexOf(a.runId) - order.indexOf(b.runId));
  return { groupId: attemptGroup.id, held };
}

it('attempts with different agents, models and prompts share one issue, and a comparison shows their results side by side', async () => {
  const run = await start([{ agentId: builder, model: 'claude-opus-5' }, { prompt: 'Mend it with a test.' }, {}], {
    budgetUsd: 5,
  });
  const { id: groupId, attempts } = run.attemptGroup;
  expect(run).toMatchObject({
    attemptNumber: 1,
    attemptState: 'open',
    attemptGroup: { title: 'Mend the date test.', budgetUsd: 5, state: 'open' },
  });
  expect(attempts.map(({ run: { prompt, issueId } }: Json) => [prompt, issueId])).toEqual([
    ['Mend the date test.', 'acme/shop#1'],
    ['Mend it with a test.', 'acme/shop#1'],
    ['Mend the date test.', 'acme/shop#1'],
  ]);
  expect(repository().issues).toHaveLength(1);
  const claimed = [await runtime.claim(), await runtime.claim(), await runtime.claim()];
  const [one, two] = attempts.map(({ run: { id } }: Json) => claimed.find(({ runId }) => runId === id));
  const place = { orgId: owner.organization.id, projectId } as const;
  const sandbox = await startSandbox(place, one);
  const diff = 'diff --git a/src/a.ts b/src/a.ts\n--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1 +1 @@\n-1\n+2\n';
  const { id: artifactId } = await noteArtifact(place, { sandboxId: sandbox.id });
  await world
    .knex('artifacts')
    .where({ id: artifactId })
    .update({ criterion: 'Dates are UTC.', criterionPassed: true });
  const changeDiff = await leaveArtifact(place, diff);
  await push(one, first, { changeArtifactId: changeDiff.id, commits: 1, files: 1, insertions: 1, deletions: 1 });
  await finish(one);
  await finish(two, 'failed');
  const of = { state: 'open', review: null, isTestPassed: null };
  const none = { criteria: 0, criteriaPassed: 0, changedPaths: null };
  expect((await compare(groupId)).attempts).toMatchObject([
    {
      ...{
        number: 1,
        ...of,
        choiceBlocker: null,
        agentName: 'Builder',
        model: 'claude-opus-5',
        harness: 'claude-code',
      },
      ...{ criteria: 1, criteriaPassed: 1, changedPaths: ['src/a.ts'] },
      run: { status: 'completed', prNumber: null, outcome: { result: 'changes', files: 1 } },
    },
    {
      ...{ number: 2, ...of, ...none, agentName: 'Builder', model: 'claude-sonnet-4-5', harness: 'claude-code' },
      choiceBlocker: 'Attempt 2 has failed without a change: there is nothing to choose.',
    },
    { number: 3, ...of, ...none, choiceBlocker: null, run: { status: 'running', outcome: null } },
  ]);
  // The inbox has one item for all attempts once they have ended, instead of one for each.
  const inbox = async () => (await world.rest('GET', '/inbox', { token: owner.token })).body.data;
  expect(await inbox()).toEqual([]);
  await finish(claimed.find(({ runId }) => runId !== one.runId && runId !== two.runId));
  const waits = { id: `attempts-${groupId}`, kind: 'attempts', runId: one.runId, detail: '2 of 3 attempts completed' };
  expect(await inbox()).toMatchObject([waits]);
  // The service sends nothing about any attempt to GitHub until a person has chosen an attempt.
  const { pulls, statuses, checks, issues } = repository();
  expect([pulls, statuses, checks, issues[0]!.comments, issues[0]!.state]).toEqual([[], [], [], [], 'open']);
  expect((await choose(two.runId)).description).toBe(
    'Attempt 2 has failed without a change: there is nothing to choose.',
  );
  await choose(one.runId);
  expect(await inbox()).toMatchObject([{ kind: 'review', runId: one.runId }]);
});

it('the chosen attempt gets its pull request; the runs of the other attempts are canceled, and their branches deleted', async () => {
  const { groupId, held } = await startHeld(3);
  const [one, two, three] = held as [Held, Held, Held];
  await push(one, first, { title: 'Use UTC' });
  await push(two, second);
  await finish(one);
  expect(await choose(one.runId)).toMatchObject({ state: 'chosen', chosenRunId: one.runId, decidedBy: 'Alice' });
  expect(await runtime.beat(two)).toMatchObject({ desired: 'stop' });
  await world.delivered();
  const { pulls, heads, statuses, issues } = repository();
  expect(pulls).toMatchObject([
    { title: 'Use UTC', base: 'main', state: 'open', head: { ref: `mission/${one.runId}` } },
  ]);
  expect([...heads.keys()]).toEqual([`mission/${one.runId}`]);
  expect(statuses).toMatchObject([{ sha: first, state: 'success' }]);
  expect(issues[0]!.comments).toHaveLength(1);
  // The runtime of a closed attempt may push once more before it stops.
  await push(three, second);
  await world.delivered();
  expect([...heads.keys()]).toEqual([`mission/${one.runId}`]);
  const closed = {
    state: 'closed',
    run: { status: 'canceled', reason: 'Attempt 1 at the task was chosen.', prNumber: null },
  };
  expect((await compare(groupId)).attempts).toMatchObject([
    { state: 'chosen', run: { status: 'completed', prNumber: 2 } },
    closed,
    closed,
  ]);
  expect(await choose(one.runId)).toMatchObject({ state: 'chosen' });
  expect((await choose(two.runId, bob.token)).description).toBe(
    'Alice has already chosen attempt 1: the decision is final.',
  );
  expect((await close(groupId)).code).toBe('conflict');
});

it('a running attempt can be chosen: it continues, and opens its pull request when it pushes', async () => {
  const { held } = await startHeld(2);
  const [one] = held as [Held, Held];
  await choose(one.runId);
  await world.delivered();
  expect(await runtime.beat(one)).toMatchObject({ desired: 'run' });
  expect(await push(one, first)).toMatchObject({ prNumber: 2 });
});

it('the pull request of the chosen attempt waits for approval if the project requires it; the other attempts get no pull request', async () => {
  await world.knex('projects').update({ effectPolicy: JSON.stringify({ waits: ['pull_request'], allowedTools: [] }) });
  const { held } = await startHeld(2);
  const [one, two] = held as [Held, Held];
  for (const each of held) expect(await push(each, first)).toEqual({ prNumber: null, prUrl: null });
  const effects = () => world.knex('outside_effects').select('runId', 'kind', 'state');
  expect(await effects()).toEqual([]);
  await choose(two.runId);
  await world.delivered();
  await world.knex('projects').update({ effectPolicy: null });
  expect(await effects()).toEqual([{ runId: two.runId, kind: 'pull_request', state: 'staged' }]);
  expect([repository().pulls, [...repository().heads.keys()]]).toEqual([[], [`mission/${two.runId}`]]);
  expect((await world.knex('runs').where({ id: one.runId }).first()).prNumber).toBe(null);
});

it('one of two people who choose an attempt at the same time gets a conflict', async () => {
  const { groupId, held } = await startHeld(2);
  const [one, two] = held as [Held, Held];
  const answers = await Promise.all([choose(one.runId), choose(two.runId, bob.token)]);
  const [lost] = answers.filter(({ code }) => code);
  const { state, decidedBy, attempts } = await compare(groupId);
  expect(lost.description).toMatch(
    new RegExp(`^${decidedBy} has already chosen attempt [12]: the decision is final.$`),
  );
  expect([state, attempts.map((each: Json) => each.state).sort()]).toEqual(['chosen', ['chosen', 'closed']]);
});

it('after an attempt is chosen, failed calls to the source host are retried until each has taken effect once', async () => {
  const { groupId, held } = await startHeld(3);
  const [one, two, three] = held as [Held, Held, Held];
  for (const each of held) await push(each, first);
  await choose(one.runId);
  github.disturb('pulls/create', 'lose the answer');
  github.disturb('git/delete-ref', { status: 503 });
  await expect(settleAttempts({ groupId })).rejects.toThrow(
    'The source host could not open the pull request of the chosen attempt, or delete branches of other attempts (2 failed calls)',
  );
  expect([...repository().heads.keys()]).toEqual([`mission/${one.runId}`, `mission/${two.runId}`]);
  await settleAttempts({ groupId });
  await settleAttempts({ groupId });
  expect(repository().pulls).toHaveLength(1);
  expect([...repository().heads.keys()]).toEqual([`mission/${one.runId}`]);
  github.disturb('git/delete-ref', { status: 403, body: { message: 'Resource not accessible' } });
  await settleAttempts({ groupId });
  const failed = (await world.knex('runs').where({ id: two.runId }).first()).lastError;
  expect(failed).toContain('The branch could not be deleted: ');
  expect((await world.knex('runs').where({ id: three.runId }).first()).lastError).toBe(null);
});

it('attempts can be closed without a choice, and then cannot be chosen or reviewed', async () => {
  const { groupId, held } = await startHeld(2);
  const [one] = held as [Held, Held];
  await push(one, first);
  await finish(one);
  const proceed = `mutation { continueRun(runId: "${one.runId}", prompt: "Go on.") { id } }`;
  expect((await world.field(proceed, { token: owner.token })).description).toBe(
    'The run is one of several attempts: choose an attempt before you continue the run.',
  );
  expect(await close(groupId)).toMatchObject({ state: 'closed', chosenRunId: null, decidedBy: 'Alice' });
  expect(await close(groupId)).toMatchObject({ state: 'closed' });
  await world.delivered();
  expect([[...repository().heads.keys()], repository().pulls]).toEqual([[], []]);
  const review = `mutation { submitReview(input: { runId: "${one.runId}", headSha: "${first}", verdict: approve }) { id } }`;
  expect((await world.field(review, { token: owner.token })).description).toContain(
    'the branch of this one was deleted',
  );
  expect((await choose(one.runId)).description).toBe('Alice has already closed the attempts: the decision is final.');
});

it('the second attempt creates the issue when the first one is canceled before the tracker answers', async () => {
  github.disturb('issues/create', { status: 503 });
  const { id, attemptGroup } = await start([{}, {}]);
  await world.rest('POST', `/runs/${id}/cancel`, { token: owner.token });
  await dispatchDue();
  const [one, two] = (await compare(attemptGroup.id)).attempts;
  expect([one.run.status, two.run.status, repository().issues.length]).toEqual(['canceled', 'dispatching', 1]);
  expect((await runtime.claim()).runId).toBe(two.run.id);
});

it('all attempts fail when the tracker refuses to create their issue', async () => {
  github.disturb('issues/create', { status: 410, body: { message: 'Issues are disabled' } });
  const { attemptGroup } = await start([{}, {}]);
  const { attempts } = await compare(attemptGroup.id);
  expect(attempts.map(({ run }: Json) => run.status)).toEqual(['failed', 'failed']);
});

describe('budgets of attempts', () => {
  const model = 'claude-haiku-4-5';
  const reserve = (held: Held, callId: string, outputTokens: number): Promise<Json> =>
    runtime.report(
      'reserveModelCall',
      { ...held, callId, model, inputTokens: 1_000, outputTokens },
      '{ outputTokens reason }',
    );

  it('several attempts that reserve model calls at the same time stay within the cost budget that these attempts share', async () => {
    const { held } = await startHeld(3, { budgetUsd: 0.1 });
    const calls = await Promise.all(held.map((each) => reserve(each, 'a', 10_000)));
    // Each of the three calls costs at most 0.05125 USD. Within the budget of 0.10 USD, one call gets all output tokens that it asks for,
    // the second call gets fewer, and the third call has to wait.
    const granted = calls.map(({ outputTokens }) => outputTokens).sort((a, b) => b - a);
    expect(granted).toEqual([10_000, 9_500, 0]);
    const { reason } = calls.find(({ outputTokens }) => outputTokens === 0);
    expect(reason).toContain('Together, the attempts have cost 0.00 of their budget of 0.10 USD.');
    const [one] = held as [Held];
    const set = (budgetUsd: number) =>
      world.rest('PUT', `/runs/${one.runId}/budget`, { token: owner.token, body: { budgetUsd } });
    expect((await set(0.2)).status).toBe(200);
    const waiting = held[calls.findIndex(({ outputTokens }) => outputTokens === 0)]!;
    expect(await reserve(waiting, 'b', 10_000)).toEqual({ outputTokens: 10_000, reason: null });
  });

  it('an attempt is canceled when the costs reported for all attempts exceed their shared budget', async () => {
    const { groupId, held } = await startHeld(2, { budgetUsd: 1 });
    const [one, two] = held as [Held, Held];
    await runtime.report('reportCost', { ...one, costId: 'a', usd: 0.6 });
    await runtime.report('reportCost', { ...two, costId: 'a', usd: 0.6 });
    expect(await compare(groupId)).toMatchObject({
      costUsd: 1.2,
      attempts: [
        { run: { status: 'running' } },
        {
          run: { status: 'canceled', reason: 'The attempts have cost 1.20 USD: their budget of 1.00 USD is used up.' },
        },
      ],
    });
    const { body } = await world.rest('PUT', `/runs/${one.runId}/budget`, {
      token: owner.token,
      body: { budgetUsd: 1.1 },
    });
    expect(body.description).toContain('must be at least 1.20, the cost of the attempts so far');
  });
});

it.each([
  [[{}], 'attempts'],
  [Array(9).fill({}), 'attempts'],
  [[{ model: 'claude-opus-5' }, {}], 'attempts.0.agentId'],
  [[{}, { agentId: builder, model: 'gpt-9' }], 'attempts.1.model'],
  [[{}, { agentId: 'agn_builtin_shell', model: 'claude-opus-5' }], 'attempts.1.model'],
  [[{}, { prompt: '' }], 'prompt'],
  [[{}, { agentId: 'agn_unknown' }], 'agent'],
])('attempts with %j are refused, and nothing is written', async (attempts, named) => {
  expect((await start(attempts)).description).toContain(named);
  expect(await world.knex('runs').select('id')).toEqual([]);
  expect(await world.knex('attempt_groups').select('id')).toEqual([]);
});

it('attempts do not start with too few credits, and are hidden from other organizations', async () => {
  const poor = await createOwner(world, 'Carol', 'Initech');
  const project = await createProject(world, poor, 'Desk');
  const asked = `mutation { startMission(projectId: "${project}", prompt: "Go.", attempts: [{}, {}, {}, {}, {}, {}, {}, {}]) { id } }`;
  // Each attempt reserves one of the 100 credits.
  for (let i = 0; i < 12; i++) expect((await world.field(asked, { token: poor.token })).id).toBeTruthy();
  expect((await world.field(asked, { token: poor.token })).code).toBe('credits_exhausted');
  expect(await world.knex('attempt_groups').select('id')).toHaveLength(12);
  // Another organization cannot find the attempts.
  const { groupId, held } = await startHeld(2);
  expect((await compare(groupId, poor.token)).code).toBe('not_found');
  expect((await choose(held[0]!.runId, poor.token)).code).toBe('not_found');
});

it('the paths of changed files are read only from the headers of a diff', async () => {
  const diff = [
    ...[
      'diff --git a/old name.txt b/new name.txt',
      'similarity index 100%',
      'rename from old name.txt',
      'rename to new name.txt',
    ],
    ...[
      'diff --git "a/\\303\\244.txt" "b/\\303\\244.txt"',
      '--- "a/\\303\\244.txt"',
      '+++ "b/\\303\\244.txt"',
      '@@ -1 +1,2 @@',
      '+++ b/not-a-file',
    ],
    ...[
      'diff --git a/gone.ts b/gone.ts',
      'deleted file mode 100644',
      '--- a/gone.ts',
      '+++ /dev/null',
      '@@ -1 +0,0 @@',
      '-diff',
    ],
    ...['diff --git a/run.sh b/run.sh', 'old mode 100644', 'new mode 100755'],
  ];
  expect(await pathsIn(Readable.from(diff))).toEqual(['gone.ts', 'new name.txt', 'run.sh', 'ä.txt']);
});
