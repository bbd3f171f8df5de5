// Reads the change of a branch from the runner's mirror: its size, its diff, and each of its commits.
import { clip, type Mask } from '../text.ts';
import { git } from './git.ts';

export interface Change {
  /** Changes of the branch since it left its base. */
  size: { commits: number; files: number; insertions: number; deletions: number };
  /** All changes of the branch, for display: cut off after `maxDiffCharacters`. */
  diff: string;
  /** The newest commits of the branch, oldest first. */
  commits: ChangeCommit[];
}

export interface ChangeCommit {
  sha: string;
  /** The first line of the message. */
  subject: string;
  author: string;
  /** The time in the commit, milliseconds since the epoch. */
  authoredAt: number;
  /** The diff against the first parent; null if it is left out because of its size. */
  patch: string | null;
}

export interface NewCommit {
  sha: string;
  tree: string;
}

const maxDiffCharacters = 10_000_000;
/** Maximum number of commits of a change. The patches of all these commits together have at most `maxDiffCharacters` characters. */
const maxCommits = 100;
/** New commits per delivery: the platform accepts 200. */
const maxNewCommits = 200;
const plain = ['--no-ext-diff', '--no-textconv'];

/** Reads the change of the branch. @throws when a commit contains a secret, even if a later commit reverts it */
export async function readChange(mirror: string, from: string, to: string, mask: Mask): Promise<Change> {
  const patches = await git(mirror, ['log', '-p', '--format=%B', ...plain, `${from}..${to}`]);
  if (mask(patches) !== patches)
    throw new Error('A commit contains a secret of the environment, so the branch was not pushed.');
  const diff = await git(mirror, ['diff', ...plain, from, to]);
  return {
    size: await sizeOf(mirror, from, to),
    diff: diff.slice(0, maxDiffCharacters),
    commits: await commitsOf(mirror, from, to, mask),
  };
}

/**
 * Returns the commits that were on no branch of the source host when the mission began. Their ids are correct, because git verified them
 * when it fetched the commits from the checkout.
 */
export async function newCommitsOf(mirror: string, work: string, pushed: string): Promise<NewCommit[]> {
  const known = ['--not', '--glob=refs/origin/*', ...(pushed ? [pushed] : [])];
  const format = ['--format=%H %T', '--topo-order', `--max-count=${maxNewCommits}`];
  const lines = (await git(mirror, ['log', ...format, work, ...known])).trim().split('\n');
  return lines.reverse().flatMap((line) => {
    const [sha, tree] = line.split(' ');
    return sha && tree ? [{ sha, tree }] : [];
  });
}

/** Whether anyone but the agents has commits on the branch. A replay must not replace such commits. */
export async function hasOthers(mirror: string, from: string, branch: string, email: string): Promise<boolean> {
  const emails = (await git(mirror, ['log', '--format=%ce', `${from}..${branch}`])).split('\n').filter(Boolean);
  return emails.some((one) => one !== email);
}

async function sizeOf(mirror: string, from: string, to: string): Promise<Change['size']> {
  const commits = await git(mirror, ['rev-list', '--count', `${from}..${to}`]);
  // git's summary has the form ` 2 files changed, 3 insertions(+), 1 deletion(-)`; zero parts are omitted.
  const changes = await git(mirror, ['diff', '--shortstat', ...plain, from, to]);
  const count = (word: string) => Number(new RegExp(`(\\d+) ${word}`).exec(changes)?.[1] ?? 0);
  return { commits: Number(commits), files: count('file'), insertions: count('ins'), deletions: count('del') };
}

/**
 * Lists the commits of a change, with secrets masked. The search for secrets before a push does not cover the names of authors and the
 * patches of merge commits.
 */
async function commitsOf(mirror: string, from: string, to: string, mask: Mask): Promise<ChangeCommit[]> {
  const format = '--format=%H%x00%at%x00%an%x00%s';
  const listed = await git(mirror, [
    'log',
    '-z',
    format,
    '--topo-order',
    `--max-count=${maxCommits}`,
    `${from}..${to}`,
  ]);
  const fields = listed.split('\0');
  const commits: ChangeCommit[] = [];
  let left = maxDiffCharacters;
  // Commits are read newest first, so that the limit on patches leaves out the patches of early commits.
  for (let i = 0; i + 3 < fields.length; i += 4) {
    const [sha, seconds, author, subject] = fields.slice(i, i + 4) as [string, string, string, string];
    const patch = left > 0 ? await patchOf(mirror, sha).then((text) => text && mask(text)) : null;
    const isShown = patch !== null && patch.length <= left;
    if (isShown) left -= patch.length;
    commits.unshift({
      ...{ sha, subject: clip(mask(subject), 200), author: clip(mask(author), 100) },
      ...{ authoredAt: Number(seconds) * 1_000, patch: isShown ? patch : null },
    });
  }
  return commits;
}

/** The diff of one commit; null when it is longer than the output that is read from git. */
const patchOf = (mirror: string, sha: string): Promise<string | null> =>
  git(mirror, ['show', '--format=', '--diff-merges=first-parent', ...plain, sha]).catch((error: Error) => {
    if (error.message.includes('maxBuffer')) return null;
    throw error;
  });
