// Moves the logs and fragments of ended runs from the database to archives in the storage. The content is written first; one transaction
// then adds the archive and deletes the rows. After an interruption the rows are still there, and the sweep of artifacts removes the content.
import { hours, minutes, now } from '#foundation/clock.ts';
import { sql, transaction } from '#foundation/postgres/database.ts';
import { isOtherReleaseConnected } from '#foundation/postgres/server-figures.ts';
import { isWritableSql } from '../../organization/cells/state.ts';
import { adoptContent, storeContent } from '../artifacts/content.ts';
import { Run } from '../runs/model.ts';
import { isIndexed } from '../runs/search.ts';
import { encodeArchive } from '../sandboxes/archive-content.ts';
import { LogArchive } from '../sandboxes/archive-model.ts';
import { deleteRows, readRows } from '../sandboxes/archive-rows.ts';
import { nextArchiveNumber } from '../sandboxes/archives.ts';
import { Sandbox } from '../sandboxes/model.ts';

let afterMs: number = hours(24);
/** Sets the time from the end of a run to the archiving of its logs; 0 turns archiving off. */
export const bindLogArchives = (ms: number): void => {
  afterMs = ms;
};

/** Maximum number of runs that one call archives, so that the service can stop quickly. */
const runsPerCall = 100;
/** Time after which another process may archive a run that a process has claimed. */
const claimMs = minutes(10);

interface Claim {
  orgId: string;
  runId: string;
  endedAt: number;
}

// Runs of an organization that is being moved are skipped until the move is over. A claim of such a run would change no row, and `archiveLogs` would
// return, because it would find no claimed run.
const claimSql = `update unarchived_runs u set claimed_until = $1::bigint + ${claimMs} from (
    select org_id, run_id from unarchived_runs where ended_at <= $2 and coalesce(claimed_until, 0) <= $1
      and ${isWritableSql('unarchived_runs.org_id')} order by ended_at limit 1 for update skip locked) c
  where u.org_id = c.org_id and u.run_id = c.run_id returning u.org_id, u.run_id, u.ended_at`;
const doneSql = 'delete from unarchived_runs where org_id = $1 and run_id = $2';

/**
 * Archives the logs of runs that ended long enough ago; called periodically. Does nothing while a process of another release is connected,
 * because an older release would show archived logs as empty.
 */
export async function archiveLogs(): Promise<void> {
  if (afterMs === 0 || (await isOtherReleaseConnected())) return;
  for (let i = 0; i < runsPerCall; i++) {
    const [claim] = await sql<Claim>(claimSql, [now(), now() - afterMs]);
    if (!claim) return;
    await archiveRun(claim);
  }
}

/**
 * Archives the logs of a run. The function returns early if the text of the run is still being indexed, if a sandbox of the run is still running, if
 * another process is moving the rows of the run, or if the rows cannot be changed now. A later call then claims the run again.
 */
async function archiveRun({ orgId, runId, endedAt }: Claim): Promise<void> {
  const run = await Run.find({ id: runId as Run['id'], orgId: orgId as Run['orgId'] });
  if (run && (!(await isIndexed(run.id)) || (await Sandbox.find({ runId: run.id, status: 'running' })))) return;
  for (let moved: Moved = 'some'; run && moved !== 'all'; ) {
    moved = await archiveRows(run, endedAt);
    if (moved === 'none') return;
  }
  await sql(doneSql, [orgId, runId]);
}

/** Thrown to undo the transaction of a process that was overtaken by another. */
class Overtaken extends Error {}

/** `all`: no row is left; `none`: rows are left, but none was moved. */
type Moved = 'some' | 'all' | 'none';

/** Moves the first rows to an archive. */
async function archiveRows(run: Run, endedAt: number): Promise<Moved> {
  const blocks = await readRows(run.id);
  if (blocks.length === 0) return 'all';
  const { chunks, directoryBytes, directorySha256 } = await encodeArchive(blocks);
  const { key: contentKey, sizeBytes } = await storeContent(
    (async function* () {
      yield* chunks;
    })(),
  );
  try {
    await transaction(async (trx) => {
      if (!(await adoptContent(trx, contentKey))) throw new Overtaken();
      const { orgId, projectId, id: runId } = run;
      const described = { contentKey, sizeBytes, directoryBytes, directorySha256, endedAt, createdAt: now() };
      const place = { orgId, projectId, runId, number: await nextArchiveNumber(trx, run) };
      const isNew = await LogArchive.insertNew(trx, { ...place, ...described });
      if (!isNew || !(await deleteRows(trx, blocks))) throw new Overtaken();
    });
  } catch (error) {
    if (!(error instanceof Overtaken)) throw error;
    return 'none';
  }
  return 'some';
}
