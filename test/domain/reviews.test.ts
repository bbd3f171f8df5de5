// People review the changes that an agent has made: their comments reach the agent, and their approvals let the changes be merged.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Project } from '#domain/projects/projects/model.ts';
import { pullRequests } from '#domain/projects/vendors/github/pull-requests.ts';
import { followPullRequests } from '#domain/work/runs/branch.ts';
import { hours, minutes } from '#foundation/clock.ts';
import { type GitHub, openGitHub } from '../support/fake-github.ts';
import { startThread } from '../support/fake-github-threads.ts';
import { commits, type HostWorld, openHostWorld } from '../support/host-world.ts';
import { leaveArtifact } from '../support/runtime-records.ts';
import type { World } from '../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

const credentials = 'ghp_ofAcme';
const { first, second } = commits;
let host: HostWorld;
let world: World;
let github: GitHub;
let runtime: HostWorld['runtime'];
let projectId: string;

beforeAll(async () => {
  github = await openGitHub(credentials);
  github.clear('acme/shop');
  const { heads } = github.repositories.get('acme/shop')!;
  host = await openHostWorld({ vendor: 'github', host: github, credentials, tracker: 'builtin', heads: () => heads });
  ({ world, runtime, projectId } = host);
});
afterAll(() => host.close());

const claim = () => host.claim();
const startMission = (prompt: string) => host.startMission(prompt);
const push = (held: Json, headSha: string) => host.push(held, headSha);
const finish = (held: Json) => host.finish(held);
const as = (token: string, query: string, variables: Record<string, unknown>) =>
  world.field(query, { token, variables });

/** The clock moves before each review, so that reviews, and the runs that they start, have different times. */
function submit(input: object, token = host.owner.token): Promise<Json> {
  world.clock.turn(1);
  return as(
    token,
    `mutation ($input: SubmitReviewRequest!) { submitReview(input: $input) {
      id verdict author answeringRunId comments { id path startLine line body resolvedAt } } }`,
    { input: { headSha: first, comments: [], ...input } },
  );
}

const comment = (line: number, body: string, more: object = {}) => ({
  ...{ path: 'src/date.ts', side: 'new', line, quote: `+line ${line}`, body },
  ...more,
});

it('a change goes from two review comments through a fix and an approval to the merge', async () => {
  const held = await startMission('Mend the dates.');
  expect(await submit({ runId: held.runId, verdict: 'comment', body: 'Early.' })).toMatchObject({
    code: 'conflict',
    description: 'The run has no changes to review.',
  });
  await push(held, first);

  // While the agent works, it receives the review as one message.
  const early = await submit({ runId: held.runId, verdict: 'request_changes', body: 'Also mend the tests.' });
  expect(early).toMatchObject({ verdict: 'request_changes', author: 'Alice', answeringRunId: held.runId });
  const { messages } = await runtime.beat(held, {}, '{ messages { messageId text author } }');
  expect(messages).toMatchObject([{ author: 'Alice', text: expect.stringContaining('Also mend the tests.') }]);
  await runtime.beat(held, { acknowledged: [messages[0].messageId] });
  await finish(held);

  const request = {
    ...{ runId: held.runId, verdict: 'request_changes', reviewId: 'once' },
    comments: [comment(7, 'Use UTC.'), comment(12, 'Name it.', { startLine: 9, side: 'old' })],
  };
  const [one, other] = await Promise.all([submit(request), submit(request)]);
  expect(other).toEqual(one);
  expect(one.comments).toMatchObject([
    { path: 'src/date.ts', startLine: 7, line: 7, resolvedAt: null },
    { startLine: 9, line: 12 },
  ]);
  const fix = await claim();
  expect(fix).toMatchObject({ runId: one.answeringRunId, branch: held.branch, step: { resumeSessionId: 'session-1' } });
  expect(fix.step.prompt).toContain(
    '## src/date.ts, line 7\n\n> +line 7\n\nUse UTC.\n\n## src/date.ts, lines 9 to 12 of the version before the change',
  );
  expect(await claim()).toBe(null);

  // A further review of the first run reaches the agent that already answers a review.
  const later = await submit({ runId: held.runId, verdict: 'request_changes', body: 'And the docs.' });
  expect(later.answeringRunId).toBe(fix.runId);
  await push(fix, second);
  expect(await submit({ runId: held.runId, verdict: 'approve' })).toMatchObject({
    code: 'conflict',
    description: `headSha: is not the newest commit of the branch, which is ${second}.`,
  });
  await finish(fix);

  const merge = (headSha: string, token = host.owner.token) =>
    as(
      token,
      'mutation ($r: String!, $h: String!) { mergePullRequest(runId: $r, headSha: $h) { outcome { prState } } }',
      { r: fix.runId, h: headSha },
    );
  expect(await submit({ runId: fix.runId, verdict: 'approve', headSha: second })).toMatchObject({ verdict: 'approve' });
  expect(await world.knex('runs').where({ id: fix.runId }).first()).toMatchObject({ approvedSha: second });
  expect(await merge(first)).toMatchObject({ code: 'conflict' });
  const pull = github.repositories.get('acme/shop')!.pulls[0]!;
  pull.mergeable_state = 'blocked';
  expect(await merge(second)).toMatchObject({
    code: 'conflict',
    description: expect.stringContaining('not mergeable'),
  });
  pull.mergeable_state = 'clean';
  expect(await merge(second)).toEqual({ outcome: { prState: 'merged' } });
  expect(await merge(second)).toEqual({ outcome: { prState: 'merged' } });
  expect(pull).toMatchObject({ merged: true });

  const resolve = (isResolved: boolean) =>
    as(
      host.owner.token,
      'mutation ($c: String!, $r: Boolean!) { resolveReviewComment(commentId: $c, isResolved: $r) { resolvedBy } }',
      { c: one.comments[0].id, r: isResolved },
    );
  expect(await resolve(true)).toEqual({ resolvedBy: 'Alice' });
  const { reviews } = await as(
    host.viewer.token,
    'query ($r: String!) { run(runId: $r) { reviews { verdict body comments { resolvedBy } } } }',
    { r: fix.runId },
  );
  expect(reviews.map(({ verdict }: Json) => verdict)).toEqual([
    ...['request_changes', 'request_changes', 'request_changes', 'approve'],
  ]);
  expect(reviews[1].comments).toEqual([{ resolvedBy: 'Alice' }, { resolvedBy: null }]);
  expect(await resolve(false)).toEqual({ resolvedBy: null });
  expect(github.violations).toEqual([]);
});

