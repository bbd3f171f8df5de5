// Attempts at one task: compare them, choose one, close all.
import type { AttemptGroup, Client } from '../../../typescript/src/exports.ts';
import { paintStatus, printJson, printLine, printTable } from '../output.ts';
import { type CommonOptions, openClient, UserError } from '../session.ts';

const groupOfRun = 'query ($runId: String!) { run(runId: $runId) { attemptGroup { id } } }';

/** Finds the id of a group of attempts. @param id The id of the group, or of a run in the group */
export async function attemptGroupId(client: Client, id: string): Promise<string> {
  if (id.startsWith('grp_')) return id;
  const { run } = await client.graphql<{ run: { attemptGroup: { id: string } | null } }>(groupOfRun, { runId: id });
  if (!run.attemptGroup) throw new UserError(`${id} does not belong to a group of attempts.`);
  return run.attemptGroup.id;
}

const startMission = `mutation ($projectId: String!, $prompt: String!, $agentId: String, $issue: String, $budgetUsd: Float, $planApproval: Boolean,
    $instanceType: InstanceType, $maxMinutes: Int, $maxModelCalls: Int, $maxTokens: Int, $attempts: [NewAttempt!]) {
  startMission(projectId: $projectId, prompt: $prompt, agentId: $agentId, issue: $issue, budgetUsd: $budgetUsd, planApproval: $planApproval,
    instanceType: $instanceType, maxMinutes: $maxMinutes, maxModelCalls: $maxModelCalls, maxTokens: $maxTokens, attempts: $attempts) { id } }`;

/** Starts identical attempts at a task. Uses GraphQL, because the REST route has no attempts. Returns the run of the first attempt. */
export async function startAttempts(client: Client, mission: object, count: number): Promise<string> {
  const attempts = Array.from({ length: count }, () => ({}));
  const data = await client.graphql<{ startMission: { id: string } }>(startMission, { ...mission, attempts });
  return data.startMission.id;
}

const linesOf = ({ run }: AttemptGroup['attempts'][number]): string => {
  const { insertions, deletions, files } = run.outcome ?? {};
  return files == null ? '' : `+${insertions ?? 0} -${deletions ?? 0} in ${files}`;
};

export async function show(options: CommonOptions, id: string): Promise<void> {
  const client = await openClient(options.url);
  const group = await client.attemptGroup({ attemptGroupId: await attemptGroupId(client, id) });
  if (options.json) return printJson(group);
  printTable(group.attempts, {
    attempt: ({ number }) => number,
    run: ({ run }) => run.id,
    status: ({ run }) => paintStatus(run.status),
    decision: ({ state }) => state,
    model: ({ model }) => model,
    change: linesOf,
    review: ({ review }) => review,
    test: ({ isTestPassed }) => (isTestPassed === null ? null : isTestPassed ? 'passed' : 'failed'),
    usd: ({ run }) => run.missionCostUsd.toFixed(2),
  });
  if (group.state === 'open') printLine('Choose one: aep choose RUN');
}

export async function choose(options: CommonOptions, runId: string): Promise<void> {
  const group = await (await openClient(options.url)).chooseAttempt({ runId });
  if (options.json) return printJson(group);
  const { number } = group.attempts.find(({ run }) => run.id === group.chosenRunId)!;
  printLine(`Attempt ${number} is chosen; the other attempts are closed.`);
}

export async function close(options: CommonOptions, id: string): Promise<void> {
  const client = await openClient(options.url);
  const group = await client.closeAttempts({ attemptGroupId: await attemptGroupId(client, id) });
  if (options.json) printJson(group);
  else printLine('All attempts are closed.');
}
