// Steering a run with messages and decisions, and starting it again.
import type { Client, Run } from '../../../typescript/src/exports.ts';
import { paintStatus, printJson, printLine } from '../output.ts';
import { type CommonOptions, openClient, UserError } from '../session.ts';
import { leaveOrFollow, readPrompt } from './runs.ts';

type Decision = 'approvePlan' | 'interruptRun' | 'resumeRun';

const decide =
  (operation: Decision, outcome: string) =>
  async (options: CommonOptions, runId: string): Promise<void> => {
    const run = await (await openClient(options.url))[operation]({ runId });
    if (options.json) printJson(run);
    else printLine(`${outcome} ${run.id} is ${paintStatus(run.status)}.`);
  };
export const approve = decide('approvePlan', 'The plan is approved.');
export const interrupt = decide('interruptRun', 'The agent is interrupted.');
export const resume = decide('resumeRun', 'The agent continues.');

export async function setBudget(options: CommonOptions, runId: string, budgetUsd: number): Promise<void> {
  const run = await (await openClient(options.url)).setRunBudget({ runId, budgetUsd });
  if (options.json) printJson(run);
  else printLine(`The budget of ${run.id} is ${budgetUsd} USD.`);
}

export async function message(options: CommonOptions, runId: string, text: string): Promise<void> {
  const said = await (await openClient(options.url)).sendMessage({ runId, text: await readPrompt(text) });
  if (options.json) printJson(said);
  else printLine('Sent. The agent takes it up in its present turn, or with its next step.');
}

export async function answer(
  { approve: approves, deny: denies, ...options }: CommonOptions & { approve?: true; deny?: true },
  runId: string,
  text: string | undefined,
): Promise<void> {
  const decision = approves || denies ? { approve: approves === true } : {};
  const words = text === undefined ? '' : await readPrompt(text);
  const said = await (await openClient(options.url)).answerElicitation({ runId, text: words, ...decision });
  if (options.json) printJson(said);
  else printLine('Answered.');
}

interface ContinueOptions extends CommonOptions {
  step?: string;
  budget?: number;
  detach?: true;
}

export async function continueRun(options: ContinueOptions, runId: string, prompt: string): Promise<void> {
  const client = await openClient(options.url);
  const { step, budget } = options;
  const run = await client.continueRun({
    runId,
    prompt: await readPrompt(prompt),
    ...(step && { stepId: step }),
    ...(budget && { budgetUsd: budget }),
  });
  await leaveOrFollow(client, run.id, options);
}

export async function rerun(options: CommonOptions & { detach?: true }, runId: string): Promise<void> {
  const client = await openClient(options.url);
  await leaveOrFollow(client, await startAgain(client, await client.run({ runId })), options);
}

/** Starts the run's scheduled task or automation, else a mission with the same prompt, agent and budget. */
async function startAgain(client: Client, run: Run): Promise<string> {
  const { id, scheduledTaskId, automationId, projectId, prompt, agentId, budgetUsd } = run;
  if (scheduledTaskId) return (await client.runScheduledTask({ id: scheduledTaskId })).runId;
  if (automationId) return (await client.runAutomation({ automationId })).runId;
  if (!prompt) throw new UserError(`${id} has no prompt to start again: what it was of is deleted.`);
  return (
    await client.startMission({
      projectId,
      prompt,
      ...(agentId && { agentId }),
      ...(budgetUsd && { budgetUsd }),
    })
  ).id;
}
