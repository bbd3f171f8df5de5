// GraphQL types for the outcome of a run that has ended: the changes of its commits in the project's repository, or their absence.
import { builder } from '#graph/builder.ts';
import { intOrNull, members, stringOrNull, typedOrNull } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { pullRequestStates, type Run } from './model.ts';
import { isOpen } from './states.ts';

export const PullRequestState = wordSet('PullRequestState', pullRequestStates, 'State of a pull request.', {
  open: 'The pull request can be merged.',
  merged: 'The pull request was merged into its base branch.',
  closed: 'The pull request was closed without being merged.',
});

const RunResult = wordSet('RunResult', ['changes', 'no_changes'] as const, 'Result of a run in the repository.', {
  changes: 'Commits on a branch.',
  no_changes: 'Nothing: no commit was pushed.',
});

type Outcome = Pick<Run, 'branch' | 'headSha' | 'prNumber' | 'prUrl' | 'prState' | 'mergeBlocker'> &
  Pick<Run, 'commits' | 'changedFiles' | 'insertions' | 'deletions'>;

/** The outcome of a run; null for an open run, and for a run without a repository, because its changes are unknown. */
export function outcomeOf(run: Run): Outcome | null {
  if (isOpen(run) || !(run.openedRepository || run.branch)) return null;
  return run.headSha ? run : { ...run, commits: 0, changedFiles: 0, insertions: 0, deletions: 0 };
}

const counted = (what: string) => `${what}; null when the runtime did not count.`;

export const RunOutcomeType = builder.objectRef<Outcome>('RunOutcome').implement({
  description: 'The result of a run that has ended, in the repository of its project.',
  fields: (t) =>
    members(t, {
      result: t.field({
        type: RunResult.type,
        description: 'Whether there are changes.',
        resolve: ({ headSha }) => (headSha ? 'changes' : 'no_changes'),
      }),
      commits: intOrNull(counted('Number of commits since the base branch')),
      files: t.exposeInt('changedFiles', {
        nullable: true,
        description: counted('Number of files that the commits change'),
      }),
      insertions: intOrNull(counted('Number of lines that the commits add')),
      deletions: intOrNull(counted('Number of lines that the commits remove')),
      branch: stringOrNull('Branch of the changes; null without changes.'),
      headSha: stringOrNull('The newest of the commits.'),
      prNumber: intOrNull('The number of the pull request; null without one.'),
      prUrl: stringOrNull('The page of the pull request; null without one.'),
      prState: typedOrNull(PullRequestState.type, 'The state of the pull request; null without one.'),
      mergeBlocker: stringOrNull(
        'Reason why a person must merge the pull request although its project merges approved changes; null otherwise.',
      ),
    }),
});
