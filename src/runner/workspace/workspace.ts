// The repository of a mission: a mirror that belongs to the runner, and a checkout that belongs to the agent. Files that an agent could
// change are untrusted: git never runs among them. The agent's commits are fetched into the mirror and pushed from there, so that the agent
// reaches no credentials.
import { createHash, randomUUID } from 'node:crypto';
import { lstat, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Account } from '../contract.ts';
import { chownRecursive } from '../isolation/accounts.ts';
import type { Mask } from '../text.ts';
import { type Change, hasOthers, type NewCommit, newCommitsOf, readChange } from './change.ts';
import { type Bundle, unpack, workOf } from './checkpoint.ts';
import { commitOf, git, type Remote, requireCommit } from './git.ts';
import { type Note, pushNotes } from './notes.ts';

/** The repository of a project. */
export interface Origin extends Remote {
  defaultBranch: string;
  /** The branch of the mission. */
  branch: string;
  /** Whether commits wait for approval. Such commits are bundled instead of pushed. */
  pushWaits: boolean;
}

export interface WorkspaceSettings {
  /** A folder of the runner that keeps mirrors between missions. */
  mirrors: string;
  /** An empty folder, which becomes the checkout of the agent. */
  checkout: string;
  origin: Origin;
  /** The current URL and credentials of the origin: while an agent works, tokens expire and repositories are renamed. */
  reopen(): Promise<Origin>;
  /** The owner of the checkout; undefined means the runner's user. */
  account: Account | undefined;
  /** The checkpoint to begin from, if its commits follow the commits of the branch. */
  checkpoint: Bundle | null;
  /**
   * The commit to begin from, even when the branch already exists; null means the commit of the branch if it exists, or else that of the
   * base branch.
   */
  wanted: string | null;
  /** Hides secrets of the environment. Commits that contain a secret are not pushed. */
  mask: Mask;
  /** The author of the commits. */
  author: { name: string; email: string };
}

export interface Delivery extends Change {
  headSha: string;
  /** The newest commit that the branch shares with its base branch. */
  baseSha: string;
  /** The newest commits of the agent since the last reported delivery, oldest first. */
  newCommits: NewCommit[];
  /** The commits that were not pushed; null for a pushed branch. */
  staged: StagedCommits | null;
}

export interface StagedCommits {
  /** The bundle, a file of the runner, which the caller removes. */
  file: string;
  /** The commit of the branch at the source host; null for a new branch. */
  expectedSha: string | null;
}

export interface Workspace {
  /** The runner's mirror of the repository. */
  mirror: string;
  /** A commit that the repository of the project has. */
  base: string;
  /** The commit that `openWorkspace` has checked out. */
  startSha: string;
  /** True if the checkout began from the checkpoint; otherwise the reason why it did not, or null without a checkpoint. */
  restored: true | string | null;
  /**
   * Pushes the commits of the branch, or bundles them if pushes wait for approval. Returns null when all commits have been reported.
   * @throws when somebody else has changed the branch, or the checkout is no longer valid
   */
  deliver(): Promise<Delivery | null>;
  /** Marks the commits of a delivery as reported, so that the next delivery contains only later commits. */
  markReported(delivery: Delivery): void;
  /** Pushes git notes for commits that `deliver` has already pushed to the source host. */
  note(notes: readonly Note[]): Promise<void>;
}

const maxStagedBytes = 256 * 1024 * 1024;

