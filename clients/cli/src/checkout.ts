// Checks out a checkpoint of a mission in the user's git repository. The content of the checkpoint comes from an agent, so git runs no hook,
// and no file or commit of the user is overwritten.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { open } from 'node:fs/promises';
import { UserError } from './session.ts';

/** Hooks are disabled, because a hooks folder inside the checkout, such as husky's, would contain scripts of the agent. */
const settings = [
  'core.hooksPath=/dev/null',
  'core.protectHFS=true',
  'core.protectNTFS=true',
  'fetch.fsckObjects=true',
  'submodule.recurse=false',
].flatMap((setting) => ['-c', setting]);
const maxOutputBytes = 512 * 1024 * 1024;

/** Runs git, and returns its output as bytes. @throws the error of git */
export const gitBytes = (folder: string, ...args: string[]): Promise<Buffer> => gitWith({}, folder, ...args);

export const gitWith = (variables: Record<string, string>, folder: string, ...args: string[]): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const env = { ...process.env, LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', ...variables };
    const options = { env, encoding: 'buffer', maxBuffer: maxOutputBytes } as const;
    execFile('git', ['-C', folder, ...settings, ...args], options, (error, stdout, stderr) => {
      if (!error) return resolve(stdout);
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      reject(new UserError(isMissing ? 'git is not installed.' : `git ${args[0]}: ${String(stderr).trim()}`));
    });
  });
export const git = async (folder: string, ...args: string[]): Promise<string> =>
  String(await gitBytes(folder, ...args)).replace(/\n$/, '');
export const succeeds = (folder: string, ...args: string[]): Promise<boolean> =>
  git(folder, ...args).then(
    () => true,
    () => false,
  );

export const topOf = (folder: string): Promise<string> => git(folder, 'rev-parse', '--show-toplevel');

/**
 * The top folder of the checkout that contains `folder`. @throws when the checkout has uncommitted changes, because
 * they would be mixed into the other branch
 */
export async function findCheckout(folder: string): Promise<string> {
  const top = await topOf(folder);
  if (await git(top, 'status', '--porcelain'))
    throw new UserError(`${top} has uncommitted changes: commit them, or run "git stash --include-untracked".`);
  return top;
}

export interface FetchedBundle {
  /** The commit of all files; its parent is the head of the branch. */
  work: string;
  /** The commit of the session files. */
  sessions: string;
  /** Commits that the bundle is based on. */
  bases: string[];
  /** Removes the references; git removes the objects later. */
  forget(): Promise<void>;
}

export async function fetchBundle(folder: string, file: string, commitSha: string): Promise<FetchedBundle> {
  const bases = await basesOf(file);
  const [work, sessions] = ['work', 'sessions'].map((name) => `refs/aep/${randomUUID()}/${name}`) as [string, string];
  const forget = async () => {
    for (const ref of [work, sessions]) await git(folder, 'update-ref', '-d', ref);
  };
  const quiet = ['--quiet', '--no-tags', '--no-prune', '--no-write-fetch-head', '--no-recurse-submodules'];
  try {
    await git(folder, 'fetch', ...quiet, file, `refs/checkpoint/work:${work}`, `refs/checkpoint/sessions:${sessions}`);
    if ((await git(folder, 'rev-parse', work)) !== commitSha)
      throw new UserError(`The downloaded bundle does not have the commit ${commitSha}. Try again.`);
    return { work, sessions, bases, forget };
  } catch (error) {
    await forget();
    if (!/prerequisite commits/.test((error as Error).message)) throw error;
    throw new UserError(
      `${folder} lacks commits that the mission began from: run "git fetch" there. Is it the repository of the project?`,
    );
  }
}

/** Lines of a bundle that begin with `-` name the commits that it is based on; an empty line ends them. */
const headerBytes = 64 * 1024;

/**
 * The commits that the bundle is based on. @throws for a file that is not a bundle, because git would use it as the
 * name of a repository
 */
async function basesOf(file: string): Promise<string[]> {
  const handle = await open(file);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(headerBytes)).finally(() => handle.close());
  const [header = ''] = buffer.toString('latin1', 0, bytesRead).split('\n\n');
  if (!/^# v[23] git bundle\n/.test(header)) throw new UserError('The checkpoint is not a git bundle.');
  return [...header.matchAll(/^-([0-9a-f]{40,64})/gm)].map(([, sha]) => sha!);
}

/**
 * Checks the branch out at the parent of `work`, with the files of `work` as uncommitted changes. @throws when a file or commit of the user
 * would be lost
 */
export async function checkOut(
  folder: string,
  work: string,
  branch: string,
): Promise<{ headSha: string; uncommitted: number }> {
  const ref = `refs/heads/${branch}`;
  await git(folder, 'check-ref-format', ref);
  const headSha = await git(folder, 'rev-parse', '--verify', '--quiet', `${work}^`).catch(() => '');
  if (!headSha || !(await succeeds(folder, 'merge-base', 'HEAD', headSha)))
    throw new UserError(
      `The work of the mission is not based on a commit of ${folder}: the mission has another repository, or none.`,
    );
  const before = await localBranch(folder, ref, headSha);
  const [, back] = /^(?:refs\/heads\/)?(.+)$/.exec(
    await git(folder, 'symbolic-ref', '--quiet', 'HEAD').catch(() => git(folder, 'rev-parse', 'HEAD')),
  )!;
  // This command fails if it would overwrite a file of the user, even an ignored file, or if a merge or rebase is in progress in the checkout.
  await git(folder, 'switch', '--quiet', '--no-overwrite-ignore', '--detach', work);
  try {
    await git(folder, 'update-ref', ref, headSha, before);
  } catch (error) {
    await git(folder, 'switch', '--quiet', ...(/^[0-9a-f]{40,64}$/.test(back!) ? ['--detach'] : []), back!);
    throw error;
  }
  await git(folder, 'symbolic-ref', 'HEAD', ref);
  // Restores the uncommitted files of the agent as uncommitted changes.
  await git(folder, 'reset', '--quiet');
  const changed = await git(folder, 'status', '--porcelain', '--no-renames', '--untracked-files=all');
  return { headSha, uncommitted: changed.split('\n').filter(Boolean).length };
}

/** The commit of the local branch; empty for none. */
async function localBranch(folder: string, ref: string, headSha: string): Promise<string> {
  const lines = (await git(folder, 'for-each-ref', '--format=%(refname) %(objectname) %(worktreepath)', ref)).split(
    '\n',
  );
  const [, sha, ...place] = lines.map((line) => line.split(' ')).find(([name]) => name === ref) ?? [];
  if (!sha) return '0'.repeat(headSha.length);
  const branch = ref.slice('refs/heads/'.length);
  const elsewhere = place.join(' ');
  if (elsewhere && elsewhere !== folder) throw new UserError(`${branch} is checked out in ${elsewhere}: pull there.`);
  if (await succeeds(folder, 'merge-base', '--is-ancestor', sha, headSha)) return sha;
  throw new UserError(
    `Your branch ${branch} has commits that the mission lacks: rename it with "git branch -m", and pull again.`,
  );
}
