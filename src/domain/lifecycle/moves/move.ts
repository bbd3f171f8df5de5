// Moves an organization to another cell. People can read the organization during the move. Each step is recorded before the next one
// begins, so that repeating the command continues an interrupted move. This cell serves the organization until its state is `moved`; from
// then on the other cell serves it (docs/cells.md).
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { hours } from '#foundation/clock.ts';
import { addressOfCell, arrivalMs, jsonOfCell, otherCells, sendToCell } from '#foundation/http/cells.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { putJobs } from '#foundation/jobs/waiting-jobs.ts';
import { storage } from '#foundation/storage/storage.ts';
import { guardTables, unguardTables } from '../../organization/cells/guard.ts';
import { CellOrganization, type MoveFile } from '../../organization/cells/model.ts';
import { asMover, changeState, dropState, isAnyMoving, moveStateOf, putState } from '../../organization/cells/state.ts';
import { Organization } from '../../organization/organizations/model.ts';
import { reserveSlug, slugHeldBy } from '../../organization/organizations/reserved-slugs.ts';
import { numberChanges } from '../audit/numbers.ts';
import { growTree } from '../audit/tree/growth.ts';
import { packOrganization } from '../organization-files/pack.ts';
import { fileSecret, movePaths, newestMigration, removeRows } from './arrive.ts';
import { askAboutMove, reasonGiven } from './ask.ts';
import { MoveError, withMoveLock } from './lock.ts';
import { holdJobs, sendJobs } from './waiting.ts';

type OrgId = Id<'organization'>;
/** Receives a line about each step. */
export type Tell = (line: string) => void;

const maxBytes = 1024 ** 4;

export interface MovedOrganization {
  organization: { id: string; slug: string };
  cell: string;
  address: string;
  /** For each table, the number of rows that the other cell has received and verified. */
  tables: Record<string, number>;
  bytes: number;
}

type Moving = Pick<Organization, 'id' | 'slug' | 'closedAt'>;

/**
 * Moves an organization. @throws MoveError when a cell refuses: the organization then stays here, read-only until the command is repeated
 * or canceled
 */
export const moveOrganization = (organization: Moving, to: string, tell: Tell): Promise<MovedOrganization> =>
  withMoveLock(organization.id, () => move(organization, to, tell));

async function move(organization: Moving, to: string, tell: Tell): Promise<MovedOrganization> {
  if (!otherCells().includes(to))
    throw new MoveError(`--to: must be one of ${otherCells().join(', ') || 'CELLS, which is not set'}`);
  const { id, slug } = organization;
  let state = (await moveStateOf(id)) ?? (await begin(organization, to));
  if (state.otherCell !== to)
    throw new MoveError(`the organization is already moving to ${state.otherCell}: cancel that move first (--cancel)`);
  if (state.state === 'arriving')
    throw new MoveError(`the organization is still being moved here from ${state.otherCell}`);
  if (state.state === 'draining') {
    // Guards the tables again, because an earlier command may have ended before all tables had their triggers.
    await guardTables();
    tell('writes are refused; waiting for jobs that are running');
    await freeze(id, state.moveId);
    state = (await moveStateOf(id))!;
  }
  if (state.state === 'frozen') {
    // While the last running jobs ended, further jobs may have been queued. They are taken out of the queues too. None of them has changed
    // anything: they have not begun, or have failed because writes are refused.
    await holdJobs(id, state.moveId);
    state = (await moveStateOf(id))!;
    tell('all writes have ended; packing the organization');
    const file = state.file ?? (await pack(id, state.moveId));
    tell(`sending ${file.bytes} bytes to ${to}`);
    await send(state, file);
    await sendJobs(state);
    tell('the other cell has verified all rows; it serves the organization from now on');
    await changeState(id, async (trx) => {
      const present = await moveStateOf(id);
      if (present?.state !== 'frozen' || present.moveId !== state.moveId) throw new MoveError('the move was canceled');
      await putState(trx, { ...present, file, state: 'moved' });
    });
  }
  return finish({ id, slug }, tell);
}

/** The steps after the other cell has begun to serve the organization; each can be repeated. */
async function finish({ id, slug }: { id: OrgId; slug: string }, tell: Tell): Promise<MovedOrganization> {
  const { otherCell, moveId, file } = (await moveStateOf(id))!;
  await askAboutMove(otherCell, movePaths.serve, { orgId: id, moveId }, 'does not serve the organization yet');
  tell('removing the rows of this cell; the packed file stays until org:forget');
  await removeRows(id);
  return {
    organization: { id, slug },
    cell: otherCell,
    address: addressOfCell(otherCell),
    tables: file?.tables ?? {},
    bytes: file?.bytes ?? 0,
  };
}

async function begin({ id, slug, closedAt }: Moving, to: string): Promise<CellOrganization> {
  if (closedAt !== null) throw new MoveError('the organization is closed: this cell erases it when its retention ends');
  await askAboutMove(
    to,
    movePaths.check,
    { orgId: id, slug, schema: await newestMigration() },
    'refuses the organization',
  );
  // Organizations that are older than the cells may have no reservation yet.
  if (!(await reserveSlug(slug, id))) throw new MoveError(slugHeldBy('another organization on the platform', slug));
  await changeState(id, async (trx) => {
    if (await moveStateOf(id)) throw new MoveError('another process has begun to move the organization');
    await putState(trx, {
      orgId: id,
      slug,
      state: 'draining',
      otherCell: to,
      moveId: newId('content'),
      file: null,
      jobs: [],
    });
  });
  return (await moveStateOf(id))!;
}

