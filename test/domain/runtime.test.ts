// The runtime API as a story: a mission is claimed, worked on, reported and finished; and every failure of a runtime that is silent,
// late, or repeats itself. The clock begins on Monday 23 November 2026, 09:00 UTC.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createServiceToken } from '#domain/identity/tokens/service-tokens.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import { deleteStaleHarnesses } from '#domain/projects/agents/runtime-harnesses.ts';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { dispatchDue } from '#domain/work/recurring/dispatch.ts';
import { explainWaits, failOverdueRuns, releaseSilentRuns } from '#domain/work/runs/waiting.ts';
import { endOverdueSandboxes } from '#domain/work/sandboxes/end.ts';
import { days, hours, minutes, seconds } from '#foundation/clock.ts';
import { createOwner, createProject } from '../support/callers.ts';
import { rowsOf, written } from '../support/database-rows.ts';
import { addKnownRuntime, openWorld, present, type World } from '../support/world.ts';

let world: World;
let acme: Organization;
let globex: Organization;
let alice: string;
let mallory: string;
let runtime: string;
let foreign: string;
let task: string;
let projectId: string;

beforeAll(async () => {
  world = await openWorld();
  ({ organization: acme, token: alice } = await createOwner(world, 'Alice', 'Acme'));
  ({ organization: globex, token: mallory } = await createOwner(world, 'Mallory', 'Globex'));
  runtime = (await createServiceToken({ name: 'runtime', orgId: acme.id })).token;
  foreign = (await createServiceToken({ name: 'runtime', orgId: globex.id })).token;
  projectId = await createProject(world, { token: alice }, 'Shop');
  const schedule = { interval: 'weekly', weekday: 'monday', time: '09:00', timezone: 'Pacific/Auckland' };
  const mission = { projectId, name: 'Check', prompt: 'echo checked', triggers: [{ kind: 'schedule', schedule }] };
  task = (await world.rest('POST', '/scheduled-tasks', { token: alice, body: mission })).body.id;
});
afterAll(() => world.close());
// Each test begins without open runs.
beforeEach(() => world.knex('runs').whereIn('status', ['dispatching', 'running']).update({ status: 'canceled' }));

type Outcome = { data: Record<string, unknown>; problem?: { code: string; description: string } };

async function say(name: string, input: object, selection = '{ ok }', token = runtime): Promise<Outcome> {
  const type = `${name[0]!.toUpperCase()}${name.slice(1)}Request`;
  const query = `mutation ($input: ${type}!) { said: ${name}(input: $input) ${selection} }`;
  const { body } = await world.graphql(query, { token, variables: { input } });
  return { data: body.data?.said, problem: body.errors?.[0].extensions.problem };
}
const refused = ({ problem }: Outcome) => problem && [problem.code, problem.description];

const runNow = async (): Promise<string> =>
  (await world.rest('POST', `/scheduled-tasks/${task}/run`, { token: alice })).body.runId;
const claimed =
  '{ runId leaseId leaseUntil orgId projectId missionTitle prompt issueId issueUrl repoFullName instanceType ' +
  'agent { agentId name role harness model effort userPrompt skillRepos sandboxTemplateId } }';
const claim = (more: object = {}, token = runtime, selection = claimed) =>
  say('claimRun', { runtime: 'Runtime 1', harnesses: ['claude-code'], ...more }, selection, token);
const run = async (runId: string, token = alice) =>
  (
    await world.graphql(
      `query ($runId: String!) { run(runId: $runId) { id status missionProgress missionActivity missionCostUsd missionCostIncomplete
        lastError reason startedAt finishedAt issue { key state } sandboxes { sandboxId status terminationReason }
        artifacts { id kind caption } scheduledTask { name } } }`,
      { token, variables: { runId } },
    )
  ).body.data?.run;

