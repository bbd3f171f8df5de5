// The end of a run is reported to its issue in the background, with retries while the tracker is unavailable.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Organization } from '#domain/organization/organizations/model.ts';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { releaseSilentRuns } from '#domain/work/runs/waiting.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { silenceMs } from '#limits.ts';
import { createOwner, createProject } from '../support/callers.ts';
import { type Linear, openLinear } from '../support/fake-linear.ts';
import { createRuntime, type Runtime } from '../support/runtime-client.ts';
import { openWorld, type World } from '../support/world.ts';

const key = 'lin_api_OfAcme';
const logged: string[] = [];
let world: World;
let linear: Linear;
let acme: Organization;
let alice: string;
let runtime: Runtime;

beforeAll(async () => {
  openOutbound({ allowLoopback: true });
  linear = await openLinear(key);
  const vendors = { linear: linear.address, github: linear.address };
  world = await openWorld({ vendors, log: (line) => logged.push(line) });
  ({ organization: acme, token: alice } = await createOwner(world, 'Alice', 'Acme'));
  runtime = await createRuntime(world, acme);
  await connectIntegration({
    orgId: acme.id,
    vendor: 'linear',
    vendorKind: 'tracker',
    displayName: 'Linear',
    credentials: key,
  });
});
afterAll(async () => {
  await Promise.all([world.close(), linear.close()]);
  openOutbound({ allowLoopback: false });
});
afterEach(() => {
  linear.clear();
  logged.splice(0);
  expect(linear.violations).toEqual([]);
});

let count = 0;
interface Held {
  runId: string;
  leaseId: string;
  issueId: string;
  projectId: string;
}

/** A run that the runtime has claimed, in a project with the tracker. */
async function taken(tracker: 'builtin' | 'linear'): Promise<Held> {
  const projectId = await createProject(world, { token: alice }, `Shop ${++count}`, { tracker, trackerTeamKey: 'ENG' });
  const schedule = { interval: 'daily', time: '09:00', timezone: 'UTC' };
  const body = {
    projectId,
    name: 'Daily',
    prompt: 'Do it.',
    triggers: [{ kind: 'schedule', schedule }],
  };
  const task = await world.rest('POST', '/scheduled-tasks', { token: alice, body });
  await world.rest('POST', `/scheduled-tasks/${task.body.id}/run`, { token: alice });
  return runtime.claim({}, '{ runId leaseId issueId projectId }');
}

const runOf = ({ runId }: Held) => world.knex('runs').where({ id: runId }).first();
const waiting = () => world.knex('background.job').where({ name: 'finish issue' });

describe('the end of a run in its tracker', () => {
  it('the end of a run closes its issue in the built-in tracker', async () => {
    const held = await taken('builtin');
    await runtime.finish(held);
    expect(await waiting()).toMatchObject([{ data: { runId: held.runId } }]);
    await world.delivered();
    expect(await world.knex('issues').where({ id: held.issueId }).first()).toMatchObject({ state: 'closed' });
    expect(await waiting()).toEqual([]);
  });

  it('a vendor’s issue gets a comment with the outcome, the cost and the URL of the run', async () => {
    const held = await taken('linear');
    const { runId, leaseId } = held;
    await runtime.report('reportCost', { runId, leaseId, costId: 'one', usd: 1.255, incomplete: true });
    await runtime.finish(held);
    await world.delivered();
    const body = `Daily: completed\n\nCost: 1.25 USD or more\n\n${world.url}/console/o/acme/runs/${runId}`;
    expect([...linear.comments.values()]).toEqual([{ id: expect.any(String), issueId: held.issueId, body }]);
    expect(linear.issues.get(held.issueId)!.stateId).toBe('state-done');
  });

  it('the comment on a failed run contains the reason, and the issue stays open', async () => {
    const held = await taken('linear');
    await runtime.finish(held, { status: 'failed', error: 'exit code 1' });
    await world.delivered();
    const [{ body } = { body: '' }] = [...linear.comments.values()];
    expect(body.split('\n\n').slice(0, 3)).toEqual(['Daily: failed', 'exit code 1', 'Cost: 0.00 USD']);
    expect(linear.issues.get(held.issueId)!.stateId).toBe('state-todo');
  });

  it('the comment on a run that lost its runtime names that runtime', async () => {
    await taken('linear');
    world.clock.turn(silenceMs.failed);
    await releaseSilentRuns();
    await world.delivered();
    const [{ body } = { body: '' }] = [...linear.comments.values()];
    expect(body).toContain('Daily: failed\n\nThe runtime Runtime did not reconnect within 10 minutes');
  });
});

describe('trackers that fail at the end of a run', () => {
  it('an unavailable tracker is tried again, and gets one comment', async () => {
    const held = await taken('linear');
    await runtime.finish(held);
    linear.disturb('UpdateIssue', 'lose the answer');
    await world.delivered();
    expect(await waiting()).toMatchObject([{ state: 'retry' }]);
    expect(logged.map((line) => JSON.parse(line)).filter(({ queue }) => queue)).toMatchObject([
      { level: 'warn', queue: 'finish issue', try: 1, err: { message: 'Linear is unreachable.' } },
    ]);
    await world.knex.raw('update background.job set start_after = now()');
    await world.delivered();
    expect([linear.comments.size, await waiting(), (await runOf(held)).lastError]).toEqual([1, [], null]);
  });

  it('a refusal by the tracker is not retried; the run shows it in addition to its own failure', async () => {
    const held = await taken('linear');
    linear.issues.clear();
    await runtime.finish(held, { status: 'failed', error: 'exit code 1' });
    await world.delivered();
    expect(await waiting()).toEqual([]);
    expect((await runOf(held)).lastError.split('\n')).toEqual([
      'exit code 1',
      'The tracker was not informed that the run has ended: Linear rejected the request: Could not find referenced Issue.',
    ]);
  });

  it('the tracker gets no report on a run of a deleted project', async () => {
    const held = await taken('builtin');
    await runtime.finish(held);
    await world.knex('projects').where({ id: held.projectId }).delete();
    await world.delivered();
    expect(await waiting()).toEqual([]);
  });
});
