// The state of an organization that moves between cells. Changing the state waits for writes that have already passed the guard (guard.ts).
import { now } from '#foundation/clock.ts';
import { lookUp, sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { asService } from '#foundation/postgres/origin.ts';
import { Organization } from '../organizations/model.ts';
import { keepGuard } from './guard.ts';
import { CellOrganization } from './model.ts';

/** The state of an organization; undefined for an organization that belongs to this cell and is not moving. */
export const moveStateOf = (orgId: string, trx?: Transaction): Promise<CellOrganization | undefined> =>
  CellOrganization.find({ orgId: orgId as CellOrganization['orgId'] }, trx);

const placeSql = 'select state, other_cell from cell_organizations where org_id = $1';
/**
 * The state of the organization's move, and the other cell of the move. Undefined for an organization that belongs to this cell and is not
 * moving. This is read for each request, so the waiting jobs of the move, which can be many, are not read.
 */
export const placeOfMove = async (orgId: string): Promise<Pick<CellOrganization, 'state' | 'otherCell'> | undefined> =>
  (await lookUp<Pick<CellOrganization, 'state' | 'otherCell'>>(placeSql, [orgId]))[0];

const movedSql = `select org_id, other_cell from cell_organizations where slug = $1 and state = 'moved' order by changed_at desc limit 1`;
/**
 * The cell to which the organization with this slug has moved. Null for an unknown slug. Also null if another organization of this cell now
 * has the slug: this is possible if the organization was closed after it had moved.
 */
export async function cellOfSlug(slug: string): Promise<string | null> {
  const [moved] = await sql<Pick<CellOrganization, 'orgId' | 'otherCell'>>(movedSql, [slug]);
  if (!moved) return null;
  const own = await Organization.find({ slug });
  return own && own.id !== moved.orgId ? null : moved.otherCell;
}

const listSql = `select org_id, slug, state, other_cell, changed_at from cell_organizations order by changed_at desc, org_id limit $1`;
/** Organizations that are moving or have moved, most recently changed first. */
export const listMoves = (limit: number): Promise<object[]> => sql(listSql, [limit]);

const isMovingSql = `select 1 as moving from cell_organizations where state <> 'moved' or erased_at is null limit 1`;
/** Whether this cell has rows of moving or moved organizations, which must not be written. */
export const isAnyMoving = async (trx?: Transaction): Promise<boolean> => (await sql(isMovingSql, [], trx)).length > 0;

const lockSql = `select pg_advisory_xact_lock(hashtextextended('cell ' || $1, 0))`;

/** Locks the state of an organization until the transaction ends. Meanwhile no row of the organization is written. */
export async function lockState(trx: Transaction, orgId: string): Promise<void> {
  await keepGuard(trx);
  await sql(lockSql, [orgId], trx);
}

/** Runs work that may change the state of an organization, in a transaction that locks the state. */
export const changeState = <T>(orgId: string, work: (trx: Transaction) => Promise<T>): Promise<T> =>
  transaction(async (trx) => {
    await lockState(trx, orgId);
    return work(trx);
  });

type NewState = Omit<CellOrganization, 'changedAt' | 'erasedAt'> & Partial<Pick<CellOrganization, 'erasedAt'>>;

/** Stores the state, replacing any earlier one. */
export const putState = (trx: Transaction, row: NewState): Promise<void> =>
  CellOrganization.upsert(trx, { erasedAt: null, ...row, changedAt: now() });

/** Deletes the state of a move: the organization then belongs to this cell alone. Returns whether there was one. */
export const dropState = async (trx: Transaction, orgId: CellOrganization['orgId'], moveId: string): Promise<boolean> =>
  (await CellOrganization.query(trx).delete().where({ orgId, moveId })) > 0;

const isFrozenSql = `select 1 as frozen from cell_organizations where org_id = $1 and state in ('frozen', 'arriving')`;
/** Whether the rows of an organization must not change, because they are being sent or received. */
export const isFrozen = async (orgId: string): Promise<boolean> => (await sql(isFrozenSql, [orgId])).length > 0;

/**
 * SQL condition: the service may write rows of the organization. Jobs that select rows in batches need this condition, because rows that
 * they must not write would be selected again and again. The condition is a scalar subquery, which does not change the order in which an
 * index returns the rows.
 * @param orgId SQL expression for the id of the organization, with the name of the table
 */
export const isWritableSql = (orgId: string): string =>
  `coalesce((select cell.state = 'draining' from cell_organizations cell where cell.org_id = ${orgId}), true)`;

/** SQL condition: the organization is not moving, so callers may write its rows. @param orgId as in `isWritableSql` */
export const isStayingSql = (orgId: string): string =>
  `coalesce((select false from cell_organizations cell where cell.org_id = ${orgId}), true)`;

/** Calls `work`, which belongs to the move itself. The triggers of guard.ts let it write rows of a moving organization. */
export const asMover = <T>(work: () => Promise<T>): Promise<T> => asService('operator', 'mover', 'org:move', work);
