// Deletes logs, sandboxes and artifacts of ended missions after the retention of their organization: in batches, oldest first, so that an
// interrupted call is continued by the next one. Runs, steps, costs, reviews, attestations and the audit log stay.
import { now } from '#foundation/clock.ts';
import { artifactsOfStepsSql, runsOfCheckpointSql } from '../../execution/checkpoints/retention.ts';
import { deleteArtifactsUntil } from '../../work/artifacts/retention.ts';
import { runsOfVersionSql } from '../../work/change-versions/operations.ts';
import { deleteLogsUntil } from '../../work/log-archives/retention.ts';
import { continuedStepsSql, isUnsettledSql } from '../../work/runs/settled.ts';
import { deleteSandboxesUntil, runOfSandboxSql } from '../../work/sandboxes/retention.ts';
import { forEachOrganization } from '../audit/each-organization.ts';
import { type RetentionLimits, retentionLimitsSql } from './settings.ts';

const runsOfArtifactSql = [runOfSandboxSql('a.sandbox_id'), runsOfVersionSql('a.id'), runsOfCheckpointSql('a.id')];
/** SQL condition on an artifact `a`: its mission is not settled, or an open mission continues from it. */
const isNeededSql = `(${isUnsettledSql(runsOfArtifactSql.join(' union all '), '$2')}
  or a.id in (${artifactsOfStepsSql(continuedStepsSql('$1'))}))`;

/** Deletes what is older than the retention of its organization; called periodically. */
export const deleteAfterRetention = (): Promise<void> =>
  forEachOrganization<RetentionLimits>(retentionLimitsSql, [now()], async (limits) => {
    const { orgId, logsUntil, artifactsUntil, sandboxesUntil } = limits;
    if (logsUntil !== null) await deleteLogsUntil(orgId, logsUntil);
    // Artifacts are related to their missions by sandboxes, and are therefore deleted before them.
    if (artifactsUntil !== null) await deleteArtifactsUntil(orgId, artifactsUntil, isNeededSql);
    if (sandboxesUntil !== null)
      await deleteSandboxesUntil(orgId, sandboxesUntil, isUnsettledSql('select s.run_id', '$2'));
  });
