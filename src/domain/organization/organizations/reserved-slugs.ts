// Slugs are unique over all cells: the first cell is the directory, whose database reserves them. Without the directory, organizations are
// neither created nor renamed; everything else works.
import { minutes, now } from '#foundation/clock.ts';
import { askCell, directoryCell, ownCell } from '#foundation/http/cells.ts';
import { sql } from '#foundation/postgres/database.ts';
import { releaseTransaction } from '#foundation/postgres/idempotency.ts';
import { badGateway } from '#foundation/problem.ts';
import { Organization } from './model.ts';

/** Paths of questions between cells about slugs. */
export const slugPaths = { reserve: '/cells/slugs', use: '/cells/slugs/use' } as const;

export interface SlugClaim {
  slug: string;
  orgId: string;
  cell: string;
}

/** Age after which a reservation counts only if its cell has the organization: its creation has failed. */
const reservationMs = minutes(10);

/** Reserves a slug for an organization of this cell. Returns false for a slug of another organization. @throws 503 without the directory */
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

/** Reserves a slug in the directory. */
export async function admitSlug({ slug, orgId, cell }: SlugClaim): Promise<boolean> {
  // An organization that is older than the cells has no reservation.
  const own = await Organization.find({ slug });
  if (own && own.id !== orgId) return false;
  const at = now();
  if ((await sql(insertSql, [slug, orgId, cell, at])).length > 0) return true;
  const [held] = await sql<SlugClaim & { reservedAt: number }>(readSql, [slug]);
  if (!held) return admitSlug({ slug, orgId, cell });
  if (held.reservedAt > at - reservationMs || (await isUsed(held))) return false;
  return (await sql(replaceSql, [slug, orgId, cell, at, held.orgId, held.reservedAt])).length > 0;
}

/** Whether the organization of a reservation has the slug, now or formerly. A cell that does not answer keeps its reservations. */
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

const cellOfSlugSql = 'select cell from cell_slugs where slug = $1';
/** The cell that has reserved the slug, as far as this cell knows; null for an unknown slug. */
export const reservedBy = async (slug: string): Promise<string | null> =>
  (await sql<{ cell: string }>(cellOfSlugSql, [slug]))[0]?.cell ?? null;
