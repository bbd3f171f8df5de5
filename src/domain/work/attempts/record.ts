// Writes and locks groups of attempts.
import { newId } from '#foundation/ids.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import type { Project } from '../../projects/projects/model.ts';
import { AttemptGroup } from './model.ts';

export async function insertGroup(
  trx: Transaction,
  { id: projectId, orgId }: Pick<Project, 'id' | 'orgId'>,
  { at, ...task }: Pick<AttemptGroup, 'title' | 'prompt'> & { at: number },
): Promise<AttemptGroup['id']> {
  const id = newId('attemptGroup');
  const undecided = {
    state: 'open',
    chosenRunId: null,
    decidedByUserId: null,
    decidedBy: null,
    decidedAt: null,
  } as const;
  await AttemptGroup.insert(trx, { id, orgId, projectId, ...task, ...undecided, createdAt: at, updatedAt: at });
  return id;
}

/** Locks the group, so that the costs of its attempts are counted one after the other until the transaction ends. */
export const lockGroup = async (trx: Transaction, id: AttemptGroup['id']): Promise<void> => {
  await AttemptGroup.lock(trx, { id });
};
