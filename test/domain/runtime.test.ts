// The runtime API as a story: a mission is claimed, worked on, reported and finished; and every failure of a runtime that is silent,
// late, or repeats itself. The clock begins on Monday 23 November 2026, 09:00 UTC.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createServiceToken } from '#domain/identity/tokens/service-tokens.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import { deleteStaleHarnesses } from '#domain/projects/agents/runtime-harnesses.ts';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { expireEnvironments } from '#domain/work/environments/operations.ts';
import { dispatchDue } from '#domain/work/recurring/dispatch.ts';
import { explainWaits, failOverdueRuns, releaseSilentRuns } from '#domain/work/runs/waiting.ts';
import { endOverdueSandboxes } from '#domain/work/sandboxes/end.ts';
import { days, hours, minutes, seconds } from '#foundation/clock.ts';
import type { Row } from '#foundation/postgres/base-model.ts';
import { folderStorage } from '#foundation/storage/folder.ts';
import { openStorage } from '#foundation/storage/storage.ts';
import { createOwner, createProject } from '../support/callers.ts';
import { rowsOf, written } from '../support/database-rows.ts';
import { addKnownRuntime, openWorld, present, type World } from '../support/world.ts';

let world: World;
let acme: Row<Organization>;
let globex: Row<Organization>;
let alice: string;
let mallory: string;
let runtime: string;
let foreign: string;
let task: string;
let projectId: string;
let folder: string;

beforeAll(async () => {
  world = await openWorld();
  folder = mkdtempSync(path.join(tmpdir(), 'aep-contents-'));
  openStorage(folderStorage(folder));
  ({ organization: acme, token: alice } = await createOwner(world, 'Alice', 'Acme'));
  ({ organization: globex, token: mallory } = await createOwner(world, 'Mallory', 'Globex'));
  runtime = (await createServiceToken({ name: 'runtime', orgId: acme.id })).token;
  foreign = (await createServiceToken({ name: 'runtime', orgId: globex.id })).token;
  projectId = await createProject(world, { token: alice }, 'Shop');
  const schedule = { interval: 'weekly', weekday: 'monday', time: '09:00', timezone: 'Pacific/Auckland' };
  const mission = { projectId, name: 'Check', prompt: 'echo checked', triggers: [{ kind: 'schedule', schedule }] };
  task = (await world.rest('POST', '/scheduled-tasks', { token: alice, body: mission })).body.id;
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});
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