/** A run that this runtime holds. */
async function taken(): Promise<{ runId: string; leaseId: string }> {
  await runNow();
  const { runId, leaseId } = (await claim()).data as { runId: string; leaseId: string };
  return { runId, leaseId };
}
const sandboxOf = async (held: { runId: string; leaseId: string }, key = 'box'): Promise<string> => {
  const input = { ...held, key, role: 'builder', harness: 'claude-code', instanceType: 'lite' };
  return (await say('registerSandbox', input, '{ sandboxId }')).data.sandboxId as string;
};
/** A sandbox with an open session, and the members of its reports. */
async function sitting() {
  const held = await taken();
  const place = { sandboxId: await sandboxOf(held), leaseId: held.leaseId };
  const session = { ...place, role: 'builder', sessionId: 'one' };
  await say('reportSession', session);
  return { held, place, session };
}
const beat =
  '{ runs { runId desired leaseUntil } sandboxes { sandboxId desired } environments { environmentId desired } }';

describe('claiming a run', () => {
  it('returns the run that has waited longest, with everything that a runtime needs, and then null', async () => {
    expect((await claim()).data).toBeNull();
    const first = await runNow();
    world.clock.turn(1);
    const second = await runNow();
    const { data } = await claim();
    expect(data).toEqual({
      runId: first,
      leaseId: expect.stringMatching(/^lse_/),
      leaseUntil: present() + seconds(60),
      orgId: acme.id,
      projectId,
      missionTitle: 'Check',
      prompt: 'echo checked',
      issueId: expect.stringMatching(/^iss_/),
      issueUrl: expect.stringContaining('/console/o/acme/issues/iss_'),
      repoFullName: 'acme/shop',
      instanceType: 'standard-1',
      agent: {
        agentId: null,
        name: 'Builder',
        role: 'builder',
        harness: 'claude-code',
        model: 'claude-sonnet-4-5',
        effort: null,
        userPrompt: expect.any(String),
        skillRepos: [],
        sandboxTemplateId: 'standard',
      },
    });
    expect(await run(first)).toMatchObject({ status: 'running', startedAt: present(), missionProgress: null });
    expect((await claim()).data).toMatchObject({ runId: second });
    expect((await claim()).data).toBeNull();
  });

  it('skips runs whose organization has no agent for the harness, and prefers the organization’s own agent', async () => {
    const runId = await runNow();
    const offer = { harnesses: ['claude-code'], modelVendors: [] };
    expect((await claim(offer)).data).toBeNull();
    expect((await claim({ ...offer, harnesses: ['shell'] })).data).toBeNull();
    const agent = {
      name: 'Two',
      role: 'builder',
      harness: 'codex',
      model: 'gpt-5.5',
      sandbox: { kind: 'existing', templateId: 'standard' },
    };
    const { body } = await world.rest('POST', '/agents', { token: alice, body: agent });
    expect((await claim({ harnesses: ['codex'] })).data).toMatchObject({
      runId,
      agent: { agentId: body.id, harness: 'codex' },
    });
    await world.rest('DELETE', `/agents/${body.id}`, { token: alice });
  });

  it('never returns the same run for two concurrent claims', async () => {
    const ids = await Promise.all(Array.from({ length: 6 }, runNow));
    const got = await Promise.all(Array.from({ length: 9 }, () => claim()));
    const runs = got.map(({ data }) => data?.runId).filter(Boolean);
    expect(runs.sort()).toEqual(ids.sort());
  });

  it('returns the same run for a repeated claim while it is held, even concurrently', async () => {
    const first = await runNow();
    world.clock.turn(1);
    const second = await runNow();
    const both = await Promise.all([1, 2, 3].map(() => claim({ claimId: 'one' })));
    expect(new Set(both.map(({ data }) => data.leaseId)).size).toBe(1);
    expect(both[0]!.data.runId).toBe(first);
    expect((await claim({ claimId: 'two' })).data).toMatchObject({ runId: second });
    expect((await claim({ claimId: 'three' })).data).toBeNull();
    // The same claim id of another service is another claim.
    expect((await claim({ claimId: 'one' }, await world.service())).data).toBeNull();
    await say('finishRun', { runId: first, leaseId: both[0]!.data.leaseId, status: 'completed' });
    expect((await claim({ claimId: 'one' })).data).toBeNull();
  });

  it('returns no run to a runtime of another organization, but to one of all organizations', async () => {
    const runId = await runNow();
    expect((await claim({}, foreign)).data).toBeNull();
    expect((await claim({}, await world.service())).data).toMatchObject({ runId });
  });

  it('400 · names the invalid field', async () => {
    expect(refused(await claim({ runtime: '', harnesses: [] }))?.[1]).toBe(
      'runtime: must be at least 1 character; harnesses: must be at least 1 entry.',
    );
  });
});

