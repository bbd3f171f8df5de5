// Starts the mission of a run again, from its beginning.
import type { Caller } from '#access/principal.ts';
import { idOfNoun } from '#foundation/ids.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { firstStep } from '#foundation/postgres/idempotency.ts';
import { conflict } from '#foundation/problem.ts';
import { readMissions } from '../recurring/dispatch.ts';
import { Automation, ScheduledTask } from '../recurring/model.ts';
import { writeRunNow } from '../recurring/operations.ts';
import { inheritPolicy, recordRerun } from '../runs/decisions.ts';
import { deliverRuns } from '../runs/dispatch.ts';
import { Run, type WaitingRun } from '../runs/model.ts';
import { isOpen } from '../runs/states.ts';
import { lockRunInReach } from '../runs/steering.ts';
import { writeMission } from '../starts/operations.ts';

/**
 * Runs the scheduled task or automation of the run, else starts a mission with the same prompt, agent and limits. When several people do
 * this at the same time, the first call starts a run, and the other calls get the same run.
 * @throws 404; 402 when the budget is used up; 409 when there is no task to start from, or the project is not active
 */
export async function rerunMission(caller: Caller, runId: string): Promise<Run> {
  const started: WaitingRun[] = [];
  // The run is committed before the tracker is called; a repeated request gets that run and starts no second one.
  const id = await firstStep(() =>
    transaction(async (trx) => {
      const run = await lockRunInReach(trx, caller, runId);
      const before = run.rerunAs === null ? undefined : await Run.find({ id: run.rerunAs }, trx);
      if (before && isOpen(before)) return before.id;
      started[0] = await startAgain(trx, caller, run);
      await recordRerun(trx, run.id, started[0].id);
      return started[0].id;
    }),
  );
  await deliverRuns(started, await readMissions(started));
  return Run.get({ id });
}

async function startAgain(trx: Transaction, caller: Caller, run: Run): Promise<WaitingRun> {
  const { recurringId, projectId, prompt, issueId, issueUrl, issueText } = run;
  if (recurringId !== null) {
    const kind = idOfNoun('automation', recurringId) ? Automation : ScheduledTask;
    return writeRunNow(trx, kind, caller, recurringId);
  }
  if (prompt === null) throw conflict('The task of the run was deleted, so it cannot be started again.');
  const {
    agentId,
    agentModel,
    planApproval,
    budgetUsd,
    instanceType,
    sandboxTemplateId,
    maxMinutes,
    maxModelCalls,
    maxTokens,
  } = run;
  const limits = { budgetUsd, instanceType, maxMinutes, maxModelCalls, maxTokens };
  // The new run works on the same issue if the earlier one was started on an existing issue.
  const issue = issueText !== null && issueId !== null ? { id: issueId, url: issueUrl!, text: issueText } : null;
  const mission = { projectId, prompt, agentId, agentModel, planApproval, sandboxTemplateId, ...limits };
  const started = await writeMission(trx, caller, mission, issue);
  await inheritPolicy(trx, started.id, run);
  return started;
}
