// Deletes details, logs, sandboxes and artifacts of ended missions after the retention of their organization. Each batch starts with the
// oldest records, so that the next call continues after an interruption. Results, costs, attestations and the audit log stay.
import { now } from '#foundation/clock.ts';
import { artifactsOfStepsSql, runsOfCheckpointSql } from '../../execution/checkpoints/retention.ts';
import { deleteArtifactsUntil } from '../../work/artifacts/retention.ts';
import { runsOfVersionSql } from '../../work/change-versions/operations.ts';
import { deleteLogsUntil } from '../../work/log-archives/retention.ts';
import { continuedStepsSql, isUnsettledSql, type RunPosition } from '../../work/runs/settled.ts';
import { deleteSandboxesUntil, runOfSandboxSql } from '../../work/sandboxes/retention.ts';
import { forEachOrganization } from '../audit/each-organization.ts';
import { condenseRuns } from './condense.ts';
import { type RetentionLimits, retentionLimitsSql } from './settings.ts';

const runsOfArtifactSql = [runOfSandboxSql('a.sandbox_id'), runsOfVersionSql('a.id'), runsOfCheckpointSql('a.id')];
/** SQL condition: the mission of the artifact `a` is not settled, or an open mission continues from the artifact. */
const isNeededSql = `(${isUnsettledSql(runsOfArtifactSql.join(' union all '), '$2')}
  or a.id in (${artifactsOfStepsSql(continuedStepsSql('$1'))}))`;

/** For each organization, the run that was examined most recently. */
type Positions = Map<string, RunPosition>;

/** Deletes a batch of each kind. Returns whether there may be more. */
async function deleteBatch(limits: RetentionLimits, positions: Positions): Promise<boolean> {
  const { orgId, runDays, logsUntil, artifactsUntil, sandboxesUntil } = limits;
  const last = runDays === null ? null : await condenseRuns({ orgId, days: runDays }, positions.get(orgId));
  if (last) positions.set(orgId, last);
  const more = [
    last !== null,
    logsUntil !== null && (await deleteLogsUntil(orgId, logsUntil)),
    // Artifacts are deleted before sandboxes, because they are related to their missions through sandboxes.
    artifactsUntil !== null && (await deleteArtifactsUntil(orgId, artifactsUntil, isNeededSql)),
    sandboxesUntil !== null &&
      (await deleteSandboxesUntil(orgId, sandboxesUntil, isUnsettledSql('select s.run_id', '$2'))),
  ];
  return more.includes(true);
}

/**
 * Deletes everything older than the retention of its organization; called periodically. Organizations take turns, one batch each, so that
 * none waits for another's backlog.
 */
export async function deleteAfterRetention(): Promise<void> {
  const [positions, failures]: [Positions, unknown[]] = [new Map(), []];
  for (let left: string[] | null = null; left === null || left.length > 0; ) {
    const busy: string[] = [];
    await forEachOrganization<RetentionLimits>(retentionLimitsSql, [now(), left], async (limits) => {
      if (await deleteBatch(limits, positions)) busy.push(limits.orgId);
    }).catch((error: unknown) => failures.push(error));
    left = busy;
  }
  if (failures.length > 0) throw failures[0];
}