it('a project with autoMerge merges a commit that a person has approved', async () => {
  await world.knex('projects').where({ id: projectId }).update({ autoMerge: true });
  const held = await startMission('Mend the clock.');
  await push(held, first);
  await finish(held);
  await submit({ runId: held.runId, verdict: 'approve' });
  world.clock.turn(minutes(1));
  await followPullRequests();
  expect(await world.knex('runs').where({ id: held.runId }).first()).toMatchObject({ prState: 'merged' });
  await world.knex('projects').where({ id: projectId }).update({ autoMerge: false });
});

it('400 · an invalid review is refused with the name of the field, and nothing is stored', async () => {
  const held = await startMission('Mend the calendar.');
  await push(held, first);
  await finish(held);
  const { runId } = held;
  const bad: [object, string, RegExp][] = [
    [{ verdict: 'request_changes' }, 'invalid_request', /^body: must not be empty in a review without comments/],
    [
      { verdict: 'comment', comments: [comment(3, 'Why?', { startLine: 4 })] },
      'invalid_request',
      /^comments\.0\.startLine: must not/,
    ],
    [{ verdict: 'comment', comments: [comment(0, 'Why?')] }, 'invalid_request', /line/],
    [{ verdict: 'comment', comments: Array(101).fill(comment(1, 'Why?')) }, 'invalid_request', /comments/],
    [
      { verdict: 'request_changes', comments: Array(10).fill(comment(1, 'a'.repeat(4_000))) },
      'invalid_request',
      /^comments: are, together with the body, longer than 20000 characters\.?$/,
    ],
    [{ verdict: 'approve', headSha: 'main' }, 'invalid_request', /headSha/],
    [{ runId: 'run_none', verdict: 'approve' }, 'not_found', /run/],
  ];
  for (const [input, code, description] of bad)
    expect(await submit({ runId, ...input })).toMatchObject({
      code,
      description: expect.stringMatching(description),
    });
  expect(await submit({ runId, verdict: 'approve' }, host.viewer.token)).toMatchObject({ code: 'missing_scope' });
  expect(await submit({ runId, verdict: 'approve' }, host.stranger.token)).toMatchObject({ code: 'not_found' });
  expect(await world.knex('reviews').where({ runId })).toEqual([]);

  // Without a checkpoint nobody can continue the mission: the review is refused as a whole.
  await world.knex('checkpoints').where({ runId }).delete();
  const refused = await submit({ runId, verdict: 'request_changes', body: 'Again.' });
  expect(refused).toMatchObject({ code: 'conflict', description: expect.stringContaining('no checkpoint') });
  expect(await world.knex('reviews').where({ runId })).toEqual([]);
});

