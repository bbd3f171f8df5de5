// A recurring mission, which a test starts and which a runtime of its organization claims. Another organization also has a runtime. The
// clock begins on Monday 23 November 2026, 09:00 UTC.
import { createOwner, createProject } from './callers.ts';
import { createRuntime, type Held } from './runtime-client.ts';
import { openWorld } from './world.ts';

export const claimed =
  '{ runId leaseId leaseUntil orgId projectId missionTitle prompt issueId issueUrl repoFullName instanceType ' +
  'agent { agentId name role harness model effort userPrompt skillRepos sandboxTemplateId } }';
export const beat =
  '{ runs { runId desired leaseUntil } sandboxes { sandboxId desired } environments { environmentId desired } }';

export async function openRuntimeWorld() {
  const world = await openWorld();
  const { person: owner, organization: acme, token: alice } = await createOwner(world, 'Alice', 'Acme');
  const { organization: globex, token: mallory } = await createOwner(world, 'Mallory', 'Globex');
  const runtime = await createRuntime(world, acme);
  const foreign = await createRuntime(world, globex);
  const projectId = await createProject(world, { token: alice }, 'Shop');
  const schedule = { interval: 'weekly', weekday: 'monday', time: '09:00', timezone: 'Pacific/Auckland' };
  const mission = { projectId, name: 'Check', prompt: 'echo checked', triggers: [{ kind: 'schedule', schedule }] };
  const task = (await world.rest('POST', '/scheduled-tasks', { token: alice, body: mission })).body.id;

  const runNow = async (): Promise<string> =>
    (await world.rest('POST', `/scheduled-tasks/${task}/run`, { token: alice })).body.runId;
  const run = async (runId: string, token = alice) =>
    (
      await world.graphql(
        `query ($runId: String!) { run(runId: $runId) { id status missionProgress missionActivity missionCostUsd missionCostIncomplete
        lastError reason startedAt finishedAt issue { key state } sandboxes { sandboxId status terminationReason }
        artifacts { id kind caption } scheduledTask { name } } }`,
        { token, variables: { runId } },
      )
    ).body.data?.run;

  /** A run on which this runtime has a lease. */
  async function taken(): Promise<Held> {
    await runNow();
    const { runId, leaseId } = await runtime.claim();
    return { runId, leaseId };
  }
  return {
    world,
    owner,
    acme,
    alice,
    runtime,
    foreign,
    task,
    projectId,
    runNow,
    run,
    taken,
    mallory,
    close: () => world.close(),
    reset: () => world.knex('runs').whereIn('status', ['dispatching', 'running']).update({ status: 'canceled' }),
  };
}