describe('a run that waits', () => {
  const nobody = 'No runtime with the harness claude-code or codex or opencode is connected.';
  const free = 'Waiting for a connected runtime to be free.';
  const reason = async (runId: string) => {
    await explainWaits();
    return (await run(runId)).reason;
  };

  it('shows that no runtime offers its harness, or that all are busy; a heartbeat keeps a runtime connected', async () => {
    world.clock.turn(minutes(3));
    const runId = await runNow();
    expect(await reason(runId)).toBe(nobody);
    const { updatedAt } = await world.knex('runs').where({ id: runId }).first();
    world.clock.turn(1);
    expect(await reason(runId)).toBe(nobody);
    expect((await world.knex('runs').where({ id: runId }).first()).updatedAt).toBe(updatedAt);
    expect((await world.rest('GET', `/scheduled-tasks/${task}/runs`, { token: alice })).body.data[0].reason).toBe(
      nobody,
    );
    const held = (await claim()).data;
    expect((await run(runId)).reason).toBeNull();
    const next = await runNow();
    expect(await reason(next)).toBe(free);
    for (let i = 0; i < 4; i++) {
      world.clock.turn(seconds(50));
      await say('heartbeat', { runs: [{ runId, leaseId: held.leaseId }] }, beat);
    }
    expect(await reason(next)).toBe(free);
    world.clock.turn(minutes(2));
    expect(await reason(next)).toBe(nobody);
    // A runtime of another organization does not count.
    await claim({}, foreign);
    expect(await reason(next)).toBe(nobody);
  });

  it('has a reason that lists the harnesses of the organization’s own agents as well', async () => {
    world.clock.turn(minutes(3));
    const sandbox = { kind: 'existing', templateId: 'standard' };
    const agent = { name: 'Codex', role: 'builder', harness: 'codex', model: 'gpt-5.5', sandbox };
    const { id } = (await world.rest('POST', '/agents', { token: alice, body: agent })).body;
    const runId = await runNow();
    expect(await reason(runId)).toBe('No runtime with the harness claude-code or codex or opencode is connected.');
    await world.rest('DELETE', `/agents/${id}`, { token: alice });
  });

  it('offers of runtimes are written at most once in 30 seconds, and deleted after a day', async () => {
    const seen = () => world.knex('runtime_harnesses').where({ runtime: 'Poller' }).select('harness', 'seenAt');
    const poll = () => claim({ runtime: 'Poller', harnesses: ['codex', 'codex', 'opencode'] });
    const begun = present();
    await poll();
    world.clock.turn(seconds(29));
    await Promise.all([poll(), poll()]);
    expect(await seen()).toEqual([
      { harness: 'codex', seenAt: begun },
      { harness: 'opencode', seenAt: begun },
    ]);
    world.clock.turn(seconds(1));
    await poll();
    expect((await seen()).map(({ seenAt }: { seenAt: number }) => seenAt)).toEqual([present(), present()]);
    world.clock.turn(days(1));
    await deleteStaleHarnesses();
    expect(await seen()).toEqual([]);
    await addKnownRuntime();
  });

  it('fails after a day with the reason for its wait, which is reported to the tracker', async () => {
    const runId = await runNow();
    const [waited] = [await reason(runId)];
    world.clock.turn(hours(24) - 1);
    await failOverdueRuns();
    expect((await run(runId)).status).toBe('dispatching');
    world.clock.turn(1);
    await failOverdueRuns();
    const failed = await run(runId);
    expect(failed).toMatchObject({
      status: 'failed',
      finishedAt: present(),
      lastError: 'The run waited for 24 hours.',
    });
    expect([waited, failed.reason]).toEqual([nobody, nobody]);
    expect((await claim()).data).toBeNull();
  });

  it('waits a full day again after it was handed back', async () => {
    const held = await taken();
    world.clock.turn(hours(25));
    await say('heartbeat', { runs: [held] }, beat);
    await say('handBackRun', { ...held, reason: 'going' });
    await failOverdueRuns();
    expect((await run(held.runId)).status).toBe('dispatching');
  });
});

