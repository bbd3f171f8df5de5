// Each approved effect happens only once, even if the process that carries it out is killed before or after any of its requests takes
// effect. Nothing happens before the approval.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { followPullRequests } from '#domain/work/runs/branch.ts';
import { minutes } from '#foundation/clock.ts';
import { openStagedWorld, type StagedWorld } from '../../support/staged-world.ts';

let staged: StagedWorld;

beforeAll(async () => {
  staged = await openStagedWorld({ waits: ['push', 'comment', 'tracker'] });
});
afterAll(() => staged.close());

const approve = (runId: string) =>
  staged.as('mutation ($runId: String!) { approveOutsideEffects(runId: $runId) { id } }', { runId });

/** A request for the first set of effects of a mission, and one for the second. */
const pairs = [
  ['PUSH', 'PATCH /issues/comments'],
  ['POST /pulls', 'PATCH /issues/'],
  ['POST /issues/', 'PATCH /issues/comments'],
] as const;
const kills = pairs.flatMap(([early, late]) =>
  (['before', 'after'] as const).map((when) => [when, early, late] as const),
);

it.each(kills)(
  'each approved change at the source host happens only once even if the process is killed twice, each time %s a request takes effect (%s, %s)',
  async (when, early, late) => {
    const { requests, repository } = staged;
    const held = await staged.startMission('Mend the dates.');
    const headSha = await staged.stage(held);
    const { issueId } = await staged.world.knex('runs').where({ id: held.runId }).first();
    const number = Number(issueId.split('#')[1]);
    requests.done.length = 0;
    await staged.finish(held);
    expect(requests.done).toEqual([]);

    // The first set of effects consists of the commits, their pull request and the comment on the issue.
    await approve(held.runId);
    await staged.killAt(early, when);
    expect(staged.headOf(held.branch)).toBe(headSha);
    const done = ['PUSH', 'POST /pulls', `POST /issues/${number}/comments`];
    // PATCH requests are left out. The service sends one to set the title and the text of the pull request if the pull request already exists.
    expect(requests.done.filter((one) => !/\/statuses\/|^PATCH/.test(one))).toEqual(done);
    const pull = repository().pulls.find(({ head }) => head.ref === held.branch)!;
    const issue = repository().issues.find((one) => one.number === number)!;
    expect(issue.comments.map(({ body }) => body)).toEqual([expect.stringContaining(pull.html_url)]);

    // When the pull request is merged, the second set of effects waits for approval. It updates the comment, which then reports the merge, and closes
    // the issue.
    Object.assign(pull, { state: 'closed', merged: true });
    requests.done.length = 0;
    staged.world.clock.turn(minutes(2));
    await followPullRequests();
    await staged.world.delivered();
    expect([requests.done, issue.state]).toEqual([[], 'open']);
    await approve(held.runId);
    await staged.killAt(late === 'PATCH /issues/' ? `${late}${number}` : late, when);
    const changes = [expect.stringMatching(/^PATCH \/issues\/comments\/\d+$/), `PATCH /issues/${number}`];
    // The request that closes the issue is sent again, which changes nothing.
    if (when === 'after' && late === 'PATCH /issues/') changes.push(changes[1]);
    expect(requests.done.filter((one) => !one.includes('/statuses/'))).toEqual(changes);
    expect([issue.state, issue.comments.length]).toEqual(['closed', 1]);
    expect(await staged.effects(held.runId)).toMatchObject(Array(5).fill({ state: 'committed', error: null }));
    expect(staged.github.violations).toEqual([]);
    // The stand-in for GitHub numbers a new issue without regard to pull requests, so the issue could get the number of a pull request. Without
    // pull requests, the number of the next issue is unique.
    repository().pulls.length = 0;
  },
);
