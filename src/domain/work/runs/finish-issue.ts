// Reports a run to its tracker, in the background: one comment, which leads to a run that an event has started, and then has the outcome.
// The issue is closed when the run is completed and its pull request, where it has one, is merged. The runs of a pull request share the
// comment.

import type { Row } from '#foundation/postgres/base-model.ts';
import { consolePage } from '../../organization/organizations/pages.ts';
import { Project } from '../../projects/projects/model.ts';
import { trackerOf } from '../../projects/trackers/choose.ts';
import { isFinal } from '../../projects/vendors/connection.ts';
import { appendError } from './decisions.ts';
import { Run } from './model.ts';
import { isOpen } from './states.ts';

/**
 * Records a permanent error of the tracker on the run. Does nothing when the run or its project was deleted.
 * @throws an error after which another attempt may succeed
 */
export async function finishIssue({ runId }: { runId: string }): Promise<void> {
  const finished = await Run.find({ id: runId });
  if (!finished) return;
  const { first, newest: run } = await runsOfPullRequest(finished);
  if (!run.issueId || run.status === 'skipped' || run.status === 'canceled') return;
  const project = await Project.find({ id: run.projectId });
  if (!project) return;
  const { issueId, status } = run;
  // With a pull request, the work is done once it is merged.
  const closes = status === 'completed' && (run.prState ?? 'merged') === 'merged';
  try {
    await trackerOf(project).finishIssue(project, issueId, {
      runId: first.id,
      closes,
      comment: commentOf({ ...run, missionTitle: first.missionTitle }, await consolePage(run.orgId, `/runs/${run.id}`)),
    });
  } catch (error) {
    if (!isFinal(error)) throw error;
    const what = isOpen({ status }) ? 'started' : 'ended';
    await appendError(run.id, `The tracker could not be told that the run has ${what}: ${error.body.description}`);
  }
}

/** The runs of a pull request share one comment, which has the outcome of the newest. */
async function runsOfPullRequest(run: Row<Run>): Promise<{ first: Row<Run>; newest: Row<Run> }> {
  const { projectId, prNumber, issueId } = run;
  const all = prNumber === null ? [] : await Run.findAll({ projectId, prNumber, issueId });
  const sorted = all
    .filter(({ status }) => status !== 'canceled')
    .sort((one, other) => one.createdAt - other.createdAt);
  return { first: sorted[0] ?? run, newest: sorted.at(-1) ?? run };
}

function commentOf(
  { missionTitle, status, missionCostUsd, missionCostIncomplete, ...run }: Row<Run>,
  page: string,
): string {
  if (isOpen({ status })) return `${missionTitle ?? 'Mission'}: started\n\n${page}`;
  const why = status === 'failed' ? (run.reason ?? run.lastError) : null;
  return [
    `${missionTitle ?? 'Mission'}: ${status}`,
    ...(why ? [why] : []),
    ...(run.prUrl ? [run.prUrl] : []),
    `Cost: ${missionCostUsd.toFixed(2)} USD${missionCostIncomplete ? ' or more' : ''}`,
    page,
  ].join('\n\n');
}
