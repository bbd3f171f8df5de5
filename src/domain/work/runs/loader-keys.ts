// Keys for loaders of records that several runs share: records of a branch, and records of a pull request.
import type { Run } from './model.ts';

/** Key of a branch. A space separates its two parts, because neither ids nor branch names contain one (git-check-ref-format). */
export const branchKeyOf = ({ projectId, branch }: { projectId: string; branch: string | null }): string =>
  `${projectId} ${branch}`;

/** Splits keys into two arrays, which are parameters of `unnest`. */
export function partsOf(keys: readonly string[]): [projects: string[], others: string[]] {
  const parts = keys.map((key) => key.split(' ', 2) as [string, string]);
  return [parts.map(([project]) => project), parts.map(([, other]) => other)];
}

/** Key of a run's pull request; empty for a run without one. */
export const pullRequestKeyOf = ({ projectId, prNumber }: Pick<Run, 'projectId' | 'prNumber'>): string =>
  prNumber === null ? '' : `${projectId} ${prNumber}`;
