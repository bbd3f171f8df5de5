// The same mission once more.

import { type RunPartsFragment, startMission } from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { kinds, runNow } from '../recurring/recurring-kinds.ts';

type Again = Pick<
  RunPartsFragment,
  'scheduledTaskId' | 'automationId' | 'projectId' | 'prompt' | 'agentId' | 'budgetUsd'
>;

/** Whether it is known what to run. */
export const mayRerun = ({ scheduledTaskId, automationId, prompt }: Again): boolean =>
  Boolean(scheduledTaskId || automationId || prompt);

/** Of the task or automation that it was of, else with the same prompt, agent and budget. Gives the id of the new run. */
export async function rerun(run: Again, key: string): Promise<string> {
  const { scheduledTaskId, automationId, projectId, prompt, agentId, budgetUsd } = run;
  if (scheduledTaskId) return runNow(kinds.tasks, scheduledTaskId, key);
  if (automationId) return runNow(kinds.automations, automationId, key);
  return (await mutate(startMission, { projectId, prompt: prompt ?? '', agentId, budgetUsd }, key)).startMission.id;
}
