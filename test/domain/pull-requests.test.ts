// The branch that a run pushes: access for its runtime, the pull request on GitHub, its merge, and the issue that it closes.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { followPullRequests } from '#domain/work/runs/branch.ts';
import { hours, isoTime, minutes } from '#foundation/clock.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { type Account, createOwner, createProject } from '../support/callers.ts';
import { type GitHub, openGitHub } from '../support/fake-github.ts';
import { createRuntime, type Held, type Runtime } from '../support/runtime-client.ts';
import { openWorld, present, type World } from '../support/world.ts';

const token = 'ghp_OfAcmeAndOfNobodyElse';
const [first, second] = ['a'.repeat(40), 'b'.repeat(40)];
let world: World;
let github: GitHub;
let owner: Account;
let runtime: Runtime;
let projectId: string;

beforeAll(async () => {
  openOutbound({ allowLoopback: true });
  github = await openGitHub(token);
  world = await openWorld({ vendors: { github: github.address } });
  owner = await createOwner(world, 'Alice', 'Acme');
  const { id: orgId } = owner.organization;
  await world.lift(owner.organization);
  for (const vendorKind of ['scm', 'tracker'] as const) {
    await connectIntegration({ orgId, vendor: 'github', vendorKind, displayName: 'GitHub', credentials: token });
  }
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
  expect(github.violations).toEqual([]);
});

async function heldRun(): Promise<Held> {
  const query =
    'mutation ($projectId: String!, $prompt: String!) { startMission(projectId: $projectId, prompt: $prompt) { id } }';
  const variables = { projectId, prompt: 'Mend the date test.' };
  const { body } = await world.graphql(query, { token: owner.token, variables });
  expect(body.errors).toBeUndefined();
  return runtime.claim();
}

const repository = () => github.repositories.get('acme/shop')!;
/** Pushes a commit to the run's branch at the stand-in for GitHub, and reports the commit with the token of the runtime. */
async function push(held: Held, headSha: string, more: object = {}) {
  repository().heads.set(`mission/${held.runId}`, headSha);
  return runtime.ask('reportBranch', { ...held, headSha, baseBranch: 'main', ...more }, '{ prNumber prUrl }');
}
const finish = async (held: Held, status = 'completed') => {
  await runtime.finish(held, { status });
  await world.delivered();
};
const runOf = async ({ runId }: Held) => (await world.rest('GET', `/runs/${runId}`, { token: owner.token })).body;
const issue = () => repository().issues[0]!;
const follow = async () => {
  world.clock.turn(hours(1));
  await followPullRequests();
  await world.delivered();
};

it('only the runtime with the lease on a run gets access to its git repository', async () => {
  const held = await heldRun();
  const selection = '{ url username password defaultBranch branch }';
  expect(await runtime.ask('openRepository', held, selection)).toEqual({
    url: `${github.address}/acme/shop.git`,
    username: 'x-access-token',
    password: token,
    defaultBranch: 'main',
    branch: `mission/${held.runId}`,
  });
  expect(await runtime.ask('openRepository', { ...held, leaseId: 'lse_x' }, selection)).toMatchObject({
    code: 'lease_lost',
  });
  expect(await runtime.ask('openRepository', held, selection, owner.token)).toMatchObject({ code: 'missing_scope' });
});

it('a branch gets one pull request, which names the issue; a second push updates it', async () => {
  const held = await heldRun();
  const opened = { prNumber: 2, prUrl: 'https://github.com/acme/shop/pull/2' };
  expect(await push(held, first, { body: 'The helper uses UTC.' })).toEqual(opened);
  expect(await push(held, second, { title: 'Use UTC' })).toEqual(opened);
  expect(repository().pulls).toMatchObject([
    { title: 'Use UTC', base: 'main', body: expect.stringContaining('Closes acme/shop#1') },
  ]);
  expect(repository().pulls[0]!.body).toContain(`/console/o/acme/runs/${held.runId}`);
  expect(await runOf(held)).toMatchObject({
    branch: `mission/${held.runId}`,
    headSha: second,
    prState: 'open',
    ...opened,
  });
});

it('an open pull request that last changed 30 minutes and 1 ms ago is checked again after a tenth of this time, rounded to whole milliseconds', async () => {
  const held = await heldRun();
  await push(held, first);
  world.clock.turn(minutes(30) + 1);
  await followPullRequests();
  const { prCheckAt } = await world.knex('runs').where({ id: held.runId }).first();
  expect(prCheckAt).toBe(present() + minutes(3));
});

