// The side of a move that receives the organization: nothing of it is served, nor changed, until the sending cell says so.
import { now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { putJobs } from '#foundation/jobs/waiting-jobs.ts';
import { database } from '#foundation/postgres/database.ts';
import { forgetKeysOf } from '#foundation/postgres/idempotency.ts';
import { migrationStatus } from '#foundation/postgres/migrations.ts';
import { conflict } from '#foundation/problem.ts';
import { storage } from '#foundation/storage/storage.ts';
import { guardTables, unguardTables } from '../../organization/cells/guard.ts';
import type { WaitingJob } from '../../organization/cells/model.ts';
import { asMover, changeState, dropState, isAnyMoving, moveStateOf, putState } from '../../organization/cells/state.ts';
import { Organization } from '../../organization/organizations/model.ts';
import { reserveSlug } from '../../organization/organizations/reserved-slugs.ts';
import { restartLeases } from '../../work/runs/leases.ts';
import { eraseOrganization } from '../closure/erase.ts';
import { OrganizationFileError } from '../organization-files/format.ts';
import { joinOrganization } from '../organization-files/join.ts';
import { fileSecret } from './file-secret.ts';

type OrgId = Id<'organization'>;

/** Paths of the move in the protocol between cells. */
export const movePaths = {
  check: '/cells/moves/check',
  arrivals: '/cells/moves/arrivals/',
  serve: '/cells/moves/serve',
  discard: '/cells/moves/discard',
} as const;

export interface ArrivingMove {
  orgId: OrgId;
  moveId: string;
}

const exists = async (id: OrgId): Promise<boolean> => (await Organization.find({ id })) !== undefined;
export const newestMigration = async (): Promise<string | undefined> =>
  (await migrationStatus(database())).applied.at(-1);

/** Checks that an organization can join. @throws 409 */
export async function checkArrival({
  orgId,
  slug,
  schema,
}: {
  orgId: OrgId;
  slug: string;
  schema: string;
}): Promise<object> {
  if (await exists(orgId)) throw conflict('The organization is here already.');
  if (await Organization.find({ slug }))
    throw conflict(`Another organization has the slug ${slug}: rename one of them first.`);
  if (schema !== (await newestMigration()))
    throw conflict('The cells run different releases: bring both to the same one.');
  return { ok: true };
}

/** Receives and verifies the file of an organization; repeatable. @throws 409 for a file that is refused */
export async function receiveArrival(
  { orgId, moveId, slug, from }: ArrivingMove & { slug: string; from: string },
  source: AsyncIterable<Uint8Array>,
): Promise<{ tables: Record<string, number> }> {
  const arriving = { orgId, slug, state: 'arriving' as const, otherCell: from, moveId, jobs: [] };
  const earlier = await changeState(orgId, async (trx) => {
    const state = await moveStateOf(orgId);
    if (state?.moveId === moveId && state.file) return state;
    // The request of a command that was killed before its move was canceled.
    if (state?.moveId === moveId && state.state === 'moved') throw conflict('The move was canceled.');
    const isLeaving = state?.state === 'draining' || state?.state === 'frozen';
    if (isLeaving || ((await exists(orgId)) && state?.moveId !== moveId))
      throw conflict('The organization is here already.');
    await putState(trx, { ...arriving, file: null });
    return state;
  });
  if (earlier?.moveId === moveId && earlier.file) return { tables: earlier.file.tables };
  // The file of a move to another cell, from which the organization now returns.
  if (earlier?.file) await storage().remove(earlier.file.contentKey);
  await guardTables();
  const { tables } = await asMover(() => joinOrganization(source, fileSecret(moveId))).catch((error: unknown) => {
    throw error instanceof OrganizationFileError ? conflict(error.message) : error;
  });
  const isExpected = await changeState(orgId, async (trx) => {
    const state = await moveStateOf(orgId);
    if (state?.state !== 'arriving' || state.moveId !== moveId) return false;
    await putState(trx, { ...arriving, file: { contentKey: moveId, bytes: 0, tables } });
    return true;
  });
  if (isExpected) return { tables };
  await removeRows(orgId);
  throw conflict('The move was canceled.');
}

/** Serves an organization that has arrived, with its waiting jobs; repeatable. @throws 409 when it has not arrived */
export async function serveArrival({ orgId, moveId, jobs }: ArrivingMove & { jobs: WaitingJob[] }): Promise<object> {
  const organization = await Organization.find({ id: orgId });
  if (!organization) throw conflict('The organization has not arrived.');
  await changeState(orgId, async (trx) => {
    const state = await moveStateOf(orgId);
    if (!state) return;
    if (state.state !== 'arriving' || state.moveId !== moveId)
      throw conflict('This move of the organization has ended.');
    await dropState(trx, orgId, moveId);
    await putJobs(trx, jobs);
    await restartLeases(trx, orgId);
  });
  await unguardTables(isAnyMoving);
  for (const slug of [organization.slug, ...organization.formerSlugs]) await reserveSlug(slug, orgId);
  return { ok: true };
}

/** Discards what has arrived of a canceled move; repeatable. @throws 409 when the organization is served here */
export async function discardArrival({ orgId, moveId, from }: ArrivingMove & { from: string }): Promise<object> {
  const isDiscarded = await changeState(orgId, async (trx) => {
    const state = await moveStateOf(orgId);
    if (!state && (await exists(orgId))) throw conflict('The organization is served here.');
    if (state?.moveId !== moveId) return false;
    // A join that has not ended finds this state, and removes its rows.
    await putState(trx, { ...state, state: 'moved', otherCell: from, file: null });
    return true;
  });
  if (isDiscarded) await removeRows(orgId);
  else await unguardTables(isAnyMoving);
  return { ok: true };
}

/** Removes the rows of an organization that the other cell serves; a repetition continues. */
export async function removeRows(orgId: OrgId): Promise<void> {
  if ((await moveStateOf(orgId))?.state !== 'moved') return;
  await eraseOrganization(orgId);
  await asMover(() => forgetKeysOf(orgId));
  await changeState(orgId, async (trx) => {
    const state = await moveStateOf(orgId);
    if (state?.state === 'moved') await putState(trx, { ...state, erasedAt: now() });
  });
  await unguardTables(isAnyMoving);
}
