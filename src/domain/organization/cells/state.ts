// The state of an organization between cells. A change of it waits for the writes that have passed the guard (guard.ts).
import { now } from '#foundation/clock.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { asService } from '#foundation/postgres/origin.ts';
import { Organization } from '../organizations/model.ts';
import { keepGuard } from './guard.ts';
import { CellOrganization } from './model.ts';

/** The state of an organization; undefined for an organization that is only in this cell. */
export const moveStateOf = (orgId: string): Promise<CellOrganization | undefined> =>
  CellOrganization.find({ orgId: orgId as CellOrganization['orgId'] });

const movedSql = `select org_id, other_cell from cell_organizations where slug = $1 and state = 'moved' order by changed_at desc limit 1`;
/**
 * The cell to which an organization with this slug has moved; null for an unknown slug, and one of this cell, which may be that of an
 * organization that was closed in the other cell.
 */
export async function cellOfSlug(slug: string): Promise<string | null> {
  const [moved] = await sql<Pick<CellOrganization, 'orgId' | 'otherCell'>>(movedSql, [slug]);
  if (!moved) return null;
  const own = await Organization.find({ slug });
  return own && own.id !== moved.orgId ? null : moved.otherCell;
}

const listSql = `select org_id, slug, state, other_cell, changed_at from cell_organizations order by changed_at desc, org_id limit $1`;
/** The organizations that are moving or have moved, those that changed last first. */
export const listMoves = (limit: number): Promise<object[]> => sql(listSql, [limit]);

const isMovingSql = `select 1 as moving from cell_organizations where state <> 'moved' or erased_at is null limit 1`;
/** Whether there are rows here that must not be written. */
export const isAnyMoving = async (trx?: Transaction): Promise<boolean> => (await sql(isMovingSql, [], trx)).length > 0;

const lockSql = `select pg_advisory_xact_lock(hashtextextended('cell ' || $1, 0))`;

/** Runs work that decides about the state of an organization: no row of the organization is written meanwhile. */
export const changeState = <T>(orgId: string, work: (trx: Transaction) => Promise<T>): Promise<T> =>
  transaction(async (trx) => {
    await keepGuard(trx);
    await sql(lockSql, [orgId], trx);
    return work(trx);
  });

type NewState = Omit<CellOrganization, 'changedAt' | 'erasedAt'> & Partial<Pick<CellOrganization, 'erasedAt'>>;

/** Stores the state, whatever it was. */
export const putState = (trx: Transaction, row: NewState): Promise<void> =>
  CellOrganization.upsert(trx, { erasedAt: null, ...row, changedAt: now() });

/** Forgets the state: the organization is of this cell alone. */
export const dropState = async (trx: Transaction, orgId: CellOrganization['orgId'], moveId: string): Promise<boolean> =>
  (await CellOrganization.query(trx).delete().where({ orgId, moveId })) > 0;

const isFrozenSql = `select 1 as frozen from cell_organizations where org_id = $1 and state in ('frozen', 'arriving')`;
/** Whether the rows of an organization stay as they are, because it is being sent or received. */
export const isFrozen = async (orgId: string): Promise<boolean> => (await sql(isFrozenSql, [orgId])).length > 0;

/** SQL condition: the service may write rows of the organization. @param orgId SQL expression for its id */
export const isWritableSql = (orgId: string): string =>
  `not exists (select from cell_organizations where org_id = ${orgId} and state <> 'draining')`;

/** Runs work of the move itself, which the guard lets write. */
export const asMover = <T>(work: () => Promise<T>): Promise<T> => asService('operator', 'mover', 'org:move', work);
