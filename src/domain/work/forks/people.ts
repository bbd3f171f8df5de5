// The people whose work a recording contains: a fork repeats calls of the mission that it continues, which may be a fork itself.
import type { Transaction } from '#foundation/postgres/database.ts';
import { Run } from '../runs/model.ts';
import { RunFork } from './model.ts';

type Started = Pick<Run, 'id' | 'orgId' | 'billingActorUserId'>;

/** Ids of the people who have started the mission and those that it continues, in order. */
export async function peopleOfRecording(trx: Transaction, run: Started): Promise<string[]> {
  const people = new Set<string>();
  for (let one: Started | undefined = run; one; ) {
    if (one.billingActorUserId) people.add(one.billingActorUserId);
    const fork: RunFork | undefined = await RunFork.find({ orgId: one.orgId, runId: one.id }, trx);
    one = fork && (await Run.find({ id: fork.sourceRunId }, trx));
  }
  return [...people].sort();
}
