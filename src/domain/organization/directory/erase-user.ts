// Erases a person from the directory.
import type { Id } from '#foundation/ids.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { conflict } from '#foundation/problem.ts';
import { DirectoryUser } from './model.ts';

/**
 * Deletes the inactive user with this address; returns the number of deleted users. @throws 409 for an active user, because the identity
 * provider would create the user again
 */
export async function deleteInactiveUser(trx: Transaction, orgId: Id<'organization'>, email: string): Promise<number> {
  const user = await DirectoryUser.find({ orgId, email }, trx);
  if (!user) return 0;
  if (user.active)
    throw conflict.field('person', 'is active in the directory; deactivate the user at the identity provider first');
  return DirectoryUser.query(trx).where({ id: user.id, orgId }).delete();
}
