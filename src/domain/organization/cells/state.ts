// The state of an organization between cells. A change of it waits for the writes that have passed the guard (guard.ts).
import { now } from '#foundation/clock.ts';
import { lookUp, sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { asService } from '#foundation/postgres/origin.ts';
import { Organization } from '../organizations/model.ts';
import { keepGuard } from './guard.ts';
import { CellOrganization } from './model.ts';

/** The state of an organization; undefined for an organization that is only in this cell. */
export const moveStateOf = (orgId: string, trx?: Transaction): Promise<CellOrganization | undefined> =>
  CellOrganization.find({ orgId: orgId as CellOrganization['orgId'] }, trx);

const placeSql = 'select state, other_cell from cell_organizations where org_id = $1';
/** Where an organization is, for each request: without its jobs, which can be many. Undefined as for `moveStateOf`. */
export const placeOfMove = async (orgId: string): Promise<Pick<CellOrganization, 'state' | 'otherCell'> | undefined> =>
  (await lookUp<Pick<CellOrganization, 'state' | 'otherCell'>>(placeSql, [orgId]))[0];

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

/** Locks the state of an organization until the transaction ends: no row of the organization is written meanwhile. */
export async function lockState(trx: Transaction, orgId: string): Promise<void> {
  await keepGuard(trx);
  await sql(lockSql, [orgId], trx);
}

/** Runs work that decides about the state of an organization. */
export const changeState = <T>(orgId: string, work: (trx: Transaction) => Promise<T>): Promise<T> =>
  transaction(async (trx) => {
    await lockState(trx, orgId);
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

/**
 * SQL condition: the service may write rows of the organization. Work that takes a number of rows needs it, because rows that it may not
 * write would be taken again and again. A scalar query, because it does not change the order in which an index returns the rows.
 * @param orgId SQL expression for its id, with the name of its table
 */
export const isWritableSql = (orgId: string): string =>
  `coalesce((select cell.state = 'draining' from cell_organizations cell where cell.org_id = ${orgId}), true)`;

/** SQL condition: no move of the organization is under way, so that callers may write its rows. @param orgId as in `isWritableSql` */
export const isStayingSql = (orgId: string): string =>
  `coalesce((select false from cell_organizations cell where cell.org_id = ${orgId}), true)`;

/** Runs work of the move itself, which the guard lets write. */
export const asMover = <T>(work: () => Promise<T>): Promise<T> => asService('operator', 'mover', 'org:move', work);