describe('prompts need a model', () => {
  const mission =
    'mutation ($projectId: String!, $agentId: String) { startMission(projectId: $projectId, prompt: "Fix it.", agentId: $agentId) { id } }';
  const start = async (agentId?: string) => {
    const { body } = await world.graphql(mission, { token: alice, variables: { projectId, agentId } });
    return { id: body.data?.startMission.id, problem: body.errors?.[0].extensions.problem };
  };
  const noModel = 'No model is connected: connect one to the organization, or name an agent that runs scripts.';

  it('a script runs only where the mission names its agent, never in place of a model', async () => {
    const sandbox = { kind: 'existing', templateId: 'standard' };
    const agent = { name: 'Nightly', role: 'builder', harness: 'shell', model: 'none', sandbox };
    const { id } = (await world.rest('POST', '/agents', { token: alice, body: agent })).body;
    const words = await runNow();
    expect((await claim({ harnesses: ['shell'] })).data).toBeNull();
    const [builtin, own] = [(await start('agn_builtin_shell')).id, (await start(id)).id];
    const claimed = [await claim({ harnesses: ['shell'] }), await claim({ harnesses: ['shell'] })];
    expect(new Map(claimed.map(({ data }) => [data.runId, (data.agent as { name: string }).name]))).toEqual(
      new Map([
        [builtin, 'Script'],
        [own, 'Nightly'],
      ]),
    );
    expect((await claim({ harnesses: ['shell', 'claude-code'] })).data).toMatchObject({
      runId: words,
      agent: { name: 'Builder' },
    });
    await world.rest('DELETE', `/agents/${id}`, { token: alice });
  });

  it('409 · no mission starts without a model of a runtime or of the organization, by the API or on schedule', async () => {
    await world.knex('runtime_harnesses').delete();
    await claim({ harnesses: ['shell'], modelVendors: [] });
    expect((await start()).problem).toMatchObject({ code: 'model_required', description: noModel });
    expect((await start('agn_builtin_planner')).problem).toMatchObject({ code: 'model_required' });
    expect((await start('agn_builtin_shell')).problem).toBeUndefined();
    expect(await world.rest('POST', `/scheduled-tasks/${task}/run`, { token: alice })).toMatchObject({
      status: 409,
      body: { code: 'model_required', description: noModel },
    });
    const due = await world.knex('recurring_missions').where({ id: task }).first();
    world.clock.turn(due.nextRunAt - present());
    await dispatchDue();
    const [skipped] = (await world.rest('GET', `/scheduled-tasks/${task}/runs`, { token: alice })).body.data;
    expect(skipped).toMatchObject({ status: 'skipped', reason: noModel });
    // The harness may be installed later; a key of the runtime's own counts too.
    const connector = { orgId: acme.id, vendor: 'anthropic', vendorKind: 'llm', displayName: 'Claude' } as const;
    const { id: integrationId } = await connectIntegration({ ...connector, credentials: 'sk-key' });
    const waits = (await start()).id;
    await explainWaits();
    expect((await run(waits)).reason).toBe(
      'No runtime with the harness claude-code or codex or opencode is connected.',
    );
    await world.knex('projects').update({ llmConnectorId: null });
    await world.knex('integrations').where({ id: integrationId }).delete();
    await explainWaits();
    expect((await run(waits)).reason).toBe('No model is connected: connect one to the organization.');
    await claim({ harnesses: ['shell'], modelVendors: [] });
    expect((await start()).problem).toMatchObject({ code: 'model_required' });
    world.clock.turn(seconds(30));
    // Built-in agents run with models of any vendor.
    await claim({ harnesses: ['shell'], modelVendors: ['openai'] });
    expect((await start()).problem).toBeUndefined();
    await addKnownRuntime();
  });

  it('a recurring mission of the template “script” uses the script agent, unless it names another', async () => {
    const schedule = { interval: 'daily', time: '06:00', timezone: 'UTC' };
    const input = { projectId, name: 'Nightly', prompt: 'true', triggers: [{ kind: 'schedule', schedule }] };
    const created = async (more: object) => {
      const { id } = (await world.rest('POST', '/automations', { token: alice, body: { ...input, ...more } })).body;
      return (await world.knex('recurring_missions').where({ id }).first()).agentId;
    };
    expect(await created({ templateKey: 'script' })).toBe('agn_builtin_shell');
    expect(await created({ templateKey: 'flaky-tests' })).toBeNull();
    const change = (body: object) => world.rest('PATCH', `/scheduled-tasks/${task}`, { token: alice, body });
    await change({ templateKey: 'script' });
    const { agentId } = await world.knex('recurring_missions').where({ id: task }).first();
    expect(agentId).toBe('agn_builtin_shell');
    await world.knex('recurring_missions').where({ id: task }).update({ agentId: null, templateKey: null });
    await world.knex('recurring_missions').where({ kind: 'automation' }).delete();
  });
});

