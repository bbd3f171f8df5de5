// Answers an event at its source: one comment on the issue or pull request links to the mission, and is updated until the pull request is
// merged.
import { sql } from '#foundation/postgres/database.ts';
import { toProblem } from '#foundation/problem.ts';
import { Project } from '../../projects/projects/model.ts';
import { isFinal } from '../../projects/vendors/connection.ts';
import type { CommentPlace } from '../../projects/vendors/source-host.ts';
import { hostOf } from '../../projects/vendors/source-host-of.ts';
import { runsToReport } from '../runs/finish-issue.ts';
import { commentOf } from '../runs/finish-text.ts';
import type { Run } from '../runs/model.ts';
import { stageComment } from '../runs/stage-comment.ts';
import { findEvent } from './events/read.ts';
import type { AnswerKind } from './model.ts';

/**
 * Answers the event that started the run.
 * @param showsState Whether the comment may say more than that the mission has started.
 * @throws an error after which another attempt may succeed
 */
export async function answerEvent(
  { runId }: { runId: string },
  showsState: (run: Run) => Promise<boolean> = async () => true,
): Promise<void> {
  const reported = await runsToReport(runId);
  const project = reported && (await Project.find({ id: reported.first.projectId }));
  if (!project) return;
  const { all, first, newest } = reported;
  const textOf = async (run: Run) => commentOf(run, first.missionTitle, await showsState(run));
  const text = await textOf(newest);
  for (const [deliveryId, place] of await placesOf(all)) {
    const isStaged = await stageComment(newest, first.missionTitle, { ofRunId: first.id, issueId: null, place });
    if (isStaged) continue;
    await notingProblem(deliveryId, 'comment', async () => {
      const { host } = await hostOf(project);
      await host.comment?.(project, place, { runId: first.id, text });
    });
  }
  // The state may have changed during the request to the host; the comment is written again until it shows the latest state.
  const after = await runsToReport(runId);
  if (after && (await textOf(after.newest)) !== text) await answerEvent({ runId }, showsState);
}

/** Issues and pull requests whose events have started the runs, each with its newest delivery. */
async function placesOf(runs: readonly Run[]): Promise<[deliveryId: string, place: CommentPlace][]> {
  const places = new Map<string, [string, CommentPlace]>();
  for (const { originNumber: number, originDeliveryId } of runs) {
    if (number === null || originDeliveryId === null) continue;
    const kind = (await findEvent(originDeliveryId))?.event.issue ? 'issue' : 'pullRequest';
    places.set(`${kind} ${number}`, [originDeliveryId, { kind, number }]);
  }
  return [...places.values()];
}

const noteSql = `update inbound_deliveries set answer_problems = case when $3::text is null then answer_problems - $2::text
    else coalesce(answer_problems, '{}') || jsonb_build_object($2::text, $3::text) end
  where id = $1 and answer_problems ->> $2::text is distinct from $3`;

/** Stores, with the delivery, the reason why an answer of this kind could not be written. Without an error, the stored reason is removed. */
export async function noteAnswer(deliveryId: string, kind: AnswerKind, error: unknown): Promise<void> {
  const { body, status } = error === null ? { body: null, status: 200 } : toProblem(error);
  if (status !== 500) await sql(noteSql, [deliveryId, kind, body && `No ${kind} was added: ${body.description}`]);
}

/**
 * Performs `work`, which sends a request to the source host. If the request fails, the reason is stored with the delivery. The reason is
 * removed when a later request succeeds. @throws an error after which another attempt may succeed
 */
export async function notingProblem(deliveryId: string, kind: AnswerKind, work: () => Promise<void>): Promise<void> {
  try {
    await work();
    await noteAnswer(deliveryId, kind, null);
  } catch (error) {
    await noteAnswer(deliveryId, kind, error);
    if (!isFinal(error)) throw error;
  }
}