describe('reviews at the source host', () => {
  const pull = () => github.repositories.get('acme/shop')!.pulls.at(-1)!;
  const follow = async () => {
    world.clock.turn(hours(1));
    await followPullRequests();
    await world.delivered();
  };
  const pageOf = (runId: string): Promise<Json> =>
    as(
      host.owner.token,
      `query ($runId: String!) { run(runId: $runId) {
        reviews { comments { id resolvedAt resolvedBy } }
        hostThreads { url path side startLine line isResolved resolvedBy commentId comments { author body } } } }`,
      { runId },
    );

  it('a review is written at the host in the name of its author, once, with its comments on their lines', async () => {
    const held = await startMission('Mend the times.');
    await push(held, first);
    await finish(held);
    const text = '*Nearly* @ada';
    github.disturb('pulls/create-review', 'lose the answer');
    const { id, comments } = await submit({
      ...{ runId: held.runId, verdict: 'comment', body: text },
      comments: [comment(7, 'Use UTC.', { startLine: 5 }), comment(2, 'Why?', { side: 'old' })],
    });
    for (let i = 0; i < 4; i++) {
      world.clock.turn(minutes(5));
      await world.delivered();
    }
    const page = `${world.url}/console/o/${host.owner.organization.slug}/runs/${held.runId}/changes`;
    const head = `**Alice** comments on the change at ${first} ([review](${page})).`;
    expect(pull().reviews).toEqual([
      { commit_id: first, event: 'COMMENT', body: `${head}\n\n${text}\n\n<!-- review: ${id} -->` },
    ]);
    expect(
      pull().threads.map(({ line, startLine, diffSide, comments: [said] }) => [line, startLine, diffSide, said!.body]),
    ).toEqual([
      [7, 5, 'RIGHT', `**Alice:** Use UTC.\n\n<!-- comment: ${comments[0].id} -->`],
      [2, null, 'LEFT', `**Alice:** Why?\n\n<!-- comment: ${comments[1].id} -->`],
    ]);

    await submit({
      runId: held.runId,
      verdict: 'request_changes',
      body: 'Twice.',
      comments: [comment(101, 'Beyond.')],
    });
    await world.delivered();
    expect(pull().reviews.at(-1)!.body).toMatch(
      /^\*\*Alice\*\* requests changes[\s\S]*Twice\.\n\n`src\/date\.ts`, line 101:\n\n\*\*Alice:\*\* Beyond\.\n\n<!-- review: rvw_\w+ -->$/,
    );
    expect(pull().threads).toHaveLength(2);
  });

  it('a thread that is resolved or reopened at the host is resolved or reopened on the platform', async () => {
    const [{ id: runId }] = await world.knex('runs').orderBy('createdAt', 'desc').where({ prompt: 'Mend the times.' });
    const thread = startThread(pull(), 'ada', { line: null, path: 'src/time.ts' }, 'This is local time.');
    thread.comments.push({ ...thread.comments[0]!, body: 'Still.', author: null });
    const [own] = pull().threads as [Json];
    Object.assign(own, { isResolved: true, resolvedBy: { login: 'ada' } });
    await follow();
    const { reviews, hostThreads } = await pageOf(runId);
    expect(hostThreads).toMatchObject([
      {
        path: 'src/date.ts',
        side: 'new',
        startLine: 5,
        line: 7,
        isResolved: true,
        resolvedBy: 'ada',
        commentId: reviews[0].comments[0].id,
      },
      { side: 'old', line: 2, isResolved: false, commentId: reviews[0].comments[1].id },
      {
        ...{ path: 'src/time.ts', line: null, startLine: null, commentId: null },
        comments: [
          { author: 'ada', body: 'This is local time.' },
          { author: 'ghost', body: 'Still.' },
        ],
      },
    ]);
    expect(reviews[0].comments).toMatchObject([{ resolvedBy: 'ada' }, { resolvedBy: null }]);
    // When a person reopens the comment on the platform, the thread at the host is reopened too.
    await as(
      host.owner.token,
      'mutation ($id: String!) { resolveReviewComment(commentId: $id, isResolved: false) { id } }',
      { id: reviews[0].comments[0].id },
    );
    await world.delivered();
    expect(own).toMatchObject({ isResolved: false, resolvedBy: null });
    await follow();
    expect((await pageOf(runId)).reviews[0].comments[0]).toMatchObject({ resolvedBy: null });
    Object.assign(pull().threads[1]!, { isResolved: true });
    await follow();
    expect((await pageOf(runId)).reviews[0].comments[1]).toMatchObject({ resolvedBy: 'somebody at the source host' });
    Object.assign(pull().threads[1]!, { isResolved: false });
    await follow();
    expect((await pageOf(runId)).reviews[0].comments[1]).toMatchObject({ resolvedAt: null, resolvedBy: null });
    expect(github.violations).toEqual([]);
  });

  it('a thread at the host is resolved and answered once, on behalf of the person', async () => {
    const [{ id: runId }] = await world.knex('runs').orderBy('createdAt', 'desc').where({ prompt: 'Mend the times.' });
    const act = async (field: string, more: object, token = host.owner.token, key?: string) => {
      const types = 'isResolved' in more ? '$isResolved: Boolean!' : '$body: String!';
      const [name] = Object.keys(more);
      const query = `mutation ($runId: String!, $key: String!, ${types}) {
        ${field}(runId: $runId, key: $key, ${name}: $${name}) { isResolved resolvedBy comments { author body } } }`;
      const headers: Record<string, string> = key ? { 'idempotency-key': key } : {};
      const variables = { runId, key: theirs.id, ...more };
      return (await world.graphql(query, { token, variables, headers })).body;
    };
    const [own, , theirs] = pull().threads as [Json, Json, Json];
    const said = { body: '*Yes*, it is. /close' };
    for (let i = 0; i < 2; i++) await act('answerHostThread', said, host.owner.token, 'answer-1');
    // The response to the first call was lost. The repeated call finds the comment that the first call has written, and writes no second
    // one.
    const [, id] = /<!-- comment: (\w+) -->$/.exec(theirs.comments.at(-1).body)!;
    const project = await Project.get({ id: projectId });
    await pullRequests.answerThread(project, pull().number, theirs.id, { id: id!, body: 'Again.' });
    const answer = { author: 'acme-bot', body: '**Alice:** *Yes*, it is. /close' };
    const before = [
      { author: 'ada', body: 'This is local time.' },
      { author: 'ghost', body: 'Still.' },
    ];
    const { data } = await act('resolveHostThread', { isResolved: true });
    expect(data.resolveHostThread).toEqual({
      isResolved: true,
      resolvedBy: 'Alice',
      comments: [...before, answer, { author: 'acme-bot', body: '**Alice** resolved this thread.' }],
    });
    await act('resolveHostThread', { isResolved: true });
    await follow();
    expect((await pageOf(runId)).hostThreads[2]).toMatchObject({ isResolved: true, resolvedBy: 'Alice' });
    expect(theirs).toMatchObject({ isResolved: true, resolvedBy: { login: 'acme-bot' } });
    expect(theirs.comments).toHaveLength(4);
    expect((await act('resolveHostThread', { isResolved: false })).data.resolveHostThread).toMatchObject({
      isResolved: false,
      resolvedBy: null,
    });
    // The comment on the platform is resolved together with the thread that it began at the host.
    await act('resolveHostThread', { isResolved: true, key: own.id });
    expect((await pageOf(runId)).reviews[0].comments[0]).toMatchObject({ resolvedBy: 'Alice' });
    const codes = [
      await act('resolveHostThread', { isResolved: true }, host.stranger.token),
      await act('answerHostThread', { ...said, key: 'PRRT_999' }),
      await act('answerHostThread', { body: 'x'.repeat(4_001) }),
    ].map(({ errors }) => errors[0].extensions.code);
    expect(codes).toEqual(['not_found', 'not_found', 'invalid_request']);
    pull().threads.splice(2, 1);
    expect((await act('answerHostThread', said)).errors[0].message).toMatch(/GitHub rejected the request: .*node/);
    expect(github.violations).toEqual([]);
  });
});