it('a claim contains the merge setting, and built-in agents work in the project’s default template', async () => {
  const patch = (body: object) => world.rest('PATCH', `/projects/${projectId}`, { token: alice, body });
  const claimedOf = async () => {
    await runNow();
    return (await claim({}, runtime, '{ autoMerge agent { sandboxTemplateId } }')).data;
  };
  expect(await claimedOf()).toEqual({ autoMerge: false, agent: { sandboxTemplateId: 'standard' } });
  await patch({ autoMerge: true });
  const template = await world.rest('POST', '/sandbox-templates', { token: alice, body: { name: 'Large' } });
  await patch({ defaultSandboxTemplateId: template.body.id });
  expect(await claimedOf()).toEqual({ autoMerge: true, agent: { sandboxTemplateId: template.body.id } });
  await patch({ autoMerge: false, defaultSandboxTemplateId: null });
});

it('a terminal is opened with the nearest allowed size, and refuses input while its shell has not read earlier input', async () => {
  const { runId } = await taken();
  const field = (text: string) => world.field(`mutation { ${text} }`, { token: alice });
  const { id, ...size } = await field(`openTerminal(runId: "${runId}", width: 9000, height: 0) { id width height }`);
  expect(size).toEqual({ width: 500, height: 5 });
  const unread = Array.from({ length: 64 }, (_, seq) => ({ terminalId: id, isInput: true, seq, content: 'x' }));
  await world.knex('terminal_pieces').insert(unread);
  const write = (seq: number) => field(`writeTerminal(terminalId: "${id}", seq: ${seq}, text: "x") { status }`);
  expect(await write(64)).toEqual({ status: 'requested' });
  expect(await write(65)).toMatchObject({
    code: 'conflict',
    description: 'The shell has not read its earlier input yet.',
    retryAfterSeconds: 1,
  });
  await world.knex('terminal_pieces').where({ terminalId: id }).del();
  expect(await write(0)).toEqual({ status: 'requested' });
});

