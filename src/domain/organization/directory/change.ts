// Changes the users and groups of a directory, each change in one transaction. The transactions lock the organization, so such changes, and
// changes of the organization's memberships, are carried out one after the other.
import type { Caller } from '#access/principal.ts';
import { ownOrganization } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { isUniqueViolation } from '#foundation/postgres/database-errors.ts';
import { conflict } from '#foundation/problem.ts';
import { lockOrganization } from '../organizations/operations.ts';

/**
 * Runs a change in a transaction that has locked the organization.
 * @param unique Names of unique indexes, each with its attribute
 * @throws 409 naming the attribute, if another record has the same value
 */
export async function changeDirectory<T>(
  caller: Caller,
  unique: Readonly<Record<string, string>>,
  work: (trx: Transaction, orgId: Id<'organization'>) => Promise<T>,
): Promise<T> {
  const orgId = ownOrganization(caller);
  try {
    return await transaction(async (trx) => {
      await lockOrganization(trx, orgId);
      return work(trx, orgId);
    });
  } catch (error) {
    const index = Object.keys(unique).find((name) => isUniqueViolation(error, name));
    if (index) throw conflict.field(unique[index]!, 'belongs to another record of the directory');
    throw error;
  }
}
