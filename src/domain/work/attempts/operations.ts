// Decides between attempts at one task: a person chooses one attempt or closes all attempts. The decision is final; the database determines
// which of two concurrent decisions is first. The effects at the source host follow in the background (./settle.ts).
import type { Caller } from '#access/principal.ts';
import { withinReach } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { enqueue } from '#foundation/jobs/background.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { conflict } from '#foundation/problem.ts';
import { rejectEffectsOf } from '../../projects/effects/staging.ts';
import { decideAttempt, lockAttempts } from '../runs/attempts.ts';
import { cancelRuns } from '../runs/finish.ts';
import { Run } from '../runs/model.ts';
import { readRun } from '../runs/operations.ts';
import { isOpen } from '../runs/states.ts';
import { authorOf } from '../runs/steering.ts';
import { AttemptGroup } from './model.ts';

/** An attempt, which is a run. */
export type Attempt = Run;

export const findGroup = (caller: Caller, groupId: string): Promise<AttemptGroup> =>
  AttemptGroup.get({ id: groupId, ...withinReach(caller) });

/** The groups with these ids that the caller can reach. */
export const groupsOf = (ids: readonly string[], caller: Caller): Promise<AttemptGroup[]> =>
  AttemptGroup.findByKeys('id', ids, withinReach(caller));

/** The attempts of these groups, in order. */
export async function attemptsOf(groupIds: readonly string[], caller: Caller): Promise<Run[]> {
  const runs = await Run.findByKeys('attemptGroupId', groupIds, withinReach(caller));
  return runs.sort((a, b) => a.attemptNumber! - b.attemptNumber!);
}

/** Yields the group at once and after each change, until a person has decided and all runs have ended. */
export async function* followGroup(
  changes: AsyncIterable<() => Promise<Caller>>,
  groupId: string,
): AsyncGenerator<AttemptGroup> {
  for await (const currentCaller of changes) {
    const caller = await currentCaller();
    const group = await findGroup(caller, groupId);
    yield group;
    if (group.state !== 'open' && !(await attemptsOf([groupId], caller)).some(isOpen)) return;
  }
}

type Ended = Pick<Run, 'status' | 'headSha' | 'attemptNumber'>;

/** Why the attempt cannot be chosen; null when it can. */
export function choiceBlocker({ status, headSha, attemptNumber }: Ended): string | null {
  if (headSha !== null || status === 'completed' || isOpen({ status })) return null;
  const how = status === 'failed' ? 'has failed' : 'was canceled';
  return `Attempt ${attemptNumber} ${how} without a change: there is nothing to choose.`;
}

/**
 * Chooses an attempt, which may still run, and closes the other attempts. Choosing it twice changes nothing.
 * @throws 404; 409 for a run that is not an attempt, for an attempt that ended without a change, and after another decision
 */
export const chooseAttempt = (caller: Caller, runId: string): Promise<AttemptGroup> =>
  transaction(async (trx) => {
    const { attemptGroupId } = await readRun(trx, caller, runId);
    if (attemptGroupId === null) throw conflict('The run does not belong to a group of attempts.');
    const attempts = await lockAttempts(trx, attemptGroupId);
    const group = (await AttemptGroup.lock(trx, { id: attemptGroupId }))!;
    if (group.chosenRunId === runId) return group;
    refuseDecided(group, attempts);
    const chosen = attempts.find(({ id }) => id === runId)!;
    const blocker = choiceBlocker(chosen);
    if (blocker) throw conflict(blocker);
    await decideAttempt(trx, chosen.id, 'chosen');
    await closeOthers(trx, attempts, chosen, `Attempt ${chosen.attemptNumber} at the task was chosen.`);
    if (!isOpen(chosen)) await enqueue(trx, 'finish issue', { runId });
    return decide(trx, caller, group, { state: 'chosen', chosenRunId: chosen.id });
  });

/** Closes all attempts of the group, and chooses none of them. A second call changes nothing. @throws 404, 409 after an attempt was chosen */
export const closeAttempts = (caller: Caller, groupId: string): Promise<AttemptGroup> =>
  transaction(async (trx) => {
    const { id } = await findGroup(caller, groupId);
    const attempts = await lockAttempts(trx, id);
    const group = (await AttemptGroup.lock(trx, { id }))!;
    if (group.state === 'closed') return group;
    refuseDecided(group, attempts);
    await closeOthers(trx, attempts, null, 'The attempts at the task were closed.');
    return decide(trx, caller, group, { state: 'closed', chosenRunId: null });
  });

/** Rejects a second decision. @throws 409, which names the first decision */
function refuseDecided({ state, chosenRunId, decidedBy }: AttemptGroup, attempts: readonly Run[]): void {
  if (state === 'open') return;
  const chosen = attempts.find(({ id }) => id === chosenRunId);
  throw conflict(
    chosen
      ? `${decidedBy} has already chosen attempt ${chosen.attemptNumber}: the decision is final.`
      : `${decidedBy} has already closed the attempts: the decision is final.`,
  );
}

async function closeOthers(trx: Transaction, attempts: readonly Run[], chosen: Run | null, why: string): Promise<void> {
  for (const { id } of attempts) {
    if (id === chosen?.id) continue;
    await decideAttempt(trx, id, 'closed');
    await cancelRuns(trx, { id }, why);
    await rejectEffectsOf(trx, [id]);
  }
}

async function decide(
  trx: Transaction,
  caller: Caller,
  { id }: AttemptGroup,
  decision: Pick<AttemptGroup, 'state' | 'chosenRunId'>,
): Promise<AttemptGroup> {
  const { authorUserId, author } = await authorOf(caller);
  const at = now();
  const changes = { ...decision, decidedByUserId: authorUserId, decidedBy: author, decidedAt: at, updatedAt: at };
  await AttemptGroup.patch(trx, { id }, changes);
  await enqueue(trx, 'attempts', { groupId: id });
  await announce(trx, id);
  return (await AttemptGroup.find({ id }, trx))!;
}
