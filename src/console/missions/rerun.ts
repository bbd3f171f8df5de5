// Runs a mission again.

import { type RunPartsFragment, rerunMission } from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';

/** Whether the run has a task, an automation or a prompt to start from. */
export const mayRerun = ({
  scheduledTaskId,
  automationId,
  prompt,
}: Pick<RunPartsFragment, 'scheduledTaskId' | 'automationId' | 'prompt'>): boolean =>
  Boolean(scheduledTaskId || automationId || prompt);

/** Returns the id of the new run. */
export const rerun = async (runId: string, key: string): Promise<string> =>
  (await mutate(rerunMission, { runId }, key)).rerunMission.id;
