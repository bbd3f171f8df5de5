// Creates an organization for a person, in this cell or in another one. In another cell, the person gets an account with the same email
// address.
import type { Caller } from '#access/principal.ts';
import { beyondOneProject, ownPerson, wholePerson } from '#access/reach.ts';
import { askCell, otherCells, ownCell } from '#foundation/http/cells.ts';
import { type Id, newId } from '#foundation/ids.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { firstStep } from '#foundation/postgres/idempotency.ts';
import { badGateway, conflict, invalid } from '#foundation/problem.ts';
import { Person } from '../people/model.ts';
import { findOrCreatePerson, lockPerson } from '../people/operations.ts';
import { organizationsPerPerson } from './bounds.ts';
import { Organization } from './model.ts';
import { foundOrganization, type NewOrganization } from './operations.ts';

/**
 * Creates an organization with the caller as its owner.
 * @param input `cell` is the cell that stores its data; absent means this one.
 * @throws 409 for a slug in use, and beyond the quota; 400 for an unknown cell; 503 when a required cell does not answer
 */
export async function createOrganization(
  caller: Caller,
  { cell, ...wanted }: NewOrganization & { cell?: string | undefined },
): Promise<Organization> {
  beyondOneProject(caller);
  wholePerson(caller);
  const [founder, own] = [ownPerson(caller), ownCell()];
  if (cell !== undefined && cell !== own && !otherCells().includes(cell)) {
    const known = own ? [own, ...otherCells()].join(', ') : 'absent: the platform has one cell';
    throw invalid.field('cell', own ? `must be one of ${known}` : `must be ${known}`);
  }
  if (own === null) return foundOrganization(founder, wanted, refuseBeyondQuota);
  // The id is fixed before another cell is asked, so that a repeated call uses the same id.
  const id = (await firstStep(async () => newId('organization'))) as Organization['id'];
  return (cell ?? own) === own ? foundOnce(founder, { ...wanted, id }) : order(cell!, founder, { ...wanted, id });
}

type Chosen = NewOrganization & Pick<Organization, 'id'>;

const foundOnce = async (founder: Id<'person'>, chosen: Chosen): Promise<Organization> =>
  (await Organization.find({ id: chosen.id })) ?? foundOrganization(founder, chosen, refuseBeyondQuota);

async function refuseBeyondQuota(trx: Transaction, createdByUserId: Id<'person'>): Promise<void> {
  await lockPerson(trx, createdByUserId);
  const created = await Organization.query(trx).where({ createdByUserId, closedAt: null }).resultSize();
  if (created >= organizationsPerPerson) {
    throw conflict(
      `A person can have at most ${organizationsPerPerson} open organizations that they created; close one first.`,
    );
  }
}

/** Path of the request with which one cell asks another to create an organization. */
export const creationPath = '/cells/organizations';

export interface OrganizationOrder extends Chosen {
  email: string;
  personName: string;
}

async function order(cell: string, founder: Id<'person'>, chosen: Chosen): Promise<Organization> {
  const { email, name: personName } = await Person.get({ id: founder });
  const { status, body } = await askCell(cell, creationPath, { ...chosen, email, personName });
  if (status === 200) return { ...(body as Organization), cell };
  const problem = body as { description?: string } | null;
  if (status === 409 && problem?.description) throw conflict(problem.description);
  throw badGateway(`The cell ${cell} has not created the organization: it has answered ${status}.`);
}

/** Creates an organization that a person requested in another cell. @throws 409 for a slug in use, and beyond the quota */
export async function createOrdered({ email, personName, ...chosen }: OrganizationOrder): Promise<Organization> {
  return foundOnce((await findOrCreatePerson(email, personName)).id, chosen);
}