/** Takes the organization's waiting jobs, lets the running ones end, and then freezes the organization. */
async function freeze(orgId: OrgId, moveId: string): Promise<void> {
  await holdJobs(orgId, moveId);
  await asMover(async () => {
    await numberChanges(orgId);
    await growTree(orgId);
  });
  await changeState(orgId, async (trx) => {
    const state = await moveStateOf(orgId);
    if (state?.moveId !== moveId) throw new MoveError('the move was canceled');
    await putState(trx, { ...state, state: 'frozen' });
  });
}

/** Writes the file into the storage. The organization is frozen, so repeating this writes the same rows. */
async function pack(orgId: OrgId, moveId: string): Promise<MoveFile> {
  await storage().remove(moveId);
  const content = new PassThrough();
  // A failure stops both the storage and the packing: the storage gets the error through the stream, the packing at its next chunk.
  content.on('error', () => {});
  const written = storage().write(moveId, content, maxBytes);
  written.catch((error: Error) => content.destroy(error));
  const write = async (chunk: Buffer): Promise<void> => {
    if (content.errored) throw content.errored;
    if (!content.write(chunk)) await once(content, 'drain');
  };
  try {
    const { manifest } = await asMover(() => packOrganization(orgId, fileSecret(moveId), write));
    content.end();
    const bytes = await written;
    const tables = Object.fromEntries(Object.entries(manifest.tables).map(([name, { rows }]) => [name, rows]));
    const file: MoveFile = { contentKey: moveId, bytes, tables };
    await changeState(orgId, async (trx) => putState(trx, { ...(await moveStateOf(orgId))!, file }));
    return file;
  } catch (error) {
    content.destroy(error as Error);
    throw error;
  }
}

async function send({ orgId, moveId, slug, otherCell }: CellOrganization, file: MoveFile): Promise<void> {
  const body = await storage().read(file.contentKey);
  if (!body)
    throw new MoveError('the packed file is no longer in storage: cancel the move (--cancel), and start again');
  const response = await sendToCell(otherCell, {
    method: 'POST',
    url: `${movePaths.arrivals}${orgId}/${moveId}/${slug}`,
    headers: { 'content-type': 'application/octet-stream', 'content-length': String(file.bytes) },
    client: null,
    signal: AbortSignal.timeout(arrivalMs),
    body,
  }).catch((error: Error) => {
    throw new MoveError(`${otherCell} has not received the organization: ${error.message}`, { cause: error });
  });
  const answer = (await jsonOfCell(response)) as { tables?: Record<string, number> } | null;
  // A cell that refuses the file does not read the rest of it.
  body.destroy();
  if (response.statusCode !== 200)
    throw new MoveError(`${otherCell} has not received the organization: ${reasonGiven(answer)}`);
  if (JSON.stringify(sorted(answer?.tables)) !== JSON.stringify(sorted(file.tables)))
    throw new MoveError(`${otherCell} has not received all rows that were sent`);
}

const sorted = (counts: Record<string, number> = {}) => Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1));

export interface CanceledMove {
  canceled: true;
  /** Whether the other cell has discarded what it received. If not, it does so before the organization next arrives there. */
  isDiscarded: boolean;
}

/** Cancels a move unless the other cell already serves the organization. This cell then serves it as before. */
export const cancelMove = (orgId: OrgId): Promise<CanceledMove> => withMoveLock(orgId, () => cancel(orgId));

async function cancel(orgId: OrgId): Promise<CanceledMove> {
  const state = await moveStateOf(orgId);
  if (state?.state !== 'draining' && state?.state !== 'frozen')
    throw new MoveError('the organization is not moving to another cell');
  const { otherCell, moveId } = state;
  // The other cell serves the organization only after this cell has confirmed the move. This cell can therefore cancel the move even if the
  // other cell does not answer.
  const isDiscarded =
    state.file === null ||
    (await askAboutMove(
      otherCell,
      movePaths.discard,
      { orgId, moveId },
      'cannot discard what it has received',
      hours(1),
    ).then(
      () => true,
      (error: unknown) => {
        if (error instanceof MoveError) throw error;
        return false;
      },
    ));
  await changeState(orgId, async (trx) => {
    const { jobs } = (await moveStateOf(orgId))!;
    await dropState(trx, orgId, moveId);
    await putJobs(trx, jobs);
  });
  await storage().remove(moveId);
  await unguardTables(isAnyMoving);
  return { canceled: true, isDiscarded };
}

/** Finds the organization with this slug. If it has moved to another cell, the record of the move provides its id. @throws MoveError */
export async function movingOrganization(slug: string): Promise<Moving> {
  const organization = await Organization.find({ slug });
  if (organization) return organization;
  const moved = await CellOrganization.find({ slug, state: 'moved' });
  if (moved) return { id: moved.orgId, slug, closedAt: null };
  throw new MoveError(`--org: no organization has the slug ${slug}`);
}

/** Removes the packed file of an organization that has moved. */
export async function forgetMoved(slug: string): Promise<{ forgotten: string }> {
  const state = await CellOrganization.find({ slug, state: 'moved' });
  if (!state?.file || (await Organization.find({ id: state.orgId })))
    throw new MoveError(`no moved organization with the slug ${slug} has a packed file here`);
  await storage().remove(state.file.contentKey);
  await changeState(state.orgId, (trx) => putState(trx, { ...state, file: null }));
  return { forgotten: state.orgId };
}