describe('heartbeats', () => {
  it('renew the lease, report progress, and store samples', async () => {
    const { held, place } = await sitting();
    world.clock.turn(seconds(10));
    const metrics = [8, 4].map((age, i) => ({
      t: present() - seconds(age),
      cpuPct: 50 + i,
      memUsedMb: 100,
      memTotalMb: 256,
      diskUsedPct: 3,
    }));
    const input = {
      runs: [{ ...held, progress: 40, activity: 'Reading' }],
      sandboxes: [{ ...place, metrics }],
    };
    const { data } = await say('heartbeat', input, beat);
    expect(data).toEqual({
      runs: [{ runId: held.runId, desired: 'run', leaseUntil: present() + seconds(60) }],
      sandboxes: [{ sandboxId: place.sandboxId, desired: 'run' }],
      environments: [],
    });
    // A repeat, as after a lost answer.
    await say('heartbeat', input, beat);
    expect(await run(held.runId)).toMatchObject({ missionProgress: 40, missionActivity: 'Reading' });
    // Progress never goes back.
    await say('heartbeat', { runs: [{ ...held, progress: 10, activity: 'Writing' }] }, beat);
    expect(await run(held.runId)).toMatchObject({ missionProgress: 40, missionActivity: 'Writing' });
    const { body } = await world.rest('GET', `/sandboxes/${place.sandboxId}`, { token: alice });
    expect(body.metrics.map(({ cpuPct }: { cpuPct: number }) => cpuPct)).toEqual([50, 51]);
    expect(body.sandbox).toMatchObject({
      lastCpuPct: 51,
      lastMetricAt: present() - seconds(4),
      lastHeartbeatAt: present(),
    });
  });

  it('tell a runtime to stop runs that were killed, canceled, lost or never existed', async () => {
    const { held, place } = await sitting();
    const others = { runId: 'run_unknown', leaseId: held.leaseId };
    await world.rest('POST', `/sandboxes/${place.sandboxId}/kill`, { token: alice });
    const input = { runs: [held, others], sandboxes: [{ ...place, metrics: [] }], environments: ['env_unknown'] };
    const stopped = await say('heartbeat', input, beat);
    expect(stopped.data).toMatchObject({
      runs: [{ desired: 'run' }, { desired: 'stop', leaseUntil: null }],
      sandboxes: [{ desired: 'stop' }],
      environments: [{ desired: 'stop' }],
    });
    const cancel = 'mutation ($runId: String!) { cancelRun(runId: $runId) { status reason finishedAt } }';
    const canceled = await world.graphql(cancel, { token: alice, variables: { runId: held.runId } });
    expect(canceled.body.data.cancelRun).toEqual({
      status: 'canceled',
      reason: 'Canceled by a person.',
      finishedAt: present(),
    });
    expect((await say('heartbeat', input, beat)).data).toMatchObject({
      runs: [{ desired: 'stop' }, { desired: 'stop' }],
    });
    // The last reports of the run are still accepted, and the run stays canceled.
    expect(
      (await say('reportSession', { ...place, role: 'builder', sessionId: 'one', outcome: 'stopped' })).data,
    ).toEqual({ ok: true });
    expect((await say('finishRun', { ...held, status: 'failed' })).data).toEqual({ ok: true });
    expect((await run(held.runId)).status).toBe('canceled');
  });

  it('renew no run of another runtime', async () => {
    const { held, place } = await sitting();
    const input = { runs: [{ ...held, progress: 99 }], sandboxes: [{ ...place, metrics: [] }] };
    const { data } = await say('heartbeat', input, beat, foreign);
    expect(data).toMatchObject({ runs: [{ desired: 'stop' }], sandboxes: [{ desired: 'stop' }] });
    expect((await run(held.runId)).missionProgress).toBeNull();
  });

  it('400 · a sample from the future rejects the whole heartbeat', async () => {
    const { held, place } = await sitting();
    const sample = (t: number) => ({ t, cpuPct: 1, memUsedMb: 1, memTotalMb: 1, diskUsedPct: 1 });
    for (const t of [present() + minutes(2), present() - days(28)]) {
      const input = {
        runs: [{ ...held, progress: 77 }],
        sandboxes: [{ ...place, metrics: [sample(present()), sample(t)] }],
      };
      expect(refused(await say('heartbeat', input, beat))?.[1]).toContain(
        'sandboxes.0.metrics.1.t: must be a time of the last 28 days',
      );
    }
    expect((await run(held.runId)).missionProgress).toBeNull();
    expect(await world.knex('sandbox_metrics').where({ sandboxId: place.sandboxId })).toEqual([]);
  });

  it('return the run to the queue when they stop, for three attempts in all, and end its sandbox', async () => {
    const { held, place, session } = await sitting();
    const sandboxes = async () => (await run(held.runId)).sandboxes;
    for (let i = 2; i <= 3; i++) {
      world.clock.turn(seconds(59));
      await releaseSilentRuns();
      expect((await run(held.runId)).status).toBe('running');
      world.clock.turn(seconds(1));
      await releaseSilentRuns();
      expect(await run(held.runId)).toMatchObject({
        status: 'dispatching',
        reason: 'The runtime Runtime 1 stopped sending heartbeats: the run waits for it, or for another one.',
        lastError: 'The runtime Runtime 1 stopped sending heartbeats.',
        missionProgress: null,
      });
      const lost = { status: 'failed', terminationReason: 'the runtime was lost' };
      const here = i === 2 ? { status: 'running', terminationReason: null } : lost;
      expect(await sandboxes()).toEqual([{ sandboxId: place.sandboxId, ...here }]);
      expect((await claim()).data).toMatchObject({ runId: held.runId });
      expect(await sandboxes()).toEqual([{ sandboxId: place.sandboxId, ...lost }]);
      expect((await run(held.runId)).reason).toBeNull();
    }
    // The first runtime resumes: none of its reports counts any longer.
    const before = await rowsOf(world.knex);
    const lost = [
      await say('reportCost', { ...held, costId: 'late', usd: 1 }),
      await say(
        'registerSandbox',
        { ...held, key: 'b', role: 'builder', harness: 'codex', instanceType: 'lite' },
        '{ sandboxId }',
      ),
      await say('appendLog', { ...session, part: 'session', seq: 0, content: 'late' }, '{ nextSeq }'),
      await say('appendFragments', { ...place, seq: 0, fragments: [{ kind: 'thought', t: present() }] }, '{ nextSeq }'),
      await say('finishSandbox', { ...place, status: 'completed' }),
      await say('createArtifactUpload', held, '{ contentKey }'),
      await say('registerEnvironment', { ...held, key: 'preview' }, '{ environmentId }'),
      await say('finishRun', { ...held, status: 'completed' }),
      await say('handBackRun', { ...held, reason: 'late' }),
    ];
    expect(lost.map(({ problem }) => problem?.code)).toEqual(lost.map(() => 'lease_lost'));
    expect((await say('heartbeat', { runs: [held] }, beat)).data).toMatchObject({ runs: [{ desired: 'stop' }] });
    expect(written(before, await rowsOf(world.knex))).toEqual({ gone: [], come: [] });
    // The sandbox does not continue at the first runtime either.
    expect((await say('heartbeat', { sandboxes: [{ ...place, metrics: [] }] }, beat)).data).toMatchObject({
      sandboxes: [{ desired: 'stop' }],
    });
    const killed = await world.rest('POST', `/sandboxes/${place.sandboxId}/kill`, { token: alice });
    expect([killed.status, (await sandboxes())[0].status]).toEqual([409, 'failed']);
    world.clock.turn(seconds(60));
    await releaseSilentRuns();
    expect((await run(held.runId)).status).toBe('dispatching');
    expect((await claim()).data).toBeNull();
  });

  it('fail the run and its sandbox when they stop for ten minutes', async () => {
    const { held, place } = await sitting();
    world.clock.turn(minutes(10) - 1);
    await releaseSilentRuns();
    await endOverdueSandboxes();
    expect(await run(held.runId)).toMatchObject({ status: 'dispatching', sandboxes: [{ status: 'stale' }] });
    world.clock.turn(1);
    await releaseSilentRuns();
    await endOverdueSandboxes();
    expect(await run(held.runId)).toMatchObject({
      status: 'failed',
      finishedAt: present(),
      reason: 'The runtime Runtime 1 did not reconnect within 10 minutes, and no other runtime claimed the run.',
      sandboxes: [{ sandboxId: place.sandboxId, status: 'failed', terminationReason: 'the runtime was lost' }],
    });
    expect((await say('heartbeat', { runs: [held] }, beat)).data).toMatchObject({ runs: [{ desired: 'stop' }] });
    expect((await claim()).data).toBeNull();
  });

  it('leave the run unchanged when they resume in time; the run’s reports count, and it is finished', async () => {
    const { held, place, session } = await sitting();
    world.clock.turn(minutes(9));
    await releaseSilentRuns();
    expect(await run(held.runId)).toMatchObject({ status: 'dispatching', sandboxes: [{ status: 'stale' }] });
    // A report before the heartbeat counts as well.
    const piece = { ...session, part: 'session', seq: 0, content: 'still here' };
    expect((await say('appendLog', piece, '{ nextSeq }')).data).toEqual({ nextSeq: 1 });
    const kept = await world.knex('sandbox_log_parts').where({ sandboxId: place.sandboxId });
    expect(kept).toMatchObject([{ appendedAt: present() }]);
    const both = { runs: [{ ...held, progress: 50 }], sandboxes: [{ ...place, metrics: [] }] };
    expect((await say('heartbeat', both, beat)).data).toMatchObject({
      runs: [{ desired: 'run', leaseUntil: present() + seconds(60) }],
      sandboxes: [{ desired: 'run' }],
    });
    expect(await run(held.runId)).toMatchObject({
      status: 'running',
      reason: null,
      lastError: null,
      missionProgress: 50,
      sandboxes: [{ status: 'running' }],
    });
    expect((await claim()).data).toBeNull();
    world.clock.turn(minutes(2));
    await releaseSilentRuns();
    expect((await say('finishRun', { ...held, status: 'completed' })).data).toEqual({ ok: true });
    expect(await run(held.runId)).toMatchObject({ status: 'completed', sandboxes: [{ status: 'completed' }] });
  });

  it('end a sandbox whose time limit has passed', async () => {
    const held = await taken();
    const input = {
      ...held,
      key: 'short',
      role: 'builder',
      harness: 'codex',
      instanceType: 'lite',
      timeoutAt: present() + 1,
    };
    const { sandboxId } = (await say('registerSandbox', input, '{ sandboxId }')).data;
    await endOverdueSandboxes();
    const state = async () => (await run(held.runId)).sandboxes;
    expect(await state()).toEqual([{ sandboxId, status: 'running', terminationReason: null }]);
    world.clock.turn(1);
    await endOverdueSandboxes();
    expect(await state()).toEqual([{ sandboxId, status: 'destroyed', terminationReason: 'timeout' }]);
  });
});

