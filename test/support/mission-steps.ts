// An organization whose missions have several roles. A test acts both as the runtime, step by step, and as the person who steers the
// missions.
import { createOwner, createProject } from './callers.ts';
import { createRuntime } from './runtime-client.ts';
import { knownRuntime, openWorld } from './world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
export type Json = any;
export const words = ({ code, description }: Json) => [code, description];

const step = 'step { stepId seq role agent { name harness } prompt outputSchema resumeSessionId }';
export const approve = { output: JSON.stringify({ verdict: 'approve', comments: [] }) };
export const texts = ({ messages }: Json) => messages.map(({ text }: Json) => text);

export async function openStepWorld() {
  let asked = 0;
  const world = await openWorld();
  const [alice, mallory] = [await createOwner(world, 'Alice', 'Acme'), await createOwner(world, 'Mallory', 'Globex')];
  const projectId = await createProject(world, alice, 'Shop');
  const runtime = await createRuntime(world, alice.organization);

  const graphql = (query: string, variables: Record<string, unknown>, token = alice.token): Promise<Json> =>
    world.field(query, { token, variables });
  const claim = (more: object = {}) =>
    runtime.claim(more, `{ runId leaseId branch baseBranch budgetUsd stepTimeoutMs maxTurns agent { name } ${step} }`);
  const finish = (held: Json, stepId: string, more: object = {}) =>
    runtime.ask(
      'finishStep',
      { runId: held.runId, leaseId: held.leaseId, stepId, status: 'completed', ...more },
      `{ outcome failure ${step} }`,
    );

  const agent = async (role: string, harness = 'claude-code', model = 'claude-sonnet-4-5') => {
    const body = {
      name: `${role} ${++asked}`,
      role,
      harness,
      model,
      sandbox: { kind: 'existing', templateId: 'standard' },
    };
    return (await world.rest('POST', '/agents', { token: alice.token, body })).body.id as string;
  };
  const team = async (...roles: string[]) => {
    for (const role of roles) await agent(role);
  };
  const start = (more: object = {}) => {
    world.clock.turn(1);
    return graphql(
      `mutation ($projectId: String!, $prompt: String!, $agentId: String, $planApproval: Boolean, $budgetUsd: Float) {
      startMission(projectId: $projectId, prompt: $prompt, agentId: $agentId, planApproval: $planApproval, budgetUsd: $budgetUsd) { id }
    }`,
      { projectId, prompt: 'Make the date test pass.', ...more },
    );
  };
  const held = async (more: object = {}) => {
    await start(more);
    return claim();
  };
  const run = (runId: string): Promise<Json> =>
    graphql(
      `query ($runId: String!) { run(runId: $runId) { status reason lastError awaitsApproval interruptedAt missionCostUsd missionCostIncomplete
      steps { seq role round status output error costUsd inputTokens outputTokens sessionId }
      messages { kind text author deliveredAt acknowledgedAt } } }`,
      { runId },
    );
  const beat = (held: Json, acknowledged?: string[]) =>
    runtime.beat(held, { acknowledged }, '{ desired messages { messageId text author questionId approved } }');
  const say = (runId: string, text: string, more: object = {}, token = alice.token) =>
    graphql(
      'mutation ($runId: String!, $text: String!, $messageId: String) { sendMessage(runId: $runId, text: $text, messageId: $messageId) { id seq } }',
      { runId, text, ...more },
      token,
    );
  const steer = (name: string, runId: string, token = alice.token) =>
    graphql(
      `mutation ($runId: String!) { ${name}(runId: $runId) { status awaitsApproval interruptedAt reason } }`,
      { runId },
      token,
    );
  return {
    world,
    alice,
    mallory,
    projectId,
    runtime,
    graphql,
    claim,
    finish,
    agent,
    team,
    start,
    held,
    run,
    beat,
    say,
    steer,
    close: () => world.close(),
    async reset(): Promise<void> {
      await world.knex('runs').whereIn('status', ['dispatching', 'running']).update({ status: 'canceled' });
      await world.knex('runtime_harnesses').whereNot({ runtime: knownRuntime }).delete();
      await world.knex('agents').delete();
    },
  };
}
