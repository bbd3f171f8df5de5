// The requests of runtimes about the repository of a run and its branch, with the limits of each field.
import { z } from 'zod';
import { request } from '#graph/input.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { commitsPerReport } from '../../work/attestations/record.ts';
import { maxChanges } from '../../work/runs/bounds.ts';
import { commitSha, id, ofRun } from './schema-runs.ts';

const count = z.int().min(0).max(maxChanges).nullish();
export const OpenRepositoryRequest = request(
  'OpenRepositoryRequest',
  z
    .object({
      ...ofRun,
      skillRepo: boundedText(text.repoFullName)
        .nullish()
        .describe('One of the `skillRepos` of the agents of the run; absent means the repository of its project.'),
      stagesPushes: z
        .boolean()
        .nullish()
        .describe('Whether the runtime can report commits as a bundle: required if pushes wait for approval.'),
    })
    .describe('The run whose repository is to be reached.'),
);
export const ReportBranchRequest = request(
  'ReportBranchRequest',
  z
    .object({
      ...ofRun,
      headSha: commitSha.describe('The newest commit of the branch.'),
      baseBranch: boundedText(text.gitRef).describe('The branch into which the pushed one is to be merged.'),
      baseSha: commitSha.nullish().describe('The newest commit that both branches share.'),
      title: boundedText(text.caption)
        .nullish()
        .describe('Title of the pull request; absent means the title of the mission.'),
      body: boundedText(text.runError).nullish().describe('Body of the pull request: the changes and their reasons.'),
      commits: count.describe('Commits of the branch since it left the base branch.'),
      files: count.describe('Files that these commits change.'),
      insertions: count.describe('Lines that these commits add.'),
      deletions: count.describe('Lines that these commits remove.'),
      changeArtifactId: id.nullish().describe('The artifact of the diff of these commits, as `git diff` prints it.'),
      commitsArtifactId: id.nullish().describe('The artifact of the single commits (`ChangeVersion.commitsArtifact`).'),
      newCommits: z
        .array(
          z
            .object({
              sha: commitSha.describe('The id of the commit.'),
              tree: commitSha.describe('The id of its tree, read from the commit itself.'),
            })
            .describe('A commit.'),
        )
        .max(commitsPerReport)
        .default([])
        .describe(
          `The commits that the agent has added since the last report, oldest first, at most the newest ${commitsPerReport}: each gets an attestation.`,
        ),
      bundleContentKey: id
        .nullish()
        .describe('The uploaded git bundle with these commits, which wait for approval; absent for a pushed branch.'),
      expectedSha: commitSha
        .nullish()
        .describe('The commit that the branch has at the source host, for a bundle; absent for a new branch.'),
    })
    .describe('A branch that the runtime of a run has pushed, or that waits to be pushed.'),
);
