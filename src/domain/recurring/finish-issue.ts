// The end of a run, told to its tracker in the background: a comment with what came of it, and the issue is closed when it is done.
import { addresses } from '#foundation/addresses.ts';
import { announcing } from '#foundation/changes.ts';
import { now } from '#foundation/clock.ts';
import { sql } from '#foundation/database.ts';
import { readOne } from '#foundation/record.ts';
import { Project } from '../projects/model.ts';
import { trackerOf } from '../trackers/choose.ts';
import { isFinal } from '../vendors/connection.ts';
import { Run } from './model.ts';

/** Throws what is worth another try; what is not is kept on the run. What has been deleted since is nobody's issue any more. */
export async function finishIssue({ runId }: { runId: string }): Promise<void> {
  const run = await readOne<Run>(Run, { id: runId });
  if (!run?.issueId || (run.status !== 'completed' && run.status !== 'failed')) return;
  const project = await readOne<Project>(Project, { id: run.projectId });
  if (!project) return;
  const { id, issueId, status } = run;
  try {
    await trackerOf(project).finishIssue(project, issueId, { runId: id, status, comment: commentOf(run) });
  } catch (error) {
    if (!isFinal(error)) throw error;
    // Beside what the run itself may have failed with.
    await sql(
      announcing(`update runs set last_error = concat_ws(E'\\n', last_error, $2::text), updated_at = $3 where id = $1`),
      [id, `The tracker was not told that it is over: ${error.body.description}`, now()],
    );
  }
}

function commentOf({ id, missionTitle, status, missionCostUsd, missionCostIncomplete, ...run }: Run): string {
  const why = status === 'failed' ? (run.reason ?? run.lastError) : null;
  return [
    `${missionTitle ?? 'Mission'}: ${status}`,
    ...(why ? [why] : []),
    `Cost: ${missionCostUsd.toFixed(2)} USD${missionCostIncomplete ? ' or more' : ''}`,
    `${addresses().issuer}/console/runs/${id}`,
  ].join('\n\n');
}