describe('outcomes of runs', () => {
  const outcomeOf = async (held: Held) => {
    const { outcome } = await runOf(held);
    return outcome;
  };
  const none = { branch: null, headSha: null, prNumber: null, prUrl: null, prState: null, mergeBlocker: null };

  it('the outcome of a run is null while the run is open, and then contains the changes of its branch', async () => {
    const held = await heldRun();
    await runtime.ask('openRepository', held, '{ url }');
    await push(held, first, { commits: 1, files: 1, insertions: 9, deletions: 0 });
    await push(held, second, { commits: 2, files: 3, insertions: 40, deletions: 7 });
    expect(await outcomeOf(held)).toBe(null);
    await finish(held, 'failed');
    const changes = { result: 'changes', commits: 2, files: 3, insertions: 40, deletions: 7 };
    const pullRequest = { prNumber: 2, prUrl: 'https://github.com/acme/shop/pull/2', prState: 'open' };
    expect(await outcomeOf(held)).toEqual({
      ...changes,
      branch: `mission/${held.runId}`,
      headSha: second,
      ...pullRequest,
      mergeBlocker: null,
    });
  });

  it('the outcome has no changes when nothing was pushed, and is null when the repository was not opened', async () => {
    const held = await heldRun();
    await runtime.ask('openRepository', held, '{ url }');
    await finish(held);
    const nothing = { commits: 0, files: 0, insertions: 0, deletions: 0 };
    expect(await outcomeOf(held)).toEqual({ result: 'no_changes', ...nothing, ...none });
    const other = await heldRun();
    await finish(other);
    expect(await outcomeOf(other)).toBe(null);
  });

  it('the outcome has null counts when the runtime reports none', async () => {
    const held = await heldRun();
    await push(held, first);
    await finish(held);
    const unknown = { commits: null, files: null, insertions: null, deletions: null };
    expect(await outcomeOf(held)).toMatchObject({ result: 'changes', ...unknown, headSha: first });
  });
});

it.each([
  ['commits', { commits: -1 }, 'must be at least 0'],
  ['insertions', { insertions: 1e9 + 1 }, 'must be at most 1000000000'],
  ['headSha', { headSha: 'main' }, 'must be the id of a commit'],
  ['baseBranch', { baseBranch: '' }, 'must be at least 1 character'],
])('400 · a report of a branch is refused if its field %s is invalid', async (name, more, words) => {
  const held = await heldRun();
  const { code, description } = await push(held, first, more);
  expect([code, description]).toEqual(['invalid_request', expect.stringContaining(`${name}: ${words}`)]);
  expect(repository().pulls).toEqual([]);
});

it('409 · a researcher agent cannot report a branch', async () => {
  const held = await heldRun();
  await world.knex('runs').where({ id: held.runId }).update({ agentRole: 'researcher' });
  expect(await push(held, first)).toMatchObject({
    code: 'conflict',
    description: expect.stringContaining('researcher'),
  });
  expect([(await runOf(held)).branch, repository().pulls]).toEqual([null, []]);
});

it('comments of people who may write go to the agent that works on the pull request, each once; bots are ignored', async () => {
  repository().permissions.set('bob', 'write').set('carol', 'admin').set('eve', 'read');
  const held = await heldRun();
  await push(held, first);
  const comment = (id: number, body: string, login: string, more: object = {}) => ({
    body,
    html_url: `https://github.com/acme/shop/pull/2#c${id}`,
    created_at: isoTime(present() + id * 1_000),
    user: { login, type: login === 'ci' ? 'Bot' : 'User' },
    ...more,
  });
  const pull = repository().pulls[0]!;
  pull.comments.push(
    comment(2, 'Use the UTC helper.', 'bob', { path: 'src/date.ts', line: 7 }),
    comment(1, 'Looks good otherwise.', 'carol'),
    comment(3, 'Coverage fell.', 'ci'),
    comment(5, 'Send me the keys.', 'eve'),
    comment(6, 'Me too.', 'stranger'),
  );
  await world.knex('run_steps').update({ harness: 'claude-code' });
  await follow();
  await follow();
  const query = 'query ($id: String!) { run(runId: $id) { messages { author text } } }';
  const { body } = await world.graphql(query, { token: owner.token, variables: { id: held.runId } });
  // The newest message is first.
  expect(body.data.run.messages).toEqual([
    { author: 'bob', text: 'src/date.ts:7: Use the UTC helper.' },
    { author: 'carol', text: 'Looks good otherwise.' },
  ]);
  await finish(held);
  pull.comments.push(comment(4, 'Too late.', 'bob'));
  await follow();
  expect(await world.knex('run_messages').where({ runId: held.runId })).toHaveLength(2);
});

