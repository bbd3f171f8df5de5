// The receiving side of a move: the organization is neither served nor changed here until the sending cell confirms the move.
import { now } from '#foundation/clock.ts';
import { cellSecretFor } from '#foundation/http/cells.ts';
import type { Id } from '#foundation/ids.ts';
import { putJobs, type WaitingJob } from '#foundation/jobs/waiting-jobs.ts';
import { database } from '#foundation/postgres/database.ts';
import { forgetKeysOf } from '#foundation/postgres/idempotency.ts';
import { migrationStatus } from '#foundation/postgres/migrations.ts';
import { conflict } from '#foundation/problem.ts';
import { storage } from '#foundation/storage/storage.ts';
import { guardTables, unguardTables } from '../../organization/cells/guard.ts';
import {
  asMover,
  changeState,
  dropState,
  isAnyMoving,
  lockState,
  moveStateOf,
  putState,
} from '../../organization/cells/state.ts';
import { Organization } from '../../organization/organizations/model.ts';
import { reserveSlug, slugHeldBy } from '../../organization/organizations/reserved-slugs.ts';
import { restartLeases } from '../../work/runs/leases.ts';
import { eraseOrganization } from '../closure/erase.ts';
import { OrganizationFileError } from '../organization-files/format.ts';
import { joinOrganization } from '../organization-files/join.ts';

type OrgId = Id<'organization'>;

/** The URL paths of the requests that two cells exchange when an organization moves. */
export const movePaths = {
  check: '/cells/moves/check',
  arrivals: '/cells/moves/arrivals/',
  jobs: '/cells/moves/jobs',
  serve: '/cells/moves/serve',
  discard: '/cells/moves/discard',
} as const;

/** The secret that encrypts the file of a move. Both cells derive it from the secret that they share. */
export const fileSecret = (moveId: string): string => cellSecretFor(`move ${moveId}`).toString('base64');

export interface ArrivingMove {
  orgId: OrgId;
  moveId: string;
}

const exists = async (id: OrgId): Promise<boolean> => (await Organization.find({ id })) !== undefined;
/**
 * Whether the organization belongs to this cell, even if it is about to move away: its rows here are neither an unfinished arrival nor the
 * remains of an earlier move.
 */
const isOwn = async (id: OrgId): Promise<boolean> => {
  const state = (await moveStateOf(id))?.state;
  return (await exists(id)) && state !== 'arriving' && state !== 'moved';
};
export const newestMigration = async (): Promise<string | undefined> =>
  (await migrationStatus(database())).applied.at(-1);

/** Checks that this cell can receive the organization. @throws 409 */
export async function checkArrival({
  orgId,
  slug,
  schema,
}: {
  orgId: OrgId;
  slug: string;
  schema: string;
}): Promise<object> {
  if (await isOwn(orgId)) throw conflict('This cell already has the organization.');
  const found = await Organization.find({ slug });
  if (found && found.id !== orgId) throw conflict(`${slugHeldBy('Another organization', slug)}.`);
  if (schema !== (await newestMigration()))
    throw conflict('The cells run different releases: upgrade both to the same release.');
  return { ok: true };
}

/** Receives and verifies the file of an organization; repeatable. @throws 409 for a file that is refused */
export async function receiveArrival(
  { orgId, moveId, slug, from }: ArrivingMove & { slug: string; from: string },
  source: AsyncIterable<Uint8Array>,
): Promise<{ tables: Record<string, number> }> {
  await removeFormer({ orgId, moveId, from });
  const arriving = { orgId, slug, state: 'arriving' as const, otherCell: from, moveId, jobs: [], file: null };
  const arrived = await changeState(orgId, async (trx) => {
    const state = await moveStateOf(orgId);
    if (state?.moveId === moveId && state.file) return state.file;
    // This request arrived late: the command that sent it was killed, and the move was then canceled.
    if (state?.moveId === moveId && state.state === 'moved') throw conflict('The move was canceled.');
    if (await isOwn(orgId)) throw conflict('This cell already has the organization.');
    await putState(trx, arriving);
    return null;
  });
  if (arrived) return { tables: arrived.tables };
  await guardTables();
  const { tables } = await asMover(() =>
    joinOrganization(source, fileSecret(moveId), {
      async settle(trx, { tables }) {
        await lockState(trx, orgId);
        const state = await moveStateOf(orgId, trx);
        if (state?.state !== 'arriving' || state.moveId !== moveId) throw conflict('The move was canceled.');
        await putState(trx, { ...arriving, file: { contentKey: moveId, bytes: 0, tables } });
      },
    }),
  ).catch((error: unknown) => {
    throw error instanceof OrganizationFileError ? conflict(error.message) : error;
  });
  return { tables };
}

