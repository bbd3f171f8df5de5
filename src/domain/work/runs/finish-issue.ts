// Reports a run to its tracker, in the background, with one comment. The comment links to the run while the run is open, and then contains
// the outcome. The issue is closed when the run is completed and its pull request, if any, is merged. The runs of a mission share the
// comment.

import { isHeldBack } from '../../projects/effects/staging.ts';
import { Project } from '../../projects/projects/model.ts';
import { isFinal } from '../../projects/vendors/connection.ts';
import { trackerOf } from '../../projects/vendors/tracker-of.ts';
import { chainOf } from './chain.ts';
import { appendError } from './decisions.ts';
import { commentOf } from './finish-text.ts';
import { Run } from './model.ts';
import { stageOutcome } from './stage-comment.ts';
import { isOpen, isWithheld } from './states.ts';

/**
 * Reports the run. A permanent error of the tracker is recorded on the run. Nothing happens when the run or its project was deleted.
 * @param isShown Whether the tracker already shows the run in another way, so that no comment is written
 * @param showsState Whether the comment may say more than that the mission has started.
 * @throws an error after which another attempt may succeed
 */
export async function finishIssue(
  { runId }: { runId: string },
  isShown: (run: Run) => Promise<boolean> = async () => false,
  showsState: (run: Run) => Promise<boolean> = async () => true,
): Promise<void> {
  const reported = await runsToReport(runId);
  if (!reported) return;
  const { first, newest: run } = reported;
  if (!run.issueId || run.status === 'skipped' || isWithheld(run)) return;
  // A canceled run has a comment to update only if an event has started the run.
  if (run.status === 'canceled' && run.originDeliveryId === null) return;
  const project = await Project.find({ id: run.projectId });
  if (!project) return;
  const { issueId, status } = run;
  // If there is a pull request, the issue is closed when the pull request is merged.
  const closes = status === 'completed' && (run.prState ?? 'merged') === 'merged' && !(await isHeldBack(run));
  const tracker = trackerOf(project);
  const title = first.missionTitle;
  const isFull = run.originDeliveryId === null || (await showsState(run));
  const comment = (await isShown(run)) ? null : await commentOf(run, title, isFull);
  const whole = { runId: first.id, closes, comment };
  // Changes of issues in the built-in tracker are not outside effects, so they are not staged.
  const outcome = tracker.local ? whole : await stageOutcome(run, title, issueId, whole);
  if (outcome.comment === null && !outcome.closes) return;
  try {
    await tracker.finishIssue(project, issueId, outcome);
  } catch (error) {
    if (!isFinal(error)) throw error;
    const what = isOpen({ status }) ? 'started' : 'ended';
    await appendError(run.id, `The tracker was not informed that the run has ${what}: ${error.body.description}`);
  }
}

/** The runs of a mission share one comment, which shows the newest run. */
export async function runsToReport(runId: string): Promise<{ all: Run[]; first: Run; newest: Run } | null> {
  const run = await Run.query().findById(runId);
  if (!run) return null;
  const all = await chainOf(run);
  const reported = all.filter(({ status }) => status !== 'canceled');
  return { all, first: reported[0] ?? run, newest: reported.at(-1) ?? run };
}
