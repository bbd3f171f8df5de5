// `replay FILE [REPOSITORY]` of the runner: executes a recorded mission again, with the harnesses and isolation of this machine. The
// gateway answers each call from the recording. The replay ends at the first call that differs, or else after a comparison of the git trees
// of the steps.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Pace } from './contract.ts';
import { makeTemporaryFolder } from './isolation/place.ts';
import { executeRun } from './mission.ts';
import { type RecordedRun, readRecording } from './protocol/recording-lines.ts';
import { openReplayedCalls, type ReplayedCalls } from './protocol/replayed-calls.ts';
import { claimedRun, openReplayPlatform } from './replay-platform.ts';
import type { RunnerCapabilities } from './step-context.ts';
import { git } from './workspace/git.ts';

/** Replays the recording in a file. @returns whether the mission ended as recorded @throws for a recording that cannot be replayed */
export async function replayRun(
  [file, repository]: readonly string[],
  pace: Pace,
  capabilities: RunnerCapabilities,
  signal: AbortSignal,
): Promise<boolean> {
  if (!file) throw new Error('replay: the file of a recording is required.');
  const recorded = readRecording(await readFile(file, 'utf8'));
  const folder = await makeTemporaryFolder('replay-');
  try {
    const origin = await originOf(recorded, repository, folder.folder);
    const replayed = openReplayedCalls(recorded);
    const platform = openReplayPlatform(recorded, origin);
    await executeRun(platform, claimedRun(recorded), pace, { ...capabilities, replayed }, signal);
    return report(recorded, replayed.result());
  } finally {
    await folder.remove();
  }
}

function report(
  { steps }: RecordedRun,
  { answered, difference, tree, ended }: ReturnType<ReplayedCalls['result']>,
): boolean {
  const { runId } = steps[0]!.step.run;
  const isSame = difference === null && ended === steps.length;
  console.log(
    isSame
      ? `The replay of ${runId} ends as recorded: ${steps.length} step${steps.length === 1 ? '' : 's'}, ${answered} calls, ${tree ? `the tree ${tree}` : 'no tree, because the agent changes no files'}.`
      : (difference ??
          `The replay of ${runId} differs after ${answered} calls. It ended after ${ended} of ${steps.length} steps.`),
  );
  return isSame;
}

/** A copy of the repository whose branches are as they were at the beginning of the mission; null without a repository. */
async function originOf(
  { steps }: RecordedRun,
  repository: string | undefined,
  folder: string,
): Promise<string | null> {
  const { start, order } = steps[0]!.step;
  if (order.checkpoint) throw new Error('The recording begins from a checkpoint, which a replay does not restore.');
  if (!start) return null;
  if (!repository)
    throw new Error(`The recording needs a clone of ${start.url}: give its folder as the argument after the file.`);
  const copy = path.join(folder, 'origin.git');
  await git(folder, ['clone', '--quiet', '--mirror', path.resolve(repository), copy]);
  await git(copy, ['cat-file', '-e', `${start.commitSha}^{commit}`]).catch(() => {
    throw new Error(`${repository} has no commit ${start.commitSha}, which the mission began from.`);
  });
  await git(copy, ['update-ref', `refs/heads/${start.defaultBranch}`, start.commitSha]);
  await git(copy, ['update-ref', '-d', `refs/heads/${start.branch}`]);
  return copy;
}