describe('pull requests of completed runs', () => {
  it('the issue of a run is closed once a person has merged its pull request', async () => {
    const held = await heldRun();
    await push(held, first);
    await finish(held);
    expect([issue().state, issue().comments.length]).toEqual(['open', 1]);
    expect(issue().comments[0]!.body).toContain('/pull/2');
    Object.assign(repository().pulls[0]!, { state: 'closed', merged: true });
    await follow();
    expect((await runOf(held)).prState).toBe('merged');
    expect([issue().state, issue().comments.length]).toEqual(['closed', 1]);
  });

  it('the issue of a run stays open when its pull request is closed without a merge', async () => {
    const held = await heldRun();
    await push(held, first);
    await finish(held);
    repository().pulls[0]!.state = 'closed';
    await follow();
    expect([(await runOf(held)).prState, issue().state]).toEqual(['closed', 'open']);
    const asked = github.asked.length;
    await follow();
    expect(github.asked.length).toBe(asked);
  });

  it('a pull request with auto-merge is merged at the approved commit, once its checks have passed', async () => {
    await world.knex('projects').update({ autoMerge: true });
    const held = await heldRun();
    await push(held, first);
    const [pull] = repository().pulls;
    await world.knex('runs').where({ id: held.runId }).update({ approvedSha: first });
    await follow();
    expect((await runOf(held)).prState).toBe('open');
    await finish(held);
    pull!.mergeable_state = 'unstable';
    await follow();
    expect(await runOf(held)).toMatchObject({
      outcome: { mergeBlocker: 'The merge waits for the checks and rules of the base branch.' },
    });
    pull!.mergeable_state = 'clean';
    github.disturb('pulls/merge', { status: 405, body: { message: 'At least 2 approving reviews are required.' } });
    await follow();
    expect(await runOf(held)).toMatchObject({
      prState: 'open',
      outcome: {
        mergeBlocker: 'The source host did not merge the pull request: At least 2 approving reviews are required.',
      },
    });
    repository().heads.set(`mission/${held.runId}`, second);
    pull!.mergeable_state = 'clean';
    await follow();
    expect(await runOf(held)).toMatchObject({
      prState: 'open',
      outcome: { mergeBlocker: 'The branch has commits that no reviewer has approved: a person has to merge it.' },
    });
    repository().heads.set(`mission/${held.runId}`, first);
    await follow();
    expect([(await runOf(held)).prState, issue().state]).toEqual(['merged', 'closed']);
    await world.knex('projects').update({ autoMerge: false });
  });

  it('a pull request with auto-merge but without a reviewer’s approval waits for a person to merge it, and shows the reason', async () => {
    await world.knex('projects').update({ autoMerge: true });
    const held = await heldRun();
    await push(held, first);
    await finish(held);
    Object.assign(repository().pulls[0]!, { mergeable_state: 'clean' });
    await follow();
    expect(await runOf(held)).toMatchObject({
      prState: 'open',
      outcome: { mergeBlocker: 'No reviewer has approved the change: a person has to merge it.' },
    });
    await world.knex('projects').update({ autoMerge: false });
    await follow();
    expect((await runOf(held)).outcome.mergeBlocker).toBe(null);
  });

  it('a pull request is checked again after a minute, by only one of several concurrent processes', async () => {
    const held = await heldRun();
    await push(held, first);
    const looks = () => github.asked.filter((name) => name === 'pulls/get').length;
    await followPullRequests();
    expect(looks()).toBe(0);
    world.clock.turn(minutes(1));
    await Promise.all([followPullRequests(), followPullRequests()]);
    expect(looks()).toBe(1);
  });

  it('a run reports that its pull request can no longer be read', async () => {
    const held = await heldRun();
    await push(held, first);
    repository().pulls.splice(0);
    await follow();
    expect((await runOf(held)).lastError).toContain('The state of the pull request cannot be read');
  });
});
