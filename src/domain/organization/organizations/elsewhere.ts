// Organizations of a person in other cells, where the person has an account with the same email address.
import { seconds } from '#foundation/clock.ts';
import { askCell, otherCells } from '#foundation/http/cells.ts';
import { findPersonByAddress } from '../people/operations.ts';
import { organizationsOf } from './operations.ts';

/** Path of the request with which a cell asks another for a person's organizations. */
export const membershipsPath = '/cells/memberships';
/** Time limit for a cell's answer; it is short, because a page waits for it. */
const answerMs = seconds(2);
/** Maximum number of organizations of one cell that are listed. */
const maxListed = 100;

export interface OrganizationElsewhere {
  cell: string;
  name: string;
  slug: string;
}

/** The open organizations of the person with this address in this cell. */
export async function organizationsOfAddress(email: string): Promise<Omit<OrganizationElsewhere, 'cell'>[]> {
  const person = await findPersonByAddress(email);
  const own = person && !person.disabledAt ? await organizationsOf(person.id) : [];
  return own.flatMap(({ name, slug, closedAt }) => (closedAt === null ? [{ name, slug }] : [])).slice(0, maxListed);
}

/** The person's organizations in other cells, except in cells that do not answer. */
export async function organizationsElsewhere(email: string): Promise<OrganizationElsewhere[]> {
  const lists = await Promise.allSettled(
    otherCells().map(async (cell) => {
      const { status, body } = await askCell(cell, membershipsPath, { email }, AbortSignal.timeout(answerMs));
      const { organizations } = body as { organizations: Omit<OrganizationElsewhere, 'cell'>[] };
      return status === 200 ? organizations.map((one) => ({ ...one, cell })) : [];
    }),
  );
  return lists.flatMap((list) => (list.status === 'fulfilled' ? list.value : []));
}