describe('the end of a run', () => {
  it('ends its sandboxes, and a repeat changes nothing', async () => {
    const { held, place } = await sitting();
    world.clock.turn(seconds(5));
    expect((await say('finishRun', { ...held, status: 'completed' })).data).toEqual({ ok: true });
    const ended = await run(held.runId);
    expect(ended).toMatchObject({
      status: 'completed',
      missionProgress: 100,
      finishedAt: present(),
      scheduledTask: { name: 'Check' },
      sandboxes: [{ sandboxId: place.sandboxId, status: 'completed', terminationReason: 'the run has ended' }],
    });
    world.clock.turn(seconds(5));
    expect((await say('finishRun', { ...held, status: 'completed' })).data).toEqual({ ok: true });
    expect((await say('finishRun', { ...held, status: 'failed' })).problem?.code).toBe('lease_lost');
    expect(await run(held.runId)).toEqual(ended);
    await releaseSilentRuns();
    expect(await run(held.runId)).toEqual(ended);
  });

  it('a run that was handed back pauses, and is then claimed by another runtime', async () => {
    const { held, place } = await sitting();
    expect((await say('handBackRun', { ...held, reason: 'shutting down' })).data).toEqual({ ok: true });
    expect(await run(held.runId)).toMatchObject({
      status: 'dispatching',
      missionActivity: 'Handed back: shutting down',
    });
    expect((await claim()).data).toBeNull();
    world.clock.turn(seconds(10));
    const next = (await claim()).data;
    expect(next).toMatchObject({ runId: held.runId });
    expect(next.leaseId).not.toBe(held.leaseId);
    expect((await run(held.runId)).sandboxes).toEqual([
      { sandboxId: place.sandboxId, status: 'failed', terminationReason: 'handed back' },
    ]);
  });

  it('a person cancels a waiting run once; an ended run cannot be canceled; another organization gets 404', async () => {
    const runId = await runNow();
    const cancel = (id: string, token = alice) =>
      world.graphql('mutation ($id: String!) { cancelRun(runId: $id) { status } }', { token, variables: { id } });
    expect((await cancel(runId, mallory)).body.errors[0].extensions.code).toBe('not_found');
    for (const _ of [1, 2]) expect((await cancel(runId)).body.data).toEqual({ cancelRun: { status: 'canceled' } });
    expect((await claim()).data).toBeNull();
    const held = await taken();
    await say('finishRun', { ...held, status: 'failed', error: 'exit code 1' });
    expect(await run(held.runId)).toMatchObject({ status: 'failed', lastError: 'exit code 1' });
    expect((await cancel(held.runId)).body.errors[0].message).toContain('has ended (failed)');
  });
});

describe('runs in the graph', () => {
  it('are listed newest first, page by page, of one project or in one status', async () => {
    const list = async (args: string, token = alice) =>
      (await world.graphql(`{ runs(${args}) { data { id status projectId } nextCursor } }`, { token })).body.data.runs;
    const { data, nextCursor } = await list('limit: 2');
    expect(data).toHaveLength(2);
    const more = await list(`limit: 2, cursor: "${nextCursor}"`);
    expect(more.data[0].id).not.toBe(data[1].id);
    expect((await list('status: failed')).data.every(({ status }: { status: string }) => status === 'failed')).toBe(
      true,
    );
    expect(await list('projectId: "prj_none"')).toEqual({ data: [], nextCursor: null });
    expect(await list('limit: 5', mallory)).toEqual({ data: [], nextCursor: null });
  });
});
