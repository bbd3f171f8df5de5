// Reports a run to its tracker, in the background: one comment, which links to the run while it is open and then contains the outcome. The
// issue is closed when the run is completed and its pull request, if any, is merged. The runs of a mission share the comment.

import { consolePage } from '../../organization/organizations/pages.ts';
import { Project } from '../../projects/projects/model.ts';
import { isFinal } from '../../projects/vendors/connection.ts';
import { trackerOf } from '../../projects/vendors/tracker-of.ts';
import { chainOf } from './chain.ts';
import { appendError } from './decisions.ts';
import { Run } from './model.ts';
import { openQuestions, parkedNeed } from './needs.ts';
import { isOpen } from './states.ts';

/**
 * Records a permanent error of the tracker on the run. Does nothing when the run or its project was deleted.
 * @param isShown Whether the tracker shows the run in another way, and gets no comment.
 * @throws an error after which another attempt may succeed
 */
export async function finishIssue(
  { runId }: { runId: string },
  isShown: (run: Run) => Promise<boolean> = async () => false,
): Promise<void> {
  const reported = await runsToReport(runId);
  if (!reported) return;
  const { first, newest: run } = reported;
  if (!run.issueId || run.status === 'skipped') return;
  // Only a run that an event has started has a comment before its end.
  if (run.status === 'canceled' && run.originDeliveryId === null) return;
  const project = await Project.find({ id: run.projectId });
  if (!project) return;
  const { issueId, status } = run;
  // With a pull request, the work is done once it is merged.
  const closes = status === 'completed' && (run.prState ?? 'merged') === 'merged';
  try {
    await trackerOf(project).finishIssue(project, issueId, {
      runId: first.id,
      closes,
      comment: (await isShown(run)) ? null : await commentOf(run, first.missionTitle),
    });
  } catch (error) {
    if (!isFinal(error)) throw error;
    const what = isOpen({ status }) ? 'started' : 'ended';
    await appendError(run.id, `The tracker could not be told that the run has ${what}: ${error.body.description}`);
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

/** The state of a run for people at the tracker and the source host. */
export const commentOf = async (run: Run, title: string | null): Promise<string> =>
  [...(await stateLines(run, title)), await consolePage(run.orgId, `/runs/${run.id}`)].join('\n\n');

/** The state of a run as text: its title with the status, then the question, or the outcome with its cost. */
export async function stateLines(run: Run, title: string | null): Promise<string[]> {
  const { status, missionCostUsd, missionCostIncomplete } = run;
  const name = title ?? 'Mission';
  if (isOpen(run)) return needOf(run, name);
  const why = status === 'failed' || status === 'canceled' ? (run.reason ?? run.lastError) : null;
  return [
    `${name}: ${status}${run.prState === 'merged' ? ', merged' : ''}`,
    ...(why ? [why] : []),
    ...(run.prUrl ? [run.prUrl] : []),
    `Cost: ${missionCostUsd.toFixed(2)} USD${missionCostIncomplete ? ' or more' : ''}`,
  ];
}

/** Maximum characters of a question in a comment. */
const maxQuestionCharacters = 1_000;

async function needOf(run: Run, name: string): Promise<string[]> {
  const { id, awaitsApproval, parkedReason } = run;
  if (awaitsApproval) return [`${name}: waits for approval of its plan`];
  if (parkedReason !== null)
    return [`${name}: ${parkedNeed(run) === 'limit' ? 'has reached a limit' : 'waits for money'}`, parkedReason];
  const [question] = await openQuestions([id]);
  if (!question) return [`${name}: started`];
  const quoted = question.text.slice(0, maxQuestionCharacters).toWellFormed().replaceAll(/^/gm, '> ');
  return [`${name}: waits for ${question.tool === null ? 'an answer' : 'a decision'}`, quoted];
}
