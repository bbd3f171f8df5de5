// Outside effects wait for approval: nothing reaches the source host before a person approves it, and each effect happens once after its
// approval.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { githubHeaders, labeled } from '../../support/github-events.ts';
import { openStagedWorld, type StagedWorld } from '../../support/staged-world.ts';

let staged: StagedWorld;

beforeAll(async () => {
  staged = await openStagedWorld({ waits: ['push'] }, { tracker: 'builtin' });
});
afterAll(() => staged.close());

it('after approval, a branch is pushed once and its pull request opened once', async () => {
  const held = await staged.startMission('Mend the dates.');
  const access = { runId: held.runId, leaseId: held.leaseId };
  expect(await staged.runtime.ask('openRepository', access, '{ pushWaits }')).toMatchObject({ code: 'forbidden' });
  expect(await staged.runtime.report('openRepository', { ...access, stagesPushes: true }, '{ pushWaits }')).toEqual({
    pushWaits: true,
  });
  const first = await staged.stage(held);
  const second = await staged.stage(held, first);
  await staged.finish(held);
  expect(staged.requests.done).toEqual([]);

  const waiting = await staged.effects(held.runId);
  expect(waiting).toMatchObject([
    { kind: 'push', state: 'staged', title: `Push ${second.slice(0, 10)} to ${held.branch}` },
    { kind: 'pull_request', state: 'staged', title: expect.stringContaining('Mend the dates.') },
  ]);
  const [push, pull] = waiting;
  // The inbox asks for a decision about the effects, and not yet for a review of the change. The change is not at the source host before the push, so
  // no reviewer could see it.
  const inbox = () => staged.as('{ inbox { data { id kind detail } } }', {});
  expect((await inbox()).data).toEqual([
    { id: `effects-${held.runId}`, kind: 'effects', detail: '2 outside effects wait' },
  ]);
  expect(await staged.decide('approve', held.runId, { effectIds: [pull.id] })).toMatchObject({
    description: `effectIds: the pull request needs the push of its branch: approve ${push.id} too.`,
  });
  expect(await staged.decide('approve', held.runId, { digests: ['0', pull.digest] })).toMatchObject({
    code: 'conflict',
  });
  const both = [staged.decide('approve', held.runId), staged.decide('approve', held.runId)];
  expect(await Promise.all(both)).toEqual([{ id: held.runId }, { id: held.runId }]);

  expect(staged.headOf(held.branch)).toBe(second);
  expect(staged.requests.done).toEqual(['PUSH', 'POST /pulls', `POST /statuses/${second}`]);
  expect(await staged.effects(held.runId)).toMatchObject([
    { state: 'committed', decidedBy: 'Alice', error: null },
    { state: 'committed', resultUrl: 'https://github.com/acme/shop/pull/1' },
  ]);
  const run = await staged.world.knex('runs').where({ id: held.runId }).first();
  expect(run).toMatchObject({ prNumber: 1, prState: 'open', headSha: second });
  expect((await inbox()).data).toMatchObject([{ id: `review-${held.runId}` }]);
  expect(await staged.decide('reject', held.runId)).toMatchObject({ code: 'conflict' });
  expect(staged.github.violations).toEqual([]);
});

/** A mission that has ended with a staged push. */
async function ended(prompt: string) {
  const held = await staged.startMission(prompt);
  const headSha = await staged.stage(held);
  await staged.finish(held);
  staged.requests.done.length = 0;
  return { ...held, headSha };
}

it('a change that a person rejects is never made at the source host, and neither is a change of a canceled mission', async () => {
  const { runId, branch } = await ended('Reject me.');
  const stranger = await staged.decide('reject', runId, {}, staged.stranger.token);
  expect(stranger).toMatchObject({ code: 'not_found' });
  expect(await staged.decide('approve', runId, {}, staged.viewer.token)).toMatchObject({ code: 'missing_scope' });
  const [push] = await staged.effects(runId);
  await staged.decide('reject', runId, { effectIds: [push.id] });
  expect(await staged.effects(runId)).toMatchObject([{ state: 'rejected' }, { state: 'rejected' }]);
  expect(await staged.decide('approve', runId)).toMatchObject({
    description: 'This run has no outside effect that waits for a decision.',
  });
  expect(await staged.decide('approve', runId, { effectIds: [push.id] })).toMatchObject({ code: 'conflict' });

  const held = await staged.startMission('Cancel me.');
  await staged.stage(held);
  await staged.world.rest('POST', `/runs/${held.runId}/cancel`, { token: staged.owner.token });
  expect(await staged.decide('approve', held.runId)).toMatchObject({
    description: 'The run was canceled, so its outside effects were rejected.',
  });
  await staged.world.delivered();
  expect([staged.headOf(branch), staged.headOf(held.branch), staged.requests.done]).toEqual([null, null, []]);
});

it('an approved push fails when somebody has moved the branch; after another approval, the push is tried again', async () => {
  const { runId, branch, headSha } = await ended('Race me.');
  staged.move(branch, staged.headOf('main')!);
  await staged.decide('approve', runId);
  expect(await staged.effects(runId)).toMatchObject([
    {
      state: 'failed',
      error: expect.stringContaining(`Somebody pushed to ${branch} after the agent began, and the branch is now at`),
    },
    { state: 'failed', error: 'The push of the branch has failed.' },
  ]);
  expect(staged.requests.done).toEqual([]);
  staged.move(branch, headSha.replace(/./g, '0'));
  await staged.decide('approve', runId);
  expect(staged.headOf(branch)).toBe(headSha);
  expect(await staged.effects(runId)).toMatchObject([{ state: 'committed' }, { state: 'committed' }]);
});

