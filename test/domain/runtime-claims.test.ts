// Claims of runs by runtimes: which run, to which runtime, why a run waits, and the models that a mission needs.
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { deleteStaleHarnesses } from '#domain/projects/agents/runtime-harnesses.ts';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { dispatchDue } from '#domain/work/recurring/dispatch.ts';
import { explainWaits, failOverdueRuns } from '#domain/work/runs/waiting.ts';
import { days, hours, minutes, seconds } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { createProject } from '../support/callers.ts';
import { createRuntime } from '../support/runtime-client.ts';
import { claimed, openRuntimeWorld } from '../support/runtime-world.ts';
import { addKnownRuntime, present } from '../support/world.ts';

const { world, acme, alice, mallory, runtime, foreign, task, projectId, runNow, run, taken, close, reset } =
  await openRuntimeWorld();
afterAll(close);
beforeEach(reset);

describe('claiming a run', () => {
  it('a claim returns the run that has waited longest, with everything that a runtime needs, and then null', async () => {
    expect(await runtime.claim()).toBeNull();
    const first = await runNow();
    world.clock.turn(1);
    const second = await runNow();
    expect(await runtime.claim({}, claimed)).toEqual({
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
    expect(await runtime.claim()).toMatchObject({ runId: second });
    expect(await runtime.claim()).toBeNull();
  });

  it('a claim skips runs that no agent can execute with the claim’s harnesses and models, and prefers the organization’s own agents', async () => {
    const runId = await runNow();
    const offer = { harnesses: ['claude-code'], modelVendors: [] };
    expect(await runtime.claim(offer)).toBeNull();
    expect(await runtime.claim({ ...offer, harnesses: ['shell'] })).toBeNull();
    const agent = {
      name: 'Two',
      role: 'builder',
      harness: 'codex',
      model: 'gpt-5.5',
      sandbox: { kind: 'existing', templateId: 'standard' },
    };
    const { body } = await world.rest('POST', '/agents', { token: alice, body: agent });
    expect(await runtime.claim({ harnesses: ['codex'] }, claimed)).toMatchObject({
      runId,
      agent: { agentId: body.id, harness: 'codex' },
    });
    await world.rest('DELETE', `/agents/${body.id}`, { token: alice });
  });

  it('concurrent claims never return the same run', async () => {
    const ids = await Promise.all(Array.from({ length: 6 }, runNow));
    const got = await Promise.all(Array.from({ length: 9 }, () => runtime.claim()));
    const runs = got.map((run) => run?.runId).filter(Boolean);
    expect(runs.sort()).toEqual(ids.sort());
  });

  it('a repeated claim returns the same run while it is held, even concurrently', async () => {
    const first = await runNow();
    world.clock.turn(1);
    const second = await runNow();
    const both = await Promise.all([1, 2, 3].map(() => runtime.claim({ claimId: 'one' })));
    expect(new Set(both.map(({ leaseId }) => leaseId)).size).toBe(1);
    expect(both[0].runId).toBe(first);
    expect(await runtime.claim({ claimId: 'two' })).toMatchObject({ runId: second });
    expect(await runtime.claim({ claimId: 'three' })).toBeNull();
    // The same claim id from another service token is a separate claim.
    expect(await (await createRuntime(world)).claim({ claimId: 'one' })).toBeNull();
    await runtime.finish(both[0]);
    expect(await runtime.claim({ claimId: 'one' })).toBeNull();
  });

  it('a claim that names a run returns only that run, and null while it cannot be claimed', async () => {
    const [first, second] = [await runNow(), await runNow()];
    const shared = await createRuntime(world);
    expect(await foreign.claim({ runId: second })).toBeNull();
    const held = await shared.claim({ runId: second, claimId: 'one' });
    expect(held).toMatchObject({ runId: second });
    expect(await shared.claim({ runId: second, claimId: 'one' })).toMatchObject({ leaseId: held.leaseId });
    expect(await shared.claim({ runId: second, claimId: 'two' })).toBeNull();
    // The lease of a claim is for one run.
    expect(await shared.claim({ runId: first, claimId: 'one' })).toBeNull();
    await shared.finish(held);
    expect(await shared.claim({ runId: second, claimId: 'one' })).toBeNull();
    expect(await shared.claim({ runId: first })).toMatchObject({ runId: first });
  });

  it('a run goes to a runtime of its own organization or to a shared one, and to no other', async () => {
    const runId = await runNow();
    expect(await foreign.claim()).toBeNull();
    expect(await (await createRuntime(world)).claim()).toMatchObject({ runId });
  });

  it('a shared runtime also serves an organization with three waiting runs while another has 300', async () => {
    const [row] = await world.knex('runs').where({ id: await runNow() });
    const mass = Array.from({ length: 300 }, () => ({ ...row, id: newId('run') }));
    await world.knex('runs').insert(mass);
    world.clock.turn(1);
    const project = await createProject(world, { token: mallory }, 'Other');
    const start = `mutation ($id: String!) { startMission(projectId: $id, prompt: "Check") { id } }`;
    for (let i = 0; i < 3; i++)
      expect((await world.field(start, { token: mallory, variables: { id: project } })).id).toBeDefined();
    const shared = await createRuntime(world);
    const orgs = async (count: number) => {
      const runs = await Promise.all(Array.from({ length: count }, () => shared.claim({}, '{ orgId }')));
      return runs.map(({ orgId }) => orgId);
    };
    const ofGlobex = (ids: string[]) => ids.filter((id) => id !== acme.id).length;
    expect(ofGlobex([...(await orgs(1)), ...(await orgs(1))])).toBe(1);
    // Concurrent claims might not see each other's runs, but each gets a run.
    expect((await orgs(4)).every(Boolean)).toBe(true);
    const rest = [...(await orgs(1)), ...(await orgs(1)), ...(await orgs(1)), ...(await orgs(1))];
    expect((await world.knex('runs').where({ status: 'running' }).whereNot({ orgId: acme.id })).length).toBe(3);
    expect(rest.every(Boolean)).toBe(true);
  });

  it('400 · a claim without a runtime name and without harnesses is refused, and the error names both fields', async () => {
    expect((await runtime.ask('claimRun', { runtime: '', harnesses: [] }, '{ runId }')).description).toBe(
      'runtime: must be at least 1 character; harnesses: must be at least 1 entry.',
    );
  });
});

describe('runs that wait for a runtime', () => {
  const nobody = 'No runtime with the harness claude-code or codex or opencode is connected.';
  const free = 'Waiting for a connected runtime to be free.';
  const reason = async (runId: string) => {
    await explainWaits();
    return (await run(runId)).reason;
  };

  it('a waiting run shows that no runtime has its harness, or that all are busy; heartbeats keep a runtime connected', async () => {
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
    const held = await runtime.claim();
    expect((await run(runId)).reason).toBeNull();
    const next = await runNow();
    expect(await reason(next)).toBe(free);
    for (let i = 0; i < 4; i++) {
      world.clock.turn(seconds(50));
      await runtime.beat(held);
    }
    expect(await reason(next)).toBe(free);
    world.clock.turn(minutes(2));
    expect(await reason(next)).toBe(nobody);
    // A runtime of another organization does not count.
    await foreign.claim();
    expect(await reason(next)).toBe(nobody);
  });

  it('the reason of a waiting run also names the harnesses of the organization’s own agents', async () => {
    world.clock.turn(minutes(3));
    const sandbox = { kind: 'existing', templateId: 'standard' };
    const agent = { name: 'Codex', role: 'builder', harness: 'codex', model: 'gpt-5.5', sandbox };
    const { id } = (await world.rest('POST', '/agents', { token: alice, body: agent })).body;
    const runId = await runNow();
    expect(await reason(runId)).toBe('No runtime with the harness claude-code or codex or opencode is connected.');
    await world.rest('DELETE', `/agents/${id}`, { token: alice });
  });

  it('the harnesses that a runtime offers are stored at most every 30 seconds, and deleted after a day', async () => {
    const seen = () => world.knex('runtime_harnesses').where({ runtime: 'Poller' }).select('harness', 'seenAt');
    const poll = () => runtime.claim({ runtime: 'Poller', harnesses: ['codex', 'codex', 'opencode'] });
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

  it('a run that has waited for a day fails, and keeps the reason for its wait', async () => {
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
    expect(await runtime.claim()).toBeNull();
  });

  it('a run that was returned to the queue can wait for a full day again', async () => {
    const held = await taken();
    world.clock.turn(hours(25));
    await runtime.beat(held);
    await runtime.ask('handBackRun', { ...held, reason: 'going' });
    await failOverdueRuns();
    expect((await run(held.runId)).status).toBe('dispatching');
  });
});

describe('prompts and scripts', () => {
  const mission =
    'mutation ($projectId: String!, $agentId: String) { startMission(projectId: $projectId, prompt: "Fix it.", agentId: $agentId) { id } }';
  const start = async (agentId?: string) => {
    const { body } = await world.graphql(mission, { token: alice, variables: { projectId, agentId } });
    return { id: body.data?.startMission.id, problem: body.errors?.[0].extensions.problem };
  };
  const noModel = 'No model is connected: connect one to the organization, or name an agent that runs scripts.';

  it('a script agent gets only missions that name it, and none that need a model', async () => {
    const sandbox = { kind: 'existing', templateId: 'standard' };
    const agent = { name: 'Nightly', role: 'builder', harness: 'shell', model: 'none', sandbox };
    const { id } = (await world.rest('POST', '/agents', { token: alice, body: agent })).body;
    const words = await runNow();
    expect(await runtime.claim({ harnesses: ['shell'] })).toBeNull();
    const [builtin, own] = [(await start('agn_builtin_shell')).id, (await start(id)).id];
    const shell = () => runtime.claim({ harnesses: ['shell'] }, claimed);
    expect(new Map([await shell(), await shell()].map(({ runId, agent }) => [runId, agent.name]))).toEqual(
      new Map([
        [builtin, 'Script'],
        [own, 'Nightly'],
      ]),
    );
    expect(await runtime.claim({ harnesses: ['shell', 'claude-code'] }, claimed)).toMatchObject({
      runId: words,
      agent: { name: 'Builder' },
    });
    await world.rest('DELETE', `/agents/${id}`, { token: alice });
  });

  it('409 · through the API or on schedule, no mission with a prompt starts while neither a runtime nor the organization has a model', async () => {
    await world.knex('runtime_harnesses').delete();
    await runtime.claim({ harnesses: ['shell'], modelVendors: [] });
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
    // With a model of the organization, a mission may start although no runtime has its harness, because a harness can be installed later.
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
    await runtime.claim({ harnesses: ['shell'], modelVendors: [] });
    expect((await start()).problem).toMatchObject({ code: 'model_required' });
    world.clock.turn(seconds(30));
    // A runtime that has a key of its own also provides a model. Built-in agents run with models of any vendor.
    await runtime.claim({ harnesses: ['shell'], modelVendors: ['openai'] });
    expect((await start()).problem).toBeUndefined();
    await addKnownRuntime();
  });

  it('a recurring mission of the template “script” uses the script agent', async () => {
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

it('a claim contains the project’s merge setting and, for built-in agents, the project’s default sandbox template', async () => {
  const patch = (body: object) => world.rest('PATCH', `/projects/${projectId}`, { token: alice, body });
  const claimedOf = async () => {
    await runNow();
    return await runtime.claim({}, '{ autoMerge agent { sandboxTemplateId } }');
  };
  expect(await claimedOf()).toEqual({ autoMerge: false, agent: { sandboxTemplateId: 'standard' } });
  await patch({ autoMerge: true });
  const template = await world.rest('POST', '/sandbox-templates', { token: alice, body: { name: 'Large' } });
  await patch({ defaultSandboxTemplateId: template.body.id });
  expect(await claimedOf()).toEqual({ autoMerge: true, agent: { sandboxTemplateId: template.body.id } });
  await patch({ autoMerge: false, defaultSandboxTemplateId: null });
});
