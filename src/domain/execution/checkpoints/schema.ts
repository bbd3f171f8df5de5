// Checkpoints in GraphQL, and the mutation that continues a run from a checkpoint.
import { builder } from '#graph/builder.ts';
import { toOne } from '#graph/context.ts';
import { pathId } from '#graph/input.ts';
import { belongsTo, epochMs, members, string } from '#graph/members.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { RunType } from '../../work/runs/schema.ts';
import { missionBudget } from '../../work/runs/schema-common.ts';
import { MissionStepType } from '../../work/runs/schema-steps.ts';
import { Checkpoint } from './model.ts';
import * as operations from './operations.ts';

const CheckpointType = builder.modelType(Checkpoint, 'Checkpoint').implement({
  description:
    'The workspace after a step, with uncommitted files, except those that git ignores. The checkpoint is kept as long as its artifact.',
  fields: (t) =>
    members(t, {
      commitSha: string(
        'The id of a commit with all files of the workspace. The commit is not on the branch of the run.',
      ),
      createdAt: epochMs('When the checkpoint was taken: at the end of the step, or while the step runs.'),
      artifactId: string('The artifact that holds the checkpoint: a git bundle.'),
      artifact: belongsTo('artifacts:read', 'The artifact that holds the checkpoint: a git bundle.'),
    }),
});

const loadCheckpoint = toOne<Checkpoint>(
  (stepIds, caller) => operations.findCheckpoints(caller, stepIds),
  ({ stepId }) => stepId,
);

builder.objectField(MissionStepType, 'checkpoint', (t) =>
  t.field({
    type: CheckpointType,
    nullable: true,
    description: 'The newest checkpoint; null before the first, for scripts, and once it has expired.',
    resolve: ({ id }, _, context) => loadCheckpoint(context).load(id),
  }),
);
builder.objectField(RunType, 'continuesStep', (t) =>
  t.byId(MissionStepType, 'continuesStepId', {
    link: 'missions:read',
    description:
      'The step of another run whose checkpoint this run began from; null for a run that does not continue another.',
  }),
);

builder.mutationField('continueRun', (t) =>
  t.field({
    description:
      'Starts a new run that continues a run that has ended, with the same agents and issue. The new run begins from a checkpoint, on a branch ' +
      'of its own. The session of the agent is resumed if its files are in the checkpoint; otherwise the prompt summarizes what ' +
      'happened so far.',
    scope: 'missions:run',
    rest: { route: 'POST /runs/{runId}/continuation', body: 'ContinueRunRequest', status: 201, errors: [402] },
    tool: { name: 'continue_run', startsRun: true },
    type: RunType,
    args: {
      runId: t.arg.string({ ...pathId, description: 'The run to continue, which must have ended.' }),
      prompt: t.arg.string({
        required: true,
        description: `The next task: 1 to ${text.prompt.max} characters.`,
        validate: { schema: boundedText(text.prompt) },
      }),
      stepId: t.arg.string({
        description:
          'The step whose checkpoint the new run begins from; absent means the newest checkpoint of the run.',
        validate: { schema: boundedText(text.pathId) },
      }),
      budgetUsd: t.arg.float(missionBudget),
    },
    resolve: (_, args, { caller }) => operations.continueRun(caller, args),
  }),
);
