// Packs the work of this person in a checkout into a git bundle like that of a checkpoint, so that a mission can
// continue from it.
import { copyFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type FetchedBundle, git, gitWith, succeeds } from './checkout.ts';
import { UserError } from './session.ts';

/** Maximum size, in bytes, of a bundle that the platform accepts. */
const maxBundleBytes = 256 * 1024 * 1024;

/** The git setting that stores the checkpoint of the last pull or push of the branch; git removes the setting with the branch. */
const settingOf = (branch: string): string => `branch.${branch}.aepCheckpoint`;

export const recordCheckpoint = async (folder: string, branch: string, commitSha: string): Promise<void> => {
  await git(folder, 'config', '--local', settingOf(branch), commitSha);
};

/** Checks that a push would lose no work of the mission. @throws when the checkout lacks some of it */
export async function refuseOutdated(folder: string, branch: string, { work }: FetchedBundle): Promise<void> {
  const current = await git(folder, 'symbolic-ref', '--quiet', '--short', 'HEAD').catch(() => 'no branch');
  if (current !== branch) throw new UserError(`${folder} is on ${current}: the work of the mission is on ${branch}.`);
  const [commitSha, head] = await Promise.all([git(folder, 'rev-parse', work), git(folder, 'rev-parse', `${work}^`)]);
  if (!(await succeeds(folder, 'merge-base', '--is-ancestor', head, 'HEAD')))
    throw new UserError(
      `The mission has commits that your branch lacks. Commit your files, rename your branch with "git branch -m NAME", run "aep pull", and rebase your branch onto ${branch}.`,
    );
  const known = await git(folder, 'config', '--local', '--get', settingOf(branch)).catch(() => null);
  if (known !== commitSha && !(await succeeds(folder, 'diff-tree', '--quiet', head, work)))
    throw new UserError(
      'The mission has uncommitted files that were not pulled into this checkout: commit or stash yours, and run "aep pull".',
    );
}

export interface LocalWork {
  commitSha: string;
  /** The head of the branch. */
  head: string;
  /** Whether the newest checkpoint of the mission has the same files and the same head, so that there is nothing to push. */
  isKnown: boolean;
}

/** Writes the bundle of all files that git does not ignore; neither the branch nor the index of this person changes. */
export async function packWork(folder: string, bundle: FetchedBundle, file: string): Promise<LocalWork> {
  const index = path.join(path.dirname(file), 'index');
  const own = path.resolve(folder, await git(folder, 'rev-parse', '--git-path', 'index'));
  await copyFile(own, index).catch(() => {});
  const name = { NAME: 'Checkpoint', EMAIL: 'checkpoint@localhost' };
  const variables = {
    GIT_INDEX_FILE: index,
    ...{ GIT_AUTHOR_NAME: name.NAME, GIT_AUTHOR_EMAIL: name.EMAIL },
    ...{ GIT_COMMITTER_NAME: name.NAME, GIT_COMMITTER_EMAIL: name.EMAIL },
  };
  const withIndex = async (...args: string[]) => String(await gitWith(variables, folder, ...args)).trim();
  await withIndex('add', '--all', '.');
  const tree = await withIndex('write-tree');
  const head = await git(folder, 'rev-parse', 'HEAD');
  const before = await git(folder, 'rev-parse', `${bundle.work}^{tree}`, `${bundle.work}^`);
  const commitSha = await withIndex('commit-tree', tree, '-p', head, '-m', 'Checkpoint');
  const isKnown = before === `${tree}\n${head}`;
  if (!isKnown) await writeBundle(folder, commitSha, bundle, file);
  return { commitSha, head, isKnown };
}

/** The git refs of the bundle are created in a separate repository, so that two pushes from one checkout do not share them. */
async function writeBundle(folder: string, commitSha: string, { sessions, bases }: FetchedBundle, file: string) {
  const refs = [
    ['refs/checkpoint/work', commitSha],
    ['refs/checkpoint/sessions', await git(folder, 'rev-parse', sessions)],
  ] as const;
  const own = path.join(path.dirname(file), 'bundle.git');
  const [format, objects] = await Promise.all([
    git(folder, 'rev-parse', '--show-object-format'),
    git(folder, 'rev-parse', '--git-path', 'objects'),
  ]);
  await git(folder, 'init', '--quiet', '--bare', `--object-format=${format}`, own);
  await writeFile(path.join(own, 'objects/info/alternates'), `${path.resolve(folder, objects)}\n`);
  for (const [ref, to] of refs) await git(own, 'update-ref', ref, to);
  const excluded = bases.map((sha) => `^${sha}`);
  await git(own, 'bundle', 'create', '--quiet', file, ...refs.map(([ref]) => ref), ...excluded);
  if ((await stat(file)).size > maxBundleBytes)
    throw new UserError(
      'The changes are too large: a mission takes at most 256 MiB. Add folders that the mission does not need to .gitignore.',
    );
}