export async function openWorkspace(settings: WorkspaceSettings): Promise<Workspace> {
  const { checkout, origin, author, account, reopen, wanted } = settings;
  const { branch, defaultBranch: base, url } = origin;
  const mirror = path.join(settings.mirrors, `${createHash('sha256').update(url).digest('hex').slice(0, 32)}.git`);
  const [work, theirs] = [`refs/missions/${branch}`, `refs/origin/${branch}`];
  // Settings are written in the mirror's own folder, which no other mission writes to at the same time.
  const own = { globalConfig: path.join(mirror, 'gitconfig') };

  await alone(mirror, () => fetchMirror(mirror, own.globalConfig, origin));
  // If a mission was interrupted, it continues from its branch at the source host. A replay begins from the commit in `wanted`.
  const begun = await commitOf(mirror, theirs);
  const baseSha = await commitOf(mirror, `refs/origin/${base}`);
  const start = (wanted && (await requireCommit(mirror, wanted))) ?? begun ?? baseSha;
  if (!start) throw new Error(`The repository has no branch ${base}.`);
  const restored = settings.checkpoint && (await take(mirror, settings.checkpoint, wanted ? null : begun));
  // The folder is still empty, so the agent cannot have put a hook or a setting for git there: git may still run in it.
  const inCheckout = (...args: string[]) => git(checkout, args, own);
  // The checkout is a separate clone, because the .git of a worktree would be in the mirror.
  await inCheckout('init', '--quiet', '--initial-branch', branch);
  await inCheckout('fetch', '--quiet', '--no-tags', mirror, `+refs/origin/${base}:refs/heads/${base}`, start);
  let startSha = start;
  if (settings.checkpoint && restored === true) {
    await inCheckout('fetch', '--quiet', '--no-tags', mirror, workOf(settings.checkpoint));
    await inCheckout('reset', '--quiet', '--hard', 'FETCH_HEAD');
    // Restores uncommitted changes as uncommitted changes.
    await inCheckout('reset', '--quiet', 'FETCH_HEAD^');
    startSha = (await commitOf(mirror, `${workOf(settings.checkpoint)}^`))!;
  } else await inCheckout('reset', '--quiet', '--hard', start);
  await inCheckout('config', 'user.name', author.name);
  await inCheckout('config', 'user.email', author.email);
  await chownRecursive(checkout, account);

  const isKept = wanted && begun && (await hasOthers(mirror, startSha, begun, author.email));
  let [pushed, reported] = [isKept ? '' : (begun ?? ''), begun ?? ''];
  return {
    mirror,
    base: baseSha ?? start,
    startSha,
    restored,
    async deliver() {
      await checkIsOrdinary(checkout);
      return alone(mirror, async () => {
        await git(mirror, ['fetch', '--quiet', '--no-tags', checkout, `+refs/heads/${branch}:${work}`], own);
        const headSha = (await commitOf(mirror, work))!;
        const from = (await git(mirror, ['merge-base', `refs/origin/${base}`, work])).trim();
        if (from === headSha || headSha === reported) return null;
        const change = await readChange(mirror, from, work, settings.mask);
        const newCommits = await newCommitsOf(mirror, work, reported);
        const staged = origin.pushWaits ? await stage(mirror, work, from, begun) : null;
        if (!staged) await push(mirror, await reopen().catch(() => origin), work, pushed);
        pushed = headSha;
        return { headSha, baseSha: from, ...change, newCommits, staged };
      });
    },
    markReported: ({ headSha }) => {
      reported = headSha;
    },
    note: (notes) => note(settings, mirror, notes),
  };
}

async function note({ origin, reopen }: WorkspaceSettings, mirror: string, notes: readonly Note[]): Promise<void> {
  await alone(mirror, async () => pushNotes(mirror, await reopen().catch(() => origin), notes));
}

/**
 * Bundles the commits of the branch, which wait for approval. @param begun The commit of the branch at the source host; null for none.
 * @throws when the commits are too large
 */
async function stage(mirror: string, work: string, from: string, begun: string | null): Promise<StagedCommits> {
  const file = path.join(path.dirname(mirror), `${randomUUID()}.bundle`);
  await git(mirror, ['bundle', 'create', '--quiet', file, work, `^${from}`, ...(begun ? [`^${begun}`] : [])]);
  if ((await stat(file)).size <= maxStagedBytes) return { file, expectedSha: begun };
  await rm(file, { force: true });
  throw new Error(
    `The bundle of the commits has more than ${maxStagedBytes} bytes, the maximum for commits awaiting approval.`,
  );
}

/**
 * Pushes the branch; commits of a person on the branch are never overwritten. @param pushed The commit of the branch,
 * as the mission knows it; empty for none
 */
