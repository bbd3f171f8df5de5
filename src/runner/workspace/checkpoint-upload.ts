// Uploads checkpoints, each only if it differs from the last one of its step.
import { open, rm } from 'node:fs/promises';
import type { RunLease, Step } from '../contract.ts';
import { reportCheckpoint } from '../generated/operations.ts';
import type { RunScript } from '../isolation/isolation.ts';
import type { Place } from '../isolation/place.ts';
import type { Platform } from '../protocol/platform.ts';
import { takeCheckpoint } from './checkpoint.ts';

/**
 * Returns a function that uploads a checkpoint of the run. The result of that function is the id of the git tree that contains all files of
 * the checkpoint. @param mirrors Folder of the runner in which the bundle of a checkpoint is stored until it is uploaded
 */
export function openCheckpoints(platform: Platform, lease: RunLease, mirrors: string) {
  let saved: { stepId: string; state: string } | undefined;

  return async function upload(
    { stepId }: Step,
    run: RunScript,
    place: Place,
    base: string | null,
    sessionOf: () => string | null,
  ): Promise<string> {
    const { file, commitSha, state, tree } = await takeCheckpoint(run, place, base, mirrors);
    try {
      if (saved?.stepId === stepId && saved.state === state) return tree;
      const content = await open(file);
      const contentKey = await platform.upload(lease, 'checkpoint', content).finally(() => content.close());
      await platform.mutate(reportCheckpoint, { ...lease, stepId, contentKey, commitSha, sessionId: sessionOf() });
      saved = { stepId, state };
      return tree;
    } finally {
      await rm(file, { force: true });
    }
  };
}