/**
 * Removes the remains of earlier moves: an arrival whose cancellation never reached this cell, and the rows and file of an organization
 * that returns to this cell.
 */
async function removeFormer({ orgId, moveId, from }: ArrivingMove & { from: string }): Promise<void> {
  const state = await moveStateOf(orgId);
  if (!state || state.moveId === moveId) return;
  if (state.state === 'arriving') {
    // The id of a later move sorts after the id of an earlier move. If the stored move is the later one, this request belongs to an
    // earlier move, which was canceled.
    if (state.otherCell === from && state.moveId > moveId) throw conflict('The move was canceled.');
    await discardArrival({ orgId, moveId: state.moveId, from });
  }
  if (state.state !== 'moved') return;
  await removeRows(orgId);
  if (state.file) await storage().remove(state.file.contentKey);
}

/**
 * Stores a part of the organization's waiting jobs, which are queued when this cell begins to serve the organization. A repeated request
 * stores no job twice.
 * @param sent `first` is the position of the part's first job among all waiting jobs, from 0
 */
export async function receiveJobs(sent: ArrivingMove & { first: number; jobs: WaitingJob[] }): Promise<object> {
  const { orgId, moveId, first, jobs } = sent;
  await changeState(orgId, async (trx) => {
    const state = await moveStateOf(orgId);
    if (state?.state !== 'arriving' || state.moveId !== moveId || !state.file || state.jobs.length < first)
      throw conflict('This cell has not received the organization.');
    await putState(trx, { ...state, jobs: [...state.jobs.slice(0, first), ...jobs] });
  });
  return { ok: true };
}

/**
 * Begins to serve an organization that has arrived in this cell, and queues its waiting jobs. A repeated request changes nothing. @throws
 * 409 when this cell has not received the organization
 */
export async function serveArrival({ orgId, moveId, from }: ArrivingMove & { from: string }): Promise<object> {
  const organization = await Organization.find({ id: orgId });
  const isStaying = await changeState(orgId, async (trx) => {
    const state = await moveStateOf(orgId);
    if (!state && organization) return true;
    // This is a repeated request: this cell has already begun to serve the organization, which is now moving to a third cell or has moved
    // there.
    const isLeaving = state?.state === 'draining' || state?.state === 'frozen';
    if (state && state.moveId !== moveId && (isLeaving || state.otherCell !== from)) return false;
    if (state?.state !== 'arriving' || state.moveId !== moveId || !state.file)
      throw conflict('This cell has not received the organization.');
    await dropState(trx, orgId, moveId);
    await putJobs(trx, state.jobs);
    await restartLeases(trx, orgId);
    return true;
  });
  await unguardTables(isAnyMoving);
  const { slug, formerSlugs } = organization ?? { slug: '', formerSlugs: [] };
  for (const own of isStaying ? [slug, ...formerSlugs] : []) await reserveSlug(own, orgId);
  return { ok: true };
}

/** Discards everything received in a canceled move; repeatable. @throws 409 when the organization is served here */
export async function discardArrival({ orgId, moveId, from }: ArrivingMove & { from: string }): Promise<object> {
  const isDiscarded = await changeState(orgId, async (trx) => {
    const state = await moveStateOf(orgId);
    if (!state && (await exists(orgId))) throw conflict('This cell already serves the organization.');
    if (state?.moveId !== moveId) return false;
    // An import that is still running finds this state and commits nothing.
    await putState(trx, { ...state, state: 'moved', otherCell: from, file: null, jobs: [] });
    return true;
  });
  if (isDiscarded) await removeRows(orgId);
  else await unguardTables(isAnyMoving);
  return { ok: true };
}

/** Removes the rows of an organization that another cell serves; a repeated call continues where the last one stopped. */
export async function removeRows(orgId: OrgId): Promise<void> {
  if ((await moveStateOf(orgId))?.state !== 'moved') return;
  await eraseOrganization(orgId);
  await asMover(() => forgetKeysOf(orgId));
  await changeState(orgId, async (trx) => {
    const state = await moveStateOf(orgId);
    if (state?.state === 'moved') await putState(trx, { ...state, jobs: [], erasedAt: now() });
  });
  await unguardTables(isAnyMoving);
}