describe('claiming', () => {
  it('gives the run that has waited longest, with all that a runtime needs, and then none', async () => {
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

  it('skips runs whose organization has no agent for the harness, and gives its own agent when there is one', async () => {
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

  it('two concurrent claims never get the same run', async () => {
    const ids = await Promise.all(Array.from({ length: 6 }, runNow));
    const got = await Promise.all(Array.from({ length: 9 }, () => claim()));
    const runs = got.map(({ data }) => data?.runId).filter(Boolean);
    expect(runs.sort()).toEqual(ids.sort());
  });

  it('a repeated claim returns the same run while it is held, also concurrently', async () => {
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

  it('a runtime of another organization finds nothing; one of all organizations finds the run', async () => {
    const runId = await runNow();
    expect((await claim({}, foreign)).data).toBeNull();
    expect((await claim({}, await world.service())).data).toMatchObject({ runId });
  });

  it('400 · names what is wrong', async () => {
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

  it('names the harness that nobody offers, or that runtimes are busy; a heartbeat keeps a runtime connected', async () => {
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

  it('names the harnesses of the organization’s own agents too', async () => {
    world.clock.turn(minutes(3));
    const sandbox = { kind: 'existing', templateId: 'standard' };
    const agent = { name: 'Codex', role: 'builder', harness: 'codex', model: 'gpt-5.5', sandbox };
    const { id } = (await world.rest('POST', '/agents', { token: alice, body: agent })).body;
    const runId = await runNow();
    expect(await reason(runId)).toBe('No runtime with the harness claude-code or codex or opencode is connected.');
    await world.rest('DELETE', `/agents/${id}`, { token: alice });
  });

  it('offers of runtimes are written once in half a minute, and deleted after a day', async () => {
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

  it('fails after a day, with the reason for its wait; the tracker is told', async () => {
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

  it('the day of waiting restarts when the run is handed back', async () => {
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

it('a claim says whether to merge, and built-in agents work in the project’s default template', async () => {
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
    // Its last reports are still accepted, and it stays canceled.
    expect(
      (await say('reportSession', { ...place, role: 'builder', sessionId: 'one', outcome: 'stopped' })).data,
    ).toEqual({ ok: true });
    expect((await say('finishRun', { ...held, status: 'failed' })).data).toEqual({ ok: true });
    expect((await run(held.runId)).status).toBe('canceled');
  });

  it('for runs of another runtime find nothing', async () => {
    const { held, place } = await sitting();
    const input = { runs: [{ ...held, progress: 99 }], sandboxes: [{ ...place, metrics: [] }] };
    const { data } = await say('heartbeat', input, beat, foreign);
    expect(data).toMatchObject({ runs: [{ desired: 'stop' }], sandboxes: [{ desired: 'stop' }] });
    expect((await run(held.runId)).missionProgress).toBeNull();
  });

  it('400 · a sample of the future rejects the whole heartbeat', async () => {
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

  it('when missing return the run to the queue, for three attempts in all, and end its sandbox', async () => {
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
    // Its sandbox does not continue there either.
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

  it('when missing for ten minutes fail the run and its sandbox', async () => {
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
      reason: 'The runtime Runtime 1 did not come back within 10 minutes, and no other one took the run.',
      sandboxes: [{ sandboxId: place.sandboxId, status: 'failed', terminationReason: 'the runtime was lost' }],
    });
    expect((await say('heartbeat', { runs: [held] }, beat)).data).toMatchObject({ runs: [{ desired: 'stop' }] });
    expect((await claim()).data).toBeNull();
  });

  it('resumed in time find the run unchanged, its reports count, and it is finished', async () => {
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

  it('end a sandbox that is out of time', async () => {
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

describe('reports', () => {
  it('of costs of a script are shown in full, and charged up to a bound', async () => {
    const spent = async () => (await world.rest('GET', '/orchestrator', { token: alice })).body.dailySpendUsd;
    const before = await spent();
    const query = `mutation ($projectId: String!) {
      startMission(projectId: $projectId, agentId: "agn_builtin_shell", prompt: "echo ::cost 1e3") { id } }`;
    await world.graphql(query, { token: alice, variables: { projectId } });
    const { runId, leaseId } = (await claim({ harnesses: ['shell'] })).data as { runId: string; leaseId: string };
    await say('reportCost', { runId, leaseId, costId: 'one', usd: 0.25 });
    for (const costId of ['two', 'three']) await say('reportCost', { runId, leaseId, costId, usd: 1_000 });
    expect((await run(runId)).missionCostUsd).toBe(2_000.25);
    expect((await spent()) - before).toBeCloseTo(10, 6);
    await say('finishRun', { runId, leaseId, status: 'completed' });
  });

  it('count a cost once, for the run, the session and the day', async () => {
    const { held, place, session } = await sitting();
    const spent = async () => (await world.rest('GET', '/orchestrator', { token: alice })).body.dailySpendUsd;
    const before = await spent();
    const cost = {
      ...held,
      costId: 'call-1',
      usd: 0.000125,
      sandboxId: place.sandboxId,
      role: 'builder',
      sessionId: 'one',
    };
    await Promise.all([1, 2, 3].map(() => say('reportCost', cost)));
    await say('reportCost', { ...held, costId: 'call-2', usd: 1.5, incomplete: true });
    expect(await run(held.runId)).toMatchObject({ missionCostUsd: 1.500125, missionCostIncomplete: true });
    expect((await spent()) - before).toBeCloseTo(1.500125, 6);
    const { body } = await world.rest('GET', `/sandboxes/${session.sandboxId}`, { token: alice });
    expect(body.sessions).toMatchObject([{ sessionId: 'one', totalCostUsd: 0.000125 }]);
    const other = await sitting();
    expect(
      refused(await say('reportCost', { ...held, costId: 'x', usd: 1, sandboxId: other.place.sandboxId })),
    ).toEqual(['not_found', 'No such sandbox.']);
    for (const usd of [-1, 10_001])
      expect(refused(await say('reportCost', { ...held, costId: 'x', usd }))?.[1]).toMatch(/^usd: must/);
  });

  it('create one sandbox per key, however often it is registered', async () => {
    const held = await taken();
    const ids = await Promise.all([1, 2, 3].map(() => sandboxOf(held, 'same')));
    expect(new Set(ids).size).toBe(1);
    expect(await sandboxOf(held, 'another')).not.toBe(ids[0]);
  });

  it('append a log in order; repeats count once, gaps and other content are refused', async () => {
    const { session } = await sitting();
    const append = (seq: number, content: string, more: object = {}) =>
      say('appendLog', { ...session, part: 'session', seq, content, ...more }, '{ nextSeq }');
    expect((await append(0, 'one ')).data).toEqual({ nextSeq: 1 });
    expect(refused(await append(2, 'three'))).toEqual(['conflict', 'seq: 1 comes next; 2 would leave a gap.']);
    const twice = await Promise.all([append(1, 'two'), append(1, 'two')]);
    expect(twice.map(({ data }) => data)).toEqual([{ nextSeq: 2 }, { nextSeq: 2 }]);
    expect((await append(0, 'one ')).data).toEqual({ nextSeq: 2 });
    expect(refused(await append(0, 'other'))).toEqual(['conflict', 'seq: 0 is there already, with another content.']);
    expect(refused(await append(2, 'x', { part: 'prompt' }))?.[1]).toBe('spanId: is required when part is prompt.');
    expect(refused(await append(2, 'x', { spanId: 'a' }))?.[1]).toBe('spanId: belongs to the part prompt alone.');
    expect(refused(await append(2, 'x', { sessionId: 'unknown' }))?.[0]).toBe('not_found');
    expect(refused(await append(2, 'x'.repeat(65_537)))?.[1]).toBe('content: must be at most 65536 characters.');
    await append(0, 'Be kind.', { part: 'prompt', spanId: 'AGENTS.md' });
    const log = async (part: string) =>
      (
        await world.rest('GET', `/sandboxes/${session.sandboxId}/logs?role=builder&sessionId=one&part=${part}`, {
          token: alice,
        })
      ).body;
    expect(await log('session')).toMatchObject({ content: 'one two', bytes: 7 });
    expect(await log('prompt')).toMatchObject({ promptSpans: [{ id: 'AGENTS.md', content: 'Be kind.' }] });
  });

  it('show the thoughts of an agent, in order and once', async () => {
    const { place } = await sitting();
    const t = present();
    const append = (seq: number, ...bodies: string[]) =>
      say(
        'appendFragments',
        { ...place, seq, fragments: bodies.map((body) => ({ kind: 'thought', t, body })) },
        '{ nextSeq }',
      );
    expect((await append(0, 'a', 'b')).data).toEqual({ nextSeq: 2 });
    expect((await append(1, 'b', 'c')).data).toEqual({ nextSeq: 3 });
    expect((await append(0, 'a')).data).toEqual({ nextSeq: 3 });
    expect(refused(await append(1, 'x', 'c', 'd'))?.[1]).toBe('seq: 1 is there already, with another content.');
    expect(refused(await append(4, 'e'))?.[1]).toBe('seq: 3 comes next; 4 would leave a gap.');
    const { body } = await world.rest('GET', `/sandboxes/${place.sandboxId}`, { token: alice });
    expect(body.liveFragments.map(({ body }: { body: string }) => body)).toEqual(['a', 'b', 'c']);
  });

  it('show how a tool call ended, in a later fragment with its id; REST keeps its members', async () => {
    const { place } = await sitting();
    const call = { kind: 'action', action: 'Bash', toolUseId: 'toolu_1', t: present() };
    const end = { ...call, result: '1 failed', failed: true, exitCode: 1 };
    const fragments = [{ ...call, parameter: 'npm test' }, end];
    expect((await say('appendFragments', { ...place, seq: 0, fragments }, '{ nextSeq }')).data).toEqual({ nextSeq: 2 });
    expect((await say('appendFragments', { ...place, seq: 1, fragments: [end] }, '{ nextSeq }')).data).toEqual({
      nextSeq: 2,
    });
    const query = `{ sandbox(sandboxId: "${place.sandboxId}") { liveFragments { toolUseId result failed exitCode } } }`;
    expect((await world.graphql(query, { token: alice })).body.data.sandbox.liveFragments).toEqual([
      { toolUseId: 'toolu_1', result: null, failed: null, exitCode: null },
      { toolUseId: 'toolu_1', result: '1 failed', failed: true, exitCode: 1 },
    ]);
    const { body } = await world.rest('GET', `/sandboxes/${place.sandboxId}`, { token: alice });
    expect(Object.keys(body.liveFragments[1])).not.toContain('exitCode');
  });

  it.each([
    ['completed', ['completed', 'completed', 'skipped', 'waits for Bob']],
    ['failed', ['completed', 'failed', 'skipped', 'waits for Bob']],
    ['killed', ['completed', 'canceled', 'skipped', 'waits for Bob']],
  ])('end the steps of the last plan as its sandbox ends: %s', async (how, statuses) => {
    const { held, place } = await sitting();
    const planOf = (...all: string[]) => ({
      kind: 'plan',
      t: present(),
      items: all.map((status, i) => ({ content: `Step ${i}`, status })),
    });
    const fragments = [
      planOf('in_progress', 'pending'),
      planOf('completed', 'in_progress', 'pending', 'waits for Bob'),
      { kind: 'thought', t: present(), body: 'Hm' },
    ];
    await say('appendFragments', { ...place, seq: 0, fragments }, '{ nextSeq }');
    const shown = async (): Promise<string[][]> => {
      const query = `{ sandbox(sandboxId: "${place.sandboxId}") {
        liveFragments { items { status } } first: fragments { data { items { status } } }
        newest: fragments(limit: 1) { nextCursor } } }`;
      const { liveFragments, first, newest } = (await world.graphql(query, { token: alice })).body.data.sandbox;
      expect(first.data).toEqual(liveFragments);
      const older = `{ sandbox(sandboxId: "${place.sandboxId}") {
        fragments(limit: 1, cursor: "${newest.nextCursor}") { data { items { status } } } } }`;
      const page = (await world.graphql(older, { token: alice })).body.data.sandbox.fragments.data;
      expect(page).toEqual([liveFragments[1]]);
      return liveFragments.map(({ items }: { items: { status: string }[] }) => items.map(({ status }) => status));
    };
    const first = ['in_progress', 'pending'];
    expect(await shown()).toEqual([first, ['completed', 'in_progress', 'pending', 'waits for Bob'], []]);
    if (how === 'killed') await world.rest('POST', `/sandboxes/${place.sandboxId}/kill`, { token: alice });
    else await say('finishRun', { ...held, status: how });
    expect(await shown()).toEqual([first, statuses, []]);
  });

  it('keep a killed sandbox destroyed', async () => {
    const { held, place } = await sitting();
    await world.rest('POST', `/sandboxes/${place.sandboxId}/kill`, { token: alice });
    expect((await say('finishSandbox', { ...place, status: 'failed' })).data).toEqual({ ok: true });
    expect((await run(held.runId)).sandboxes).toEqual([
      { sandboxId: place.sandboxId, status: 'destroyed', terminationReason: 'killed' },
    ]);
  });

  it('404 · for another organization, and change nothing', async () => {
    const { held, place, session } = await sitting();
    const before = await rowsOf(world.knex);
    const foreigners = [
      await say('reportCost', { ...held, costId: 'c', usd: 1 }, '{ ok }', foreign),
      await say('reportSession', session, '{ ok }', foreign),
      await say('finishSandbox', { ...place, status: 'failed' }, '{ ok }', foreign),
      await say('finishRun', { ...held, status: 'failed' }, '{ ok }', foreign),
      await say('handBackRun', { ...held, reason: 'r' }, '{ ok }', foreign),
    ];
    expect(foreigners.map(({ problem }) => problem?.code)).toEqual(foreigners.map(() => 'not_found'));
    expect((await say('finishRun', { ...held, status: 'failed' }, '{ ok }', alice)).problem?.code).toBe(
      'missing_scope',
    );
    expect(written(before, await rowsOf(world.knex))).toEqual({ gone: [], come: [] });
  });
});

describe('artifacts', () => {
  const register = (held: object, contentKey: string, more: object = {}, token = runtime) =>
    say(
      'registerArtifact',
      {
        ...held,
        contentKey,
        role: 'qa',
        kind: 'report',
        contentType: 'text/markdown',
        caption: 'What was seen',
        ...more,
      },
      '{ artifactId }',
      token,
    );
  const reserve = async (held: object): Promise<{ contentKey: string; uploadUrl: string }> =>
    (await say('createArtifactUpload', held, '{ contentKey uploadUrl expiresAt }')).data as never;

  it('are deleted when another runtime restarts the script that left them', async () => {
    const shell = { harnesses: ['shell'] };
    const query = `mutation { startMission(projectId: "${projectId}", prompt: "true", agentId: "agn_builtin_shell") { id } }`;
    const runId = (await world.graphql(query, { token: alice })).body.data.startMission.id;
    const attempt = async () => {
      const { leaseId } = (await claim(shell)).data as { leaseId: string };
      const held = { runId, leaseId };
      const input = { ...held, key: 'step', role: 'builder', harness: 'shell', instanceType: 'lite' };
      const { sandboxId } = (await say('registerSandbox', input, '{ sandboxId }')).data;
      const { contentKey, uploadUrl } = await reserve(held);
      await fetch(uploadUrl, { method: 'PUT', body: '# Fine' });
      return (await register(held, contentKey, { sandboxId })).data.artifactId;
    };
    const first = await attempt();
    expect((await run(runId)).artifacts).toMatchObject([{ id: first }]);
    world.clock.turn(seconds(61));
    await releaseSilentRuns();
    const second = await attempt();
    expect((await run(runId)).artifacts).toMatchObject([{ id: second }]);
    expect((await world.rest('GET', `/artifacts/${first}`, { token: alice })).status).toBe(404);
  });

  it('are uploaded, registered once, and downloaded as they were', async () => {
    const { held, place } = await sitting();
    const { contentKey, uploadUrl } = await reserve(held);
    expect(refused(await register(held, contentKey))?.[0]).toBe('conflict');
    expect((await fetch(uploadUrl, { method: 'PUT', body: '# Fine' })).status).toBe(201);
    const more = { sandboxId: place.sandboxId, sessionId: 'one', criterion: 'It is fine', criterionPassed: true };
    const made = await Promise.all([1, 2, 3].map(() => register(held, contentKey, more)));
    expect(new Set(made.map(({ data }) => data.artifactId)).size).toBe(1);
    const { body } = await world.rest('GET', `/artifacts/${made[0]!.data.artifactId}`, { token: alice });
    expect(body).toMatchObject({ ...more, sizeBytes: 6, caption: 'What was seen', role: 'qa', projectId });
    expect(await (await fetch(body.url)).text()).toBe('# Fine');
    expect((await run(held.runId)).artifacts).toEqual([{ id: body.id, kind: 'report', caption: 'What was seen' }]);
  });

  it('404 · contents and sandboxes of others', async () => {
    const [mine, other] = [await sitting(), await sitting()];
    const { contentKey } = await reserve(mine.held);
    expect(refused(await register(mine.held, 'cnt_unknown'))?.[0]).toBe('not_found');
    expect(refused(await register(mine.held, contentKey, { sandboxId: other.place.sandboxId }))?.[0]).toBe('not_found');
    expect(refused(await register(mine.held, contentKey, {}, foreign))?.[0]).toBe('not_found');
    expect(refused(await register(mine.held, contentKey, { contentType: 'png' }))?.[1]).toContain(
      'contentType: must be a media type',
    );
  });
});

describe('environments', () => {
  it('are reported, asked to end, and removed', async () => {
    const held = await taken();
    const make = () =>
      say('registerEnvironment', { ...held, key: 'preview', prNumber: 7, workerName: 'w' }, '{ environmentId }');
    const [{ data }, again] = await Promise.all([make(), make()]);
    expect(again.data).toEqual(data);
    const environmentId = data.environmentId as string;
    const move = (status: string) => say('moveEnvironment', { environmentId, status });
    expect((await move('active')).data).toEqual({ ok: true });
    expect((await move('active')).data).toEqual({ ok: true });
    const wanted = async () => (await say('heartbeat', { environments: [environmentId] }, beat)).data.environments;
    expect(await wanted()).toEqual([{ environmentId, desired: 'run' }]);
    await world.rest('DELETE', `/environments/${environmentId}`, { token: alice });
    expect(await wanted()).toEqual([{ environmentId, desired: 'stop' }]);
    // The run has ended long before.
    await say('finishRun', { ...held, status: 'completed' });
    expect((await move('destroyed')).data).toEqual({ ok: true });
    expect(refused(await move('active'))).toEqual([
      'conflict',
      'status: the environment is destroyed; what follows that is nothing.',
    ]);
    const { body } = await world.rest('GET', `/environments/${environmentId}`, { token: alice });
    expect(body.environment).toMatchObject({ status: 'destroyed', destroyedAt: present(), prNumber: 7 });
  });
});

describe('an environment that expires', () => {
  it('is asked to end, and fails when it is not removed', async () => {
    const held = await taken();
    const input = { ...held, key: 'short', expiresAt: present() + seconds(1) };
    const { environmentId } = (await say('registerEnvironment', input, '{ environmentId }')).data as {
      environmentId: string;
    };
    await say('moveEnvironment', { environmentId, status: 'active' });
    const status = async () =>
      (await world.rest('GET', `/environments/${environmentId}`, { token: alice })).body.environment.status;
    await expireEnvironments();
    expect(await status()).toBe('active');
    world.clock.turn(seconds(1));
    await expireEnvironments();
    expect(await status()).toBe('destroying');
    world.clock.turn(minutes(10));
    await expireEnvironments();
    expect(await status()).toBe('failed');
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

  it('a handed-back run rests, and then goes to another runtime', async () => {
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

  it('a person cancels a waiting run once; an ended one cannot be canceled; a stranger finds none', async () => {
    const runId = await runNow();
    const cancel = (id: string, token = alice) =>
      world.graphql('mutation ($id: String!) { cancelRun(runId: $id) { status } }', { token, variables: { id } });
    expect((await cancel(runId, mallory)).body.errors[0].extensions.code).toBe('not_found');
    for (const _ of [1, 2]) expect((await cancel(runId)).body.data).toEqual({ cancelRun: { status: 'canceled' } });
    expect((await claim()).data).toBeNull();
    const held = await taken();
    await say('finishRun', { ...held, status: 'failed', error: 'exit code 1' });
    expect(await run(held.runId)).toMatchObject({ status: 'failed', lastError: 'exit code 1' });
    expect((await cancel(held.runId)).body.errors[0].message).toContain('come to its end (failed)');
  });
});

describe('runs in the graph', () => {
  it('are listed newest first, of one project or in one status, and page', async () => {
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