it('an approved push fails while the connector is missing; a pull request is retried during an outage of the host', async () => {
  const { runId, branch, headSha } = await ended('Lose the connector.');
  const { knex } = staged.world;
  const { scmConnectorId } = await knex('projects').where({ id: staged.projectId }).first();
  await knex('projects').where({ id: staged.projectId }).update({ scmConnectorId: null });
  await staged.decide('approve', runId);
  expect(await staged.effects(runId)).toMatchObject([{ state: 'failed' }, { state: 'failed' }]);
  await knex('projects').where({ id: staged.projectId }).update({ scmConnectorId });

  staged.github.disturb('pulls/create', { status: 503 });
  await staged.decide('approve', runId);
  expect(await staged.effects(runId)).toMatchObject([
    { state: 'committed' },
    { state: 'approved', error: 'GitHub failed (status 503).' },
  ]);
  await knex.raw('update background.job set start_after = now()');
  await staged.world.delivered();
  expect(await staged.effects(runId)).toMatchObject([{ state: 'committed' }, { state: 'committed', error: null }]);
  expect(staged.headOf(branch)).toBe(headSha);
});

it('a comment that answers an event is written after its approval, and an update of the comment needs another approval', async () => {
  const { github, repository, requests, world } = staged;
  await staged.setPolicy({ waits: ['comment'] });
  // The stand-in for GitHub numbers a new issue without regard to pull requests, so the issue could get the number of a pull request. Without
  // pull requests, the number of the next issue is unique.
  repository().pulls.length = 0;
  const issue = github.open('acme/shop', { title: 'Dates are wrong' });
  repository().permissions.set('ada', 'write');
  await staged.automation([{ kind: 'issue', label: 'agent' }]);
  const [name, payload] = labeled(issue);
  const body = JSON.stringify({ repository: { full_name: 'acme/shop' }, ...payload });
  requests.done.length = 0;
  await staged.hook.deliver(body, githubHeaders(name, body, staged.hook.secret));
  const held = await staged.claim();
  expect(await staged.effects(held.runId)).toMatchObject([
    { kind: 'comment', title: 'Comment on issue 1', text: expect.stringContaining('Work: started') },
  ]);
  await staged.decide('approve', held.runId);
  world.clock.turn(1);
  await staged.finish(held);
  expect(requests.done).toEqual(['POST /issues/1/comments']);
  expect(issue.comments).toMatchObject([{ body: expect.stringContaining('Work: started') }]);
  expect(await staged.effects(held.runId)).toMatchObject([
    { state: 'committed' },
    { state: 'staged', text: expect.stringContaining('Work: completed') },
  ]);
  await staged.decide('reject', held.runId);
  await world.delivered();
  expect(issue.comments).toMatchObject([{ body: expect.stringContaining('Work: started') }]);
});

it('the approval policies of the project, its template and the rule all apply; the policy of the rule applies to continuations too', async () => {
  const { world, runtime } = staged;
  const { token } = staged.owner;
  const opened = async ({ runId, leaseId }: { runId: string; leaseId: string }) =>
    (await runtime.report('openRepository', { runId, leaseId, stagesPushes: true }, '{ pushWaits }')).pushWaits;
  await staged.setPolicy(null);
  const free = await staged.startMission('Push at once.');
  expect(await opened(free)).toBe(false);
  await staged.setPolicy({ waits: ['push'] });
  expect(await opened(free)).toBe(true);
  await staged.setPolicy(null);

  const made = { name: 'Careful', effectPolicy: { waits: ['push'], allowedTools: ['docs'] } };
  const template = (await world.rest('POST', '/sandbox-templates', { token, body: made })).body;
  expect(template.effectPolicy).toEqual(made.effectPolicy);
  const useTemplate = (id: string | null) =>
    world.rest('PATCH', `/projects/${staged.projectId}`, { token, body: { defaultSandboxTemplateId: id } });
  await useTemplate(template.id);
  expect(await opened(free)).toBe(true);
  await useTemplate(null);
  await staged.finish(free);

  const input = {
    projectId: staged.projectId,
    name: 'Nightly',
    prompt: 'Mend.',
    triggers: [],
    effectPolicy: made.effectPolicy,
  };
  const rule = { ...input, eventTriggers: [{ kind: 'issue', label: 'nightly' }] };
  const { id } = await staged.as(
    'mutation ($input: CreateScheduledTaskRequest!) { createAutomation(input: $input) { id } }',
    { input: rule },
  );
  await world.rest('POST', `/automations/${id}/run`, { token });
  const ruled = await staged.claim();
  await world.rest('DELETE', `/automations/${id}`, { token });
  expect(await opened(ruled)).toBe(true);
  await staged.finish(ruled);
  await world.rest('POST', `/runs/${ruled.runId}/continuation`, { token, body: { prompt: 'Go on.' } });
  expect(await opened(await staged.claim())).toBe(true);
});
