// The status of a mission at the newest commit of its branch: pending while it works, then its outcome.
import { consolePage } from '../../organization/organizations/pages.ts';
import { Project } from '../../projects/projects/model.ts';
import { isFinal } from '../../projects/vendors/connection.ts';
import type { CommitStatus } from '../../projects/vendors/source-host.ts';
import { hostOf } from '../../projects/vendors/source-host-of.ts';
import { Run } from './model.ts';
import { isOpen } from './states.ts';

/**
 * A refusal changes nothing: the token may lack the permission, and the pull request shows the outcome too.
 * @throws an error after which another attempt may succeed
 */
export async function reportStatus({ runId }: { runId: string }): Promise<void> {
  const run = await Run.query().findById(runId);
  const project = run?.headSha && (await Project.find({ id: run.projectId }));
  if (!project) return;
  const status = statusOf(run);
  try {
    const { host } = await hostOf(project);
    const url = await consolePage(run.orgId, `/runs/${run.id}`);
    await host.pullRequests?.setStatus(project, run.headSha!, { ...status, url });
    // The state may have changed while the host was asked: the last status has the last state.
    const after = await Run.query().findById(runId);
    if (after && JSON.stringify(statusOf(after)) !== JSON.stringify(status)) await reportStatus({ runId });
  } catch (error) {
    if (!isFinal(error)) throw error;
  }
}

function statusOf(run: Run): Omit<CommitStatus, 'url'> {
  if (isOpen(run)) return { state: 'pending', description: 'The mission works on the change.' };
  const { status, missionCostUsd, changedFiles, insertions, deletions, approvedSha, headSha } = run;
  const parts = [
    status,
    `${missionCostUsd.toFixed(2)} USD`,
    ...(changedFiles === null ? [] : [`${changedFiles} files, +${insertions ?? 0} −${deletions ?? 0}`]),
    ...(approvedSha !== null && approvedSha === headSha ? ['approved'] : []),
  ];
  return { state: status === 'completed' ? 'success' : 'failure', description: parts.join(' · ') };
}
