// Runs a mission again.

import { type RunPartsFragment, startMission } from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { kinds, runNow } from '../recurring/recurring-kinds.ts';

type Again = Pick<
  RunPartsFragment,
  | 'scheduledTaskId'
  | 'automationId'
  | 'projectId'
  | 'prompt'
  | 'agentId'
  | 'budgetUsd'
  | 'maxMinutes'
  | 'maxModelCalls'
  | 'maxTokens'
>;

/** Whether the run has a task, an automation or a prompt to start from. */
export const mayRerun = ({ scheduledTaskId, automationId, prompt }: Again): boolean =>
  Boolean(scheduledTaskId || automationId || prompt);

/** Runs the task or automation of a run, else starts a mission with the same prompt, agent and limits. Returns the id of the new run. */
export async function rerun(run: Again, key: string): Promise<string> {
  const { scheduledTaskId, automationId, projectId, prompt, agentId, budgetUsd, maxMinutes, maxModelCalls, maxTokens } =
    run;
  if (scheduledTaskId) return runNow(kinds.tasks, scheduledTaskId, key);
  if (automationId) return runNow(kinds.automations, automationId, key);
  const limits = { budgetUsd, maxMinutes, maxModelCalls, maxTokens };
  return (await mutate(startMission, { projectId, prompt: prompt ?? '', agentId, ...limits }, key)).startMission.id;
}
