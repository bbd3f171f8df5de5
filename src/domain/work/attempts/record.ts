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

/** Other attempts of the group wait with their costs until the transaction ends. */
export const lockGroup = async (trx: Transaction, id: AttemptGroup['id']): Promise<void> => {
  await AttemptGroup.lock(trx, { id });
};
