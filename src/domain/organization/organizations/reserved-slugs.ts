// Slugs are unique across all cells. The first cell is the directory, whose database reserves them. While the directory is unavailable,
// organizations can be neither created nor renamed; everything else works.
import { minutes, now } from '#foundation/clock.ts';
import { askCell, directoryCell, otherCells, ownCell } from '#foundation/http/cells.ts';
import { sql } from '#foundation/postgres/database.ts';
import { releaseTransaction } from '#foundation/postgres/idempotency.ts';
import { badGateway, conflict } from '#foundation/problem.ts';
import { Organization } from './model.ts';

/** The URL paths of the requests about slugs that cells send to each other. */
export const slugPaths = {
  reserve: '/cells/slugs',
  use: '/cells/slugs/use',
  find: '/cells/slugs/find',
  registered: '/cells/slugs/registered',
} as const;

export interface SlugClaim {
  slug: string;
  orgId: string;
  cell: string;
}

/** Age after which a reservation counts only if its cell really has the organization; otherwise the creation has failed. */
const reservationMs = minutes(10);

/**
 * Reserves a slug for an organization of this cell. Returns false if another organization has the slug. @throws 503 when the directory is
 * unavailable
 */
export async function reserveSlug(slug: string, orgId: string): Promise<boolean> {
  const [cell, directory] = [ownCell(), directoryCell()];
  if (cell === null || directory === null) return true;
  const claim: SlugClaim = { slug, orgId, cell };
  if (cell === directory) return admitSlug(claim);
  await releaseTransaction();
  const { status } = await askCell(directory, slugPaths.reserve, claim);
  if (status === 200 || status === 409) return status === 200;
  throw badGateway(`The cell ${directory}, which reserves slugs, has answered ${status}.`);
}

const insertSql = `insert into cell_slugs (slug, org_id, cell, reserved_at) values ($1, $2, $3, $4)
  on conflict (slug) do update set cell = excluded.cell where cell_slugs.org_id = excluded.org_id returning slug`;
const readSql = 'select slug, org_id, cell, reserved_at from cell_slugs where slug = $1';
const replaceSql = `update cell_slugs set org_id = $2, cell = $3, reserved_at = $4
  where slug = $1 and org_id = $5 and reserved_at = $6 returning slug`;

/** Reserves a slug in the directory. @throws 503 when a cell that has not registered its slugs does not answer */
export async function admitSlug({ slug, orgId, cell }: SlugClaim): Promise<boolean> {
  // An organization that is older than the division into cells has no reservation.
  if (await isTaken({ slug, orgId })) return false;
  const at = now();
  const [held] = await sql<SlugClaim & { reservedAt: number }>(readSql, [slug]);
  if (!held) {
    for (const other of await unregisteredCells(cell)) if ((await findIn(other, { slug, orgId })).isTaken) return false;
  } else if (held.orgId !== orgId) {
    if (held.reservedAt > at - reservationMs || (await isUsed(held))) return false;
    return (await sql(replaceSql, [slug, orgId, cell, at, held.orgId, held.reservedAt])).length > 0;
  }
  return (await sql(insertSql, [slug, orgId, cell, at])).length > 0;
}

type Wanted = Pick<SlugClaim, 'slug' | 'orgId'>;

/** Whether another organization of this cell has the slug. */
async function isTaken({ slug, orgId }: Wanted): Promise<boolean> {
  const found = await Organization.find({ slug });
  return found !== undefined && found.id !== orgId;
}

/**
 * Checks an organization that another cell is creating or importing. Returns whether a different organization in this cell has the slug
 * (`isTaken`), and whether this cell already contains the organization itself (`isHere`).
 */
export const findWanted = async (wanted: Wanted): Promise<{ isTaken: boolean; isHere: boolean }> => ({
  isTaken: await isTaken(wanted),
  isHere: (await Organization.find({ id: wanted.orgId as Organization['id'] })) !== undefined,
});

async function findIn(cell: string, wanted: Wanted): ReturnType<typeof findWanted> {
  await releaseTransaction();
  const { status, body } = await askCell(cell, slugPaths.find, wanted);
  if (status !== 200) throw badGateway(`The cell ${cell} has answered ${status}.`);
  return body as Awaited<ReturnType<typeof findWanted>>;
}

/** Error message for an organization whose slug is taken. It has no full stop, because errors of the operator CLI have none. */
export const slugHeldBy = (holder: string, slug: string): string =>
  `${holder} already has the slug ${slug}: rename one of the two organizations first`;

/**
 * Reserves the slug of an organization that is imported into this cell from a file. @throws 409 when another cell has the organization
 * or the slug
 */
export async function reserveForJoin({ id: orgId, slug }: { id: string; slug: string }): Promise<void> {
  for (const cell of otherCells()) {
    const { isTaken, isHere } = await findIn(cell, { slug, orgId });
    if (isHere) throw conflict(`The cell ${cell} already has the organization.`);
    if (isTaken) throw conflict(`${slugHeldBy(`An organization in the cell ${cell}`, slug)}.`);
  }
  if (!(await reserveSlug(slug, orgId))) throw conflict(`${slugHeldBy('Another organization on the platform', slug)}.`);
}

const registeredSql = 'select cell from cell_registrations';
/**
 * The cells that have not reported that all of their slugs are reserved in the directory; these cells have to be asked about a slug. The
 * directory itself and the cell `asking` are left out.
 */
async function unregisteredCells(asking: string): Promise<string[]> {
  const registered = new Set((await sql<{ cell: string }>(registeredSql, [])).map(({ cell }) => cell));
  return otherCells().filter((cell) => cell !== asking && !registered.has(cell));
}

const registerSql = 'insert into cell_registrations (cell, registered_at) values ($1, $2) on conflict do nothing';
/** Stores, in the directory, that the cell has reserved all of its slugs there. */
export async function noteRegistered(cell: string): Promise<object> {
  await sql(registerSql, [cell, now()]);
  return { ok: true };
}

/** Whether the organization of a reservation has or formerly had the slug. A cell that does not answer keeps its reservations. */
async function isUsed(claim: SlugClaim): Promise<boolean> {
  if (claim.cell === ownCell()) return hasSlug(claim);
  await releaseTransaction();
  const { status, body } = await askCell(claim.cell, slugPaths.use, claim);
  return status !== 200 || (body as { isUsed?: boolean }).isUsed !== false;
}

export async function hasSlug({ slug, orgId }: Pick<SlugClaim, 'slug' | 'orgId'>): Promise<boolean> {
  const found = await Organization.find({ id: orgId as Organization['id'] });
  return found !== undefined && [found.slug, ...found.formerSlugs].includes(slug);
}