it('each reported commit is a version of the change under review, and a repeated report adds none', async () => {
  const held = await startMission('Mend the zones.');
  const place = { orgId: host.owner.organization.id, projectId: projectId as never };
  const report = async (headSha: string, diff: string) => {
    const { id: changeArtifactId } = await leaveArtifact(place, diff, { caption: 'change.diff' });
    const { id: commitsArtifactId } = await leaveArtifact(place, '[]', { caption: 'change.commits.json' });
    const listed = headSha === second && { commitsArtifactId };
    await host.push(held, headSha, { changeArtifactId, ...listed, commits: 1, files: 2, insertions: 3, deletions: 4 });
    world.clock.turn(1);
    return changeArtifactId;
  };
  const [before] = [await report(first, 'one'), await report(first, 'again'), await report(second, 'two')];
  const versionsFor = async (token: string) =>
    await as(
      token,
      'query ($id: String!) { run(runId: $id) { changeVersions { runId headSha role commits changedFiles artifact { id } commitsArtifact { caption } } } }',
      { id: held.runId },
    );
  const { changeVersions } = await versionsFor(host.owner.token);
  const size = { runId: held.runId, role: 'builder', commits: 1, changedFiles: 2 };
  expect(changeVersions).toEqual([
    {
      ...{ ...size, headSha: second, artifact: { id: expect.any(String) } },
      commitsArtifact: { caption: 'change.commits.json' },
    },
    { ...size, headSha: first, artifact: { id: before }, commitsArtifact: null },
  ]);
  expect(await versionsFor(host.stranger.token)).toMatchObject({ code: 'not_found' });
  await finish(held);
});
