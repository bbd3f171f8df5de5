// Deletes the details of runs after the retention of their organization; the results, costs and attestations are kept
// (docs/decisions/0089-runs-keep-their-result.md). A batch is one transaction, so that an interrupted batch changes nothing.
import { days, now } from '#foundation/clock.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { checkpointsOfRunsSql } from '../../execution/checkpoints/retention.ts';
import { deleteReviewTexts } from '../../execution/reviews/retention.ts';
import { isReviewedSql } from '../../execution/reviews/reviewed.ts';
import { hasOpenEffectsSql } from '../../projects/effects/staging.ts';
import { deleteArtifactsOf } from '../../work/artifacts/retention.ts';
import { attestedRuns, isUnsignedSql } from '../../work/attestations/record.ts';
import { artifactsOfVersionsSql } from '../../work/change-versions/operations.ts';
import { forksOfSql, shortenForks } from '../../work/forks/retention.ts';
import { withdrawFromArchiving } from '../../work/log-archives/retention.ts';
import { deleteRecordingsOfRuns } from '../../work/recordings/operations.ts';
import { archiveCalls } from '../../work/run-calls/archive.ts';
import { isInboxReviewSql } from '../../work/runs/inbox-sql.ts';
import { keepFigures } from '../../work/runs/kept.ts';
import { forgetWords } from '../../work/runs/search.ts';
import {
  isContinuedSql,
  isOpenSql,
  isUnsettledSql,
  lockRunsWithDetails,
  type RunPosition,
  runsOfMissionSql,
  runsWithDetails,
  runsWithout,
} from '../../work/runs/settled.ts';
import { deleteThreadsOf } from '../../work/runs/threads.ts';
import { deleteLogsOfRun, deleteSandboxesOf, sandboxesOfRunsSql } from '../../work/sandboxes/retention.ts';
import { detailTables } from './run-tables.ts';

/** SQL condition: open work still needs the details of the run `d`. `$2` is the end of the retention, `$3` the present time. */
const isNeededSql = [
  isUnsettledSql(runsOfMissionSql('d'), '$2'),
  isOpenSql(forksOfSql('d')),
  isContinuedSql('d'),
  hasOpenEffectsSql('d'),
  isUnsignedSql('d'),
  'coalesce(d.lease_until > $3, false)',
  `(${isInboxReviewSql('d', '$3')} and not ${isReviewedSql('d')})`,
].join(' or ');

const artifacts = {
  sandboxIds: sandboxesOfRunsSql('$2'),
  artifactIds: `${checkpointsOfRunsSql('$2')} union all ${artifactsOfVersionsSql('$2')}`,
};
const deletions = detailTables.map((table) => `delete from ${table} where run_id = any($1)`);

export interface RunRetention {
  orgId: string;
  days: number;
}

const batch = 20;

/** Deletes the details of the next runs after a position, oldest first. Returns the position of the last run; null when no more runs are left. */
export async function condenseRuns(
  { orgId, days: retentionDays }: RunRetention,
  after: RunPosition | undefined,
): Promise<RunPosition | null> {
  const until = now() - days(retentionDays);
  const found = await runsWithDetails(orgId, { until, after, limit: batch });
  const ids = found.map(({ id }) => id);
  if (ids.length > 0) {
    await transaction(async (trx) => {
      const locked = await lockRunsWithDetails(trx, ids);
      // The conditions are evaluated only after the runs are locked. Work that needs the details of a run locks the run too. If such work
      // locked the run first, the conditions find this work, and the details are kept. Otherwise, the work waits until the details are
      // deleted.
      const free = await runsWithout(trx, isNeededSql, locked, [until, now()]);
      const runIds = await withdrawFromArchiving(trx, orgId, free);
      if (runIds.length > 0) await deleteDetails(trx, { orgId, runIds, retentionDays });
    });
  }
  return found.length === batch ? found.at(-1)! : null;
}

interface Condensed {
  orgId: string;
  runIds: readonly string[];
  retentionDays: number;
}

async function deleteDetails(trx: Transaction, { orgId, runIds, retentionDays }: Condensed): Promise<void> {
  await keepFigures(trx, runIds, retentionDays);
  await deleteArtifactsOf(trx, orgId, runIds, artifacts);
  for (const runId of runIds) await deleteLogsOfRun(trx, orgId, runId);
  await deleteSandboxesOf(trx, orgId, runIds);
  await deleteRecordingsOfRuns(trx, orgId, runIds);
  await deleteReviewTexts(trx, runIds);
  await deleteThreadsOf(trx, runIds);
  await shortenForks(trx, orgId, runIds);
  await forgetWords(trx, runIds);
  await archiveCalls(trx, orgId, runIds, await attestedRuns(trx, runIds));
  await Promise.all(deletions.map((deletion) => sql(deletion, [runIds], trx)));
}
