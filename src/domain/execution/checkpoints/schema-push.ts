// Mutations for pushing local changes to missions.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { pathId, request } from '#graph/input.ts';
import { epochMs, members, string } from '#graph/members.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import type { ReservedContent } from '../../work/artifacts/content.ts';
import { RunType } from '../../work/runs/schema.ts';
import { createCheckpointUpload, pushCheckpoint } from './push.ts';

const CheckpointUpload = builder.objectRef<ReservedContent>('CheckpointUpload').implement({
  description: 'An upload URL for the bytes of a checkpoint.',
  fields: (t) =>
    members(t, {
      contentKey: string('The key that `pushCheckpoint` takes once the upload is complete.'),
      uploadUrl: string('URL for a PUT of the bytes; it needs no credential.'),
      expiresAt: epochMs('The upload must begin before this time.'),
    }),
});

const commit = z
  .string()
  .regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/, 'must be the id of a commit: 40 or 64 hexadecimal digits');

const PushCheckpointRequest = request(
  'PushCheckpointRequest',
  z
    .object({
      runId: boundedText(text.pathId).describe('The run, which must have ended.'),
      contentKey: boundedText(text.pathId).describe('The key of the upload, a git bundle of at most 256 MiB.'),
      commitSha: commit.describe(
        'The commit of all files, `refs/checkpoint/work` of the bundle; its parent is the head of the branch. `refs/checkpoint/sessions` has the session files.',
      ),
      replacesCommitSha: commit.describe('The `commitSha` of the checkpoint that the changes are based on.'),
    })
    .meta({
      description: 'Local changes as a checkpoint.',
      examples: [
        {
          ...{ runId: 'run_0193f0c2', contentKey: 'cnt_0193f0c2' },
          ...{ commitSha: 'b'.repeat(40), replacesCommitSha: 'a'.repeat(40) },
        },
      ],
    }),
);

builder.mutationFields((t) => ({
  createCheckpointUpload: t.field({
    description:
      'Creates a URL for uploading changes that a person has made locally to the work of a run. The run must have ended.',
    scope: 'missions:run',
    type: CheckpointUpload,
    args: { runId: t.arg.string({ ...pathId, description: 'The run, which must have ended.' }) },
    resolve: (_, { runId }, { caller }) => createCheckpointUpload(caller, runId),
  }),
  pushCheckpoint: t.field({
    description:
      'Uploaded local changes replace the newest checkpoint of a run that has ended: `continueRun` begins from them. The answer is 409 when the run has a newer checkpoint than the one that the changes are based on, or has already been continued.',
    scope: 'missions:run',
    type: RunType,
    args: { input: t.arg({ type: PushCheckpointRequest, required: true, description: 'The changes.' }) },
    resolve: (_, { input }, { caller }) => pushCheckpoint(caller, input),
  }),
}));