async function push(mirror: string, origin: Origin, work: string, pushed: string): Promise<void> {
  const ref = `refs/heads/${origin.branch}`;
  const lease = `--force-with-lease=${ref}:${pushed}`;
  try {
    await git(mirror, ['push', '--quiet', lease, origin.url, `${work}:${ref}`], { remote: origin });
  } catch (error) {
    throw await pushRefusal(mirror, origin, error as Error);
  }
}

/** Describes a rejected push for people; returns other errors unchanged. */
async function pushRefusal(mirror: string, origin: Origin, error: Error): Promise<Error> {
  const { branch, url } = origin;
  const kept = 'The commits of the agent are not pushed; the checkpoint of the run has them.';
  const declined = /\[remote rejected\].*\((.*)\)/.exec(error.message)?.[1];
  if (declined) {
    const words = [...error.message.matchAll(/^(?:git push: )?remote: *(\S.*)$/gm)].map(([, line]) => line!.trim());
    return new Error(`The source host refuses pushes to ${branch} (${[declined, ...words].join('; ')}). ${kept}`);
  }
  if (!/\[rejected\]/.test(error.message)) return error;
  const found = await git(mirror, ['ls-remote', url, `refs/heads/${branch}`], { remote: origin });
  const [sha] = found.split('\t', 1);
  const changed = sha ? `Somebody has pushed to ${branch}, which is now at ${sha},` : `Somebody has deleted ${branch}`;
  return new Error(`${changed} while the agent worked. ${kept}`);
}

async function fetchMirror(mirror: string, globalConfig: string, origin: Origin): Promise<void> {
  await mkdir(mirror, { recursive: true, mode: 0o700 });
  // The checkout belongs to another user: without this setting, git and its upload-pack would refuse to work in it.
  await replaceFile(globalConfig, '[safe]\n\tdirectory = *\n');
  await git(mirror, ['init', '--quiet', '--bare']);
  await git(mirror, ['fetch', '--quiet', '--prune', origin.url, '+refs/heads/*:refs/origin/*'], { remote: origin });
}

/** Replaces a file as a whole, because the git of another mission may be reading it. */
async function replaceFile(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}

/**
 * Fetches the checkpoint into the mirror. Returns the reason if the checkpoint cannot be used. One such reason is that somebody else has
 * pushed commits to the branch since the checkpoint was taken: these commits are kept, and not the checkpoint.
 */
async function take(mirror: string, checkpoint: Bundle, begun: string | null): Promise<true | string> {
  try {
    await alone(mirror, () => unpack(mirror, checkpoint));
    const head = await commitOf(mirror, `${workOf(checkpoint)}^`);
    if (!head) return 'it is not based on a commit';
    if (begun) await git(mirror, ['merge-base', '--is-ancestor', begun, head]);
    return true;
  } catch (error) {
    const { message } = error as Error;
    return message.startsWith('git merge-base') ? 'the branch now has other commits' : message;
  }
}

/**
 * Rejects a checkout whose repository borrows objects from another repository on this machine, which the runner can read but the agent must
 * not read.
 */
async function checkIsOrdinary(checkout: string): Promise<void> {
  const gitFolder = path.join(checkout, '.git');
  const isFolder = await lstat(gitFolder).then((entry) => entry.isDirectory());
  const entries = isFolder ? await readdir(gitFolder, { recursive: true, withFileTypes: true }) : [];
  const borrows = entries.some((entry) => !(entry.isFile() || entry.isDirectory()) || borrowing.has(entry.name));
  if (!isFolder || borrows)
    throw new Error('The checkout is no longer an independent git repository, so its changes are not read.');
}

const borrowing: ReadonlySet<string> = new Set(['alternates', 'http-alternates', 'commondir', 'gitdir']);

const last = new Map<string, Promise<unknown>>();

/** Serializes work on the same mirror. */
function alone<T>(mirror: string, work: () => Promise<T>): Promise<T> {
  const mine = (last.get(mirror) ?? Promise.resolve()).then(work, work);
  const settled = mine.catch(() => {}).finally(() => last.get(mirror) === settled && last.delete(mirror));
  last.set(mirror, settled);
  return mine;
}
