// Missions and their runs: start, list, show, cancel.
import { text } from 'node:stream/consumers';
import type { Client, Run } from '../../../typescript/src/exports.ts';
import { followRun } from '../follow.ts';
import { paintStatus, printJson, printLine, printRecord, printTable, timeOf } from '../output.ts';
import { type CommonOptions, openClient } from '../session.ts';
import { show as showAttempts, startAttempts } from './attempts.ts';
import { showLastLines } from './logs.ts';
import { pageOf } from './open.ts';
import { findProject } from './projects.ts';

export const instanceTypes = ['lite', 'basic', 'standard-1', 'standard-2', 'standard-4'] as const;
type InstanceType = (typeof instanceTypes)[number];

interface StartOptions extends CommonOptions {
  agent?: string;
  script?: true;
  issue?: string;
  budget?: number;
  planApproval?: true;
  instanceType?: InstanceType;
  maxMinutes?: number;
  maxModelCalls?: number;
  maxTokens?: number;
  attempts?: number;
  detach?: true;
}

/** The built-in agent whose prompts are scripts. */
const scriptAgent = 'agn_builtin_shell';

/** Reads a prompt of `-` from standard input. */
export const readPrompt = async (prompt: string): Promise<string> => (prompt === '-' ? text(process.stdin) : prompt);

export async function start(options: StartOptions, project: string, prompt: string): Promise<void> {
  const client = await openClient(options.url);
  const { issue, budget, planApproval, instanceType, maxMinutes, maxModelCalls, maxTokens } = options;
  const agent = options.script ? scriptAgent : options.agent;
  const mission = {
    projectId: (await findProject(client, project)).id,
    prompt: await readPrompt(prompt),
    ...(agent && { agentId: agent }),
    ...(issue && { issue }),
    ...(budget && { budgetUsd: budget }),
    ...(planApproval && { planApproval }),
    ...(instanceType && { instanceType }),
    ...(maxMinutes && { maxMinutes }),
    ...(maxModelCalls && { maxModelCalls }),
    ...(maxTokens && { maxTokens }),
  };
  if (options.attempts) return showAttempts(options, await startAttempts(client, mission, options.attempts));
  await followUnlessDetached(client, (await client.startMission(mission)).id, options);
}

/** Follows a started run to its end, or prints its id with `--detach`. */
export async function followUnlessDetached(
  client: Client,
  runId: string,
  options: CommonOptions & { detach?: true },
): Promise<void> {
  if (options.detach) return options.json ? printJson(await client.run({ runId })) : printLine(runId);
  const page = await pageOf(options, runId);
  const status = await followRun(client, runId, { ...options, page });
  if (status === 'failed' && !options.json) await showLastLines(client, runId);
}

interface ListOptions extends CommonOptions {
  project?: string;
  status?: string;
  kind?: string;
  agent?: string;
  since?: number;
  limit: number;
}

export async function list(options: ListOptions): Promise<void> {
  const client = await openClient(options.url);
  const { project, status, kind, agent, since, limit } = options;
  const runs = await client
    .runs({
      ...(project && { projectId: (await findProject(client, project)).id }),
      ...(status && { status: status as Run['status'] }),
      ...(kind && { kind: kind as Run['kind'] }),
      ...(agent && { agentId: agent }),
      ...(since !== undefined && { createdFrom: since }),
      limit: Math.min(limit, 200),
    })
    .take(limit);
  if (options.json) return printJson(runs);
  printTable(runs, {
    id: ({ id }) => id,
    status: ({ status }) => status,
    title: ({ missionTitle }) => missionTitle?.slice(0, 60),
    'cost usd': ({ missionCostUsd }) => missionCostUsd.toFixed(2),
    created: ({ createdAt }) => timeOf(createdAt),
  });
}

export interface RunUse {
  parkedReason: string | null;
  sandboxMinutes: number;
  sandboxCostUsd: number;
  modelCalls: number;
  maxMinutes: number | null;
  maxModelCalls: number | null;
  maxTokens: number | null;
}

/** Used amounts of a run, and its limits. */
async function useOf(client: Client, runId: string): Promise<RunUse> {
  const query = `query ($runId: String!) { run(runId: $runId) { parkedReason sandboxMinutes sandboxCostUsd modelCalls
    maxMinutes maxModelCalls maxTokens } }`;
  return (await client.graphql<{ run: RunUse }>(query, { runId })).run;
}

const ofLimit = (used: number, limit: number | null): string => (limit === null ? `${used}` : `${used} of ${limit}`);

export async function show(options: CommonOptions, runId: string): Promise<void> {
  const client = await openClient(options.url);
  const run = await client.run({ runId });
  if (options.json) return printJson(run);
  const use = await useOf(client, runId);
  printRecord({ id: run.id, title: run.missionTitle, status: run.status, reason: run.reason });
  printRecord({
    activity: run.missionActivity,
    waits: use.parkedReason,
    'cost usd': run.missionCostUsd.toFixed(2),
    'sandbox cost usd': use.sandboxCostUsd > 0 ? use.sandboxCostUsd.toFixed(2) : null,
    minutes: ofLimit(use.sandboxMinutes, use.maxMinutes),
    'model calls': ofLimit(use.modelCalls, use.maxModelCalls),
    'max tokens': use.maxTokens,
    issue: run.issueUrl,
    'pull request': run.prUrl,
    created: timeOf(run.createdAt),
    started: timeOf(run.startedAt),
    finished: timeOf(run.finishedAt),
  });
}

export async function cancel(options: CommonOptions, runId: string): Promise<void> {
  const run = await (await openClient(options.url)).cancelRun({ runId });
  if (options.json) printJson(run);
  else printLine(`${run.id} is ${paintStatus(run.status)}.`);
}
