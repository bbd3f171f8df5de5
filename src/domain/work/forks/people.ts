// Finds the people whose work a recording contains. The recording of a fork also contains calls of the mission that the fork continues, and that
// mission may itself be a fork. So the people are those who have started any of these missions.
import type { Transaction } from '#foundation/postgres/database.ts';
import { Run } from '../runs/model.ts';
import { RunFork } from './model.ts';

type Started = Pick<Run, 'id' | 'orgId' | 'billingActorUserId'>;

/**
 * Returns the sorted ids of the people who started the mission or one of its ancestors. The ancestors of a fork are the mission that the fork
 * continues and the ancestors of that mission.
 */
export async function peopleOfRecording(trx: Transaction, run: Started): Promise<string[]> {
  const people = new Set<string>();
  for (let one: Started | undefined = run; one; ) {
    if (one.billingActorUserId) people.add(one.billingActorUserId);
    const fork: RunFork | undefined = await RunFork.find({ orgId: one.orgId, runId: one.id }, trx);
    one = fork && (await Run.find({ id: fork.sourceRunId }, trx));
  }
  return [...people].sort();
}
