// Hands a mission over to another member, who is notified about it from then on. The costs stay with the person to whom the mission is
// charged, so that nobody can spend another person's budget.
import type { Caller } from '#access/principal.ts';
import { scopesOfRole } from '#access/scopes.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { conflict, invalid, notFound } from '#foundation/problem.ts';
import { lockMembership } from '../../organization/memberships/operations.ts';
import { recordPerson } from '../../work/runs/decisions.ts';
import { lockRunWithAttempts } from '../../work/runs/lock.ts';
import type { RunMessage } from '../../work/runs/message-model.ts';
import { appendMessage } from '../../work/runs/messages.ts';
import { Run } from '../../work/runs/model.ts';
import { readRun } from '../../work/runs/operations.ts';
import { personOf } from '../../work/runs/person.ts';
import { authorOf } from '../../work/runs/steering.ts';
import { type Addressee, findAddressee } from './due.ts';
import { writeNotice } from './tell.ts';

/**
 * Hands over the run and, if it is one of several attempts, all attempts at the same task. Does nothing when the person already has the
 * run. @throws 404, including for a person who is not a member; 400 for a member who is not allowed to run missions; 409 for a run that was
 * canceled or skipped
 */
export async function handOverRun(caller: Caller, runId: string, userId: string): Promise<Run> {
  const author = await authorOf(caller);
  return transaction(async (trx) => {
    const found = await readRun(trx, caller, runId);
    // The membership is locked first and the run second. The removal of a member uses the same order, which prevents deadlocks.
    const addressee = await requireRecipient(trx, found.orgId, userId);
    const locked = await lockRunWithAttempts(trx, found);
    const run = locked.find(({ id }) => id === found.id)!;
    if (run.status === 'canceled' || run.status === 'skipped')
      throw conflict(`The run was ${run.status}: there is nothing left to hand over.`);
    if (personOf(run) !== addressee.userId) {
      for (const one of locked) {
        const { seq } = await recordHandover(trx, one, addressee, author);
        if (one.id === run.id && author.authorUserId !== addressee.userId)
          await notify(trx, run, addressee, author.author, seq);
      }
      await announce(trx, `inbox:${run.orgId}`);
    }
    return (await Run.find({ id: run.id }, trx))!;
  });
}

async function requireRecipient(trx: Transaction, orgId: Run['orgId'], userId: string): Promise<Addressee> {
  const membership = await lockMembership(trx, orgId, userId);
  if (!membership) throw notFound('membership');
  if (!scopesOfRole(membership.role).has('missions:run'))
    throw invalid.field('userId', 'must be a member who may run missions');
  return (await findAddressee(trx, membership))!;
}

async function recordHandover(
  trx: Transaction,
  run: Run,
  { userId, name }: Addressee,
  author: Awaited<ReturnType<typeof authorOf>>,
): Promise<RunMessage> {
  const handedToUserId = userId === run.billingActorUserId ? null : userId;
  await recordPerson(trx, run.id, { handedToUserId });
  await announce(trx, run.id);
  return appendMessage(trx, run, { kind: 'handover', text: name, ...author });
}

/** Notifies the person to whom the run was handed over. @param seq Number of the handover in the run's history, which identifies the notice */
async function notify(trx: Transaction, run: Run, addressee: Addressee, author: string, seq: number): Promise<void> {
  const { id: runId, orgId, missionTitle } = run;
  const detail = `${author} handed the mission to you.`;
  await writeNotice(trx, {
    ...addressee,
    runId,
    orgId,
    missionTitle,
    cause: `handover:${seq}`,
    kind: 'handover',
    isFollower: false,
    detail,
  });
}
