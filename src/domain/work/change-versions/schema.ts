// GraphQL types for versions of a change.
import { builder } from '#graph/builder.ts';
import { toMany } from '#graph/context.ts';
import { belongsTo, epochMs, intOrNull, members, string } from '#graph/members.ts';
import { branchKeyOf } from '../runs/loader-keys.ts';
import { RunType } from '../runs/schema.ts';
import { ChangeVersion } from './model.ts';
import { versionsOfBranches, versionsShown } from './operations.ts';

const ChangeVersionType = builder.modelType(ChangeVersion, 'ChangeVersion').implement({
  description: 'A version of a change: the diff of the branch as a runtime reported it with one of its commits.',
  fields: (t) =>
    members(t, {
      runId: string('The run whose agent made the commit.'),
      headSha: string('The newest commit of the branch at that time.'),
      role: string('The role of the agent.'),
      commits: intOrNull('Commits of the branch since it left its base; null when the runtime did not count.'),
      changedFiles: intOrNull('Files that these commits change; null when the runtime did not count.'),
      insertions: intOrNull('Lines that these commits add; null when the runtime did not count.'),
      deletions: intOrNull('Lines that these commits remove; null when the runtime did not count.'),
      createdAt: epochMs('When the runtime reported it.'),
      artifact: belongsTo(
        'artifacts:read',
        'The diff, as `git diff` prints it; null when the caller is not allowed to read artifacts.',
      ),
      commitsArtifact: belongsTo(
        'artifacts:read',
        'The newest 100 commits of the branch since it left its base, oldest first, as a JSON array of objects with `sha`, `subject`, ' +
          '`author`, `authoredAt` (milliseconds since the epoch) and `patch`: the diff against the first parent, or null if the patches ' +
          'of later commits fill 10 million characters. Null when the runtime did not report it, and when the caller is not allowed to read artifacts.',
      ),
    }),
});

const loadVersions = toMany<ChangeVersion>(versionsOfBranches, branchKeyOf);

builder.objectField(RunType, 'changeVersions', (t) =>
  t.field({
    type: [ChangeVersionType],
    graphOnly: true,
    complexity: { field: 1, multiplier: 10 },
    description: `Versions of the change on the run’s branch whose diffs have not expired, including those of other runs on it, newest first: at most ${versionsShown}.`,
    resolve: (run, _, context) => (run.branch === null ? [] : loadVersions(context).load(branchKeyOf(run))),
  }),
);
