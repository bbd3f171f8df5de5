// Keys by which loaders find what runs share: the records of a branch, and of a pull request.
import type { Run } from './model.ts';

/** A space separates the two, because neither ids nor names of branches contain one (git-check-ref-format). */
export const branchKeyOf = ({ projectId, branch }: { projectId: string; branch: string | null }): string =>
  `${projectId} ${branch}`;

/** The two parts of each key, as the arrays that `unnest` takes. */
export function partsOf(keys: readonly string[]): [projects: string[], others: string[]] {
  const parts = keys.map((key) => key.split(' ', 2) as [string, string]);
  return [parts.map(([project]) => project), parts.map(([, other]) => other)];
}

/** Empty for a run without a pull request. */
export const pullRequestKeyOf = ({ projectId, prNumber }: Pick<Run, 'projectId' | 'prNumber'>): string =>
  prNumber === null ? '' : `${projectId} ${prNumber}`;
