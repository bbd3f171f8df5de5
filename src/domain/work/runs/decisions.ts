// Decisions about a run while it is open: the choice of its agents, the approved commit, the failure of its steps, a wait for money.
import { now } from '#foundation/clock.ts';
import { announce, announcing } from '#foundation/postgres/changes.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import type { PersonIn } from '../../organization/memberships/model.ts';
import type { MissionLimits } from '../../projects/sandbox-templates/mission-limits.ts';
import type { Origin } from './answers.ts';
import { type AgentChoice, type ParkingLimit, Run } from './model.ts';

/** Records how the agents were chosen. @param endsWait Whether runtimes may claim a run that has waited for the choice */
export const recordAgentChoice = async (
  trx: Transaction,
  runId: Run['id'],
  agentChoice: AgentChoice,
  endsWait = false,
): Promise<void> => {
  const free = endsWait && { leaseUntil: null, reason: null, missionActivity: null };
  await Run.patch(trx, { id: runId }, { agentChoice, ...free });
};

/** Records the approved commit. @param approvedSha The commit that a reviewer or a person has approved; null removes the approval */
export const recordApproval = async (trx: Transaction, runId: Run['id'], approvedSha: string | null): Promise<void> => {
  await Run.patch(trx, { id: runId }, { approvedSha });
};

const appendErrorSql = announcing(
  `update runs set last_error = concat_ws(E'\\n', last_error, $2::text), updated_at = $3 where id = $1`,
);

/** Appends an error to the errors of the run. */
export const appendError = async (runId: Run['id'], words: string, trx?: Transaction): Promise<void> => {
  await sql(appendErrorSql, [runId, words, now()], trx);
};

/** Records the settings that the mission takes from its sandbox template. */
export const recordTemplateChoices = async (
  trx: Transaction,
  id: Run['id'],
  { instanceType, maxMinutes, maxModelCalls, maxTokens }: Pick<Run, 'instanceType' | keyof MissionLimits>,
): Promise<void> => {
  await Run.patch(trx, { id }, { instanceType, maxMinutes, maxModelCalls, maxTokens });
};

/** Records a failure; the run fails once its runtime finishes it. */
export const recordFailure = async (trx: Transaction, runId: Run['id'], failure: string): Promise<void> => {
  await Run.patch(trx, { id: runId }, { failure });
};

type Continuation = Pick<Run, 'prompt' | 'team' | 'continuesStepId' | 'effectPolicy'>;
type PullRequestOfRun = Pick<Run, 'branch' | 'baseBranch' | 'prNumber' | 'prUrl' | 'prState'> & Origin;

/** Records the event that has started the run. */
export const recordOrigin = async (trx: Transaction, runId: Run['id'], origin: Origin): Promise<void> => {
  await Run.patch(trx, { id: runId }, origin);
};

/** Records the chat thread that the run is reported in. */
export const recordChatThread = async (
  trx: Transaction,
  runId: Run['id'],
  chatThreadId: Run['chatThreadId'],
): Promise<void> => {
  await Run.patch(trx, { id: runId }, { chatThreadId });
};

/** Stores in the run `runId` the id of the run that was started to replace it. */
export const recordRerun = async (trx: Transaction, runId: Run['id'], rerunAs: Run['id']): Promise<void> => {
  await Run.patch(trx, { id: runId }, { rerunAs });
};

/** Copies the effect policy of the run that this run repeats. */
export const inheritPolicy = async (
  trx: Transaction,
  runId: Run['id'],
  { effectPolicy }: Pick<Run, 'effectPolicy'>,
): Promise<void> => {
  if (effectPolicy) await Run.patch(trx, { id: runId }, { effectPolicy });
};

/** The person to whom the previous run was handed over is notified about the new run, too. */
export const keepPerson = async (
  trx: Transaction,
  runId: Run['id'],
  { handedToUserId }: Pick<Run, 'handedToUserId'>,
): Promise<void> => {
  if (handedToUserId) await Run.patch(trx, { id: runId }, { handedToUserId });
};

/** Undoes all handovers of runs to this person: each run belongs once more to the person to whom it is charged. */
export const returnHandedRuns = async (trx: Transaction, { userId, orgId }: PersonIn): Promise<void> => {
  await Run.query(trx)
    .where({ handedToUserId: userId, ...(orgId && { orgId }) })
    .patch({ handedToUserId: null });
};

/** Records the person to whom the run is handed over; null reverts the handover. */
export const recordPerson = async (
  trx: Transaction,
  runId: Run['id'],
  { handedToUserId }: Pick<Run, 'handedToUserId'>,
): Promise<void> => {
  await Run.patch(trx, { id: runId }, { handedToUserId, updatedAt: now() });
};

/** Lets the new run work on an existing pull request. */
export const workOnPullRequest = async (
  trx: Transaction,
  runId: Run['id'],
  { branch, baseBranch, prNumber, prUrl, prState, originDeliveryId, originNumber }: PullRequestOfRun,
): Promise<void> => {
  const origin = { originDeliveryId, originNumber };
  await Run.patch(trx, { id: runId }, { branch, baseBranch, prNumber, prUrl, prState, prCheckAt: now(), ...origin });
};

/** Lets the new run continue another one from the checkpoint of a step, with the same agents. */
export const continueFromStep = async (
  trx: Transaction,
  runId: Run['id'],
  continuation: Continuation,
): Promise<void> => {
  await Run.patch(trx, { id: runId }, continuation);
};

export const markMetered = async (trx: Transaction, { id, isMetered }: Run): Promise<void> => {
  if (!isMetered) await Run.patch(trx, { id }, { isMetered: true });
};

/**
 * Parks the run: its next model call, or the next minute of its sandbox, has to wait until the limit is raised. When the same limit refuses once
 * more, the time of the first refusal is kept.
 */
export async function parkRun(trx: Transaction, run: Run, parkedBy: ParkingLimit, parkedReason: string): Promise<void> {
  if (run.parkedBy === parkedBy && run.parkedReason === parkedReason) return;
  await Run.patch(trx, { id: run.id }, { parkedBy, parkedReason, parkedAt: run.parkedAt ?? now() });
  if (run.parkedAt === null) await announce(trx, run.id);
}

export async function unparkRun(trx: Transaction, { id, parkedAt }: Run): Promise<void> {
  if (parkedAt === null) return;
  await Run.patch(trx, { id }, { parkedBy: null, parkedReason: null, parkedAt: null });
  await announce(trx, id);
}

/** Adds to the number of model calls. @param change 1 for a call, -1 for a call that the vendor has refused */
export const countModelCall = async (trx: Transaction, id: Run['id'], change: 1 | -1 = 1): Promise<void> => {
  await sql('update runs set model_calls = greatest(0, model_calls + $2) where id = $1', [id, change], trx);
};

const revertSql = `update runs set pr_reverted_at = $3 where project_id = any($1) and pr_number = $2 and pr_reverted_at is null`;

/** Records that a pull request of missions was reverted by another one. */
export const recordRevert = async (projectIds: readonly string[], number: number): Promise<void> => {
  await sql(revertSql, [projectIds, number, now()]);
};
