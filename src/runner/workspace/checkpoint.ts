// Checkpoints: all files of a workspace as one commit, and the session files of its harnesses as another commit, in one git bundle. They
// are created in the agent's cell: outside the cell, git never runs in files that an agent could change.
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, open, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { openInside } from '../isolation/inside.ts';
import type { RunScript } from '../isolation/isolation.ts';
import type { Place } from '../isolation/place.ts';
import { git } from './git.ts';

/** Maximum size of a checkpoint, below the 512 MiB that the platform accepts. */
const maxBundleBytes = 256 * 1024 * 1024;
const timeoutMs = 120_000;

/**
 * Files that git ignores are not included. The agent may keep working meanwhile, because the index and the branch of the checkout are not
 * changed.
 */
const script = `set -e
out=$1 base=$2
export GIT_AUTHOR_NAME=Checkpoint GIT_AUTHOR_EMAIL=checkpoint@localhost
export GIT_COMMITTER_NAME=Checkpoint GIT_COMMITTER_EMAIL=checkpoint@localhost
if [ -d .git ]; then GIT_DIR=$PWD/.git; else GIT_DIR=$HOME/checkpoint.git; [ -d "$GIT_DIR" ] || git init -q --bare "$GIT_DIR"; fi
export GIT_DIR GIT_INDEX_FILE=$HOME/tmp/checkpoint.index
head=$(git rev-parse -q --verify 'HEAD^{commit}' || true)
[ ! -f "$GIT_DIR/index" ] || cp "$GIT_DIR/index" "$GIT_INDEX_FILE"
GIT_WORK_TREE=$PWD git add -A .
tree=$(git write-tree)
git update-ref refs/checkpoint/work "$(git commit-tree "$tree" \${head:+-p "$head"} -m Checkpoint)"
GIT_INDEX_FILE=$HOME/tmp/sessions.index
rm -f "$GIT_INDEX_FILE"
for folder in .claude/projects .codex/sessions; do
  [ ! -d "$HOME/$folder" ] || (cd "$HOME" && GIT_WORK_TREE=$HOME git add -Af "$folder")
done
sessions=$(git write-tree)
git update-ref refs/checkpoint/sessions "$(git commit-tree "$sessions" -m Sessions)"
rm -f "$out"
git bundle create -q "$out" refs/checkpoint/work refs/checkpoint/sessions \${base:+"^$base"}
echo "$tree $head $sessions"`;

export interface CheckpointBundle {
  commitSha: string;
  /** File with the bundle; the caller removes it. */
  file: string;
  /** Digest of the content: if nothing has changed since the last checkpoint, it has the same digest. */
  state: string;
  /** The id of the tree of all files. */
  tree: string;
}

/**
 * Bundles the workspace and the session files. @param base A commit that the repository of the project has: the bundle begins after it.
 * @param folder Folder of the runner, for the bundle. @throws when the workspace is too large, or cannot be read
 */
export async function takeCheckpoint(
  run: RunScript,
  place: Place,
  base: string | null,
  folder: string,
): Promise<CheckpointBundle> {
  const made = `${place.root}/checkpoint.bundle`;
  const state = await run(script, [made, base ?? ''], timeoutMs);
  const file = path.join(folder, `${randomUUID()}.bundle`);
  try {
    await copyInside(place.root, made, file);
    const heads = await git(folder, ['bundle', 'list-heads', file]);
    const commitSha = /^([0-9a-f]{40,64}) refs\/checkpoint\/work$/m.exec(heads)?.[1];
    if (!commitSha) throw new Error('the workspace contains no files');
    return { commitSha, file, state, tree: state.split(' ', 1)[0]! };
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
}

async function copyInside(folder: string, from: string, to: string): Promise<void> {
  const source = await openInside(folder, from);
  try {
    if ((await source.stat()).size > maxBundleBytes) throw new Error('the workspace is too large');
    await pipeline(
      source.createReadStream({ autoClose: false, end: maxBundleBytes }),
      createWriteStream(to, { flags: 'wx', mode: 0o600 }),
    );
  } finally {
    await source.close();
  }
}

/** A downloaded bundle. */
export interface Bundle {
  file: string;
  commitSha: string;
}

const nameOf = ({ file }: Bundle): string => path.basename(file, '.bundle');
export const workOf = (bundle: Bundle): string => `refs/checkpoints/${nameOf(bundle)}`;
const sessionsOf = (bundle: Bundle): string => `refs/sessions/${nameOf(bundle)}`;

/** Refuses a file that is not a bundle: git would treat a folder at this path as a repository, which could refer to other repositories. */
async function checkIsBundle(file: string): Promise<void> {
  const handle = await open(file);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(16), 0, 16, 0).finally(() => handle.close());
  if (!/^# v[23] git bundle\n/.test(buffer.toString('latin1', 0, bytesRead)))
    throw new Error('the file is not a git bundle');
}

/** Fetches the bundle into a repository of the runner. @throws when the repository lacks commits on which the bundle is based */
export async function unpack(repository: string, bundle: Bundle): Promise<void> {
  await checkIsBundle(bundle.file);
  const refs = [`+refs/checkpoint/work:${workOf(bundle)}`, `+refs/checkpoint/sessions:${sessionsOf(bundle)}`];
  await git(repository, ['fetch', '--quiet', '--no-tags', bundle.file, ...refs]);
  const commit = (await git(repository, ['rev-parse', workOf(bundle)])).trim();
  if (commit !== bundle.commitSha) throw new Error('the bundle contains a different commit than expected');
}

/** Removes the bundle and its git refs in the repository. */
export async function forget(repository: string | null, bundle: Bundle): Promise<void> {
  await rm(bundle.file, { force: true });
  if (!repository) return;
  for (const ref of [workOf(bundle), sessionsOf(bundle)]) await git(repository, ['update-ref', '-d', ref]);
}

/** Writes the files without a repository, for a project that has none. */
export async function writeFiles(repository: string, bundle: Bundle, folder: string): Promise<void> {
  const where = ['--git-dir', repository, '--work-tree', folder];
  await git(repository, [...where, 'read-tree', '--reset', '-u', workOf(bundle)]);
}

/** Writes session files into the home of the harnesses, in the layout that they expect. @returns the ids of the sessions */
export async function writeSessions(repository: string, bundle: Bundle, { home, work }: Place): Promise<string[]> {
  const listed = await git(repository, ['ls-tree', '-r', '-z', '--name-only', sessionsOf(bundle)]);
  const ids: string[] = [];
  for (const name of listed.split('\0')) {
    const session = sessionOf(name, work);
    if (!session) continue;
    const file = path.join(home, session.file);
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    const content = await git(repository, ['cat-file', 'blob', `${sessionsOf(bundle)}:${name}`]);
    await writeFile(file, content, { flag: 'wx', mode: 0o600 });
    ids.push(session.id);
  }
  return ids;
}

/** Claude Code reads only the sessions of its working folder, stored under that folder's name; Codex reads all sessions. */
function sessionOf(name: string, work: string): { id: string; file: string } | null {
  const claude = /^\.claude\/projects\/[^/]+\/([\w-]+)\.jsonl$/.exec(name)?.[1];
  if (claude) return { id: claude, file: `.claude/projects/${work.replace(/[^a-zA-Z0-9]/g, '-')}/${claude}.jsonl` };
  const codex =
    /^\.codex\/sessions\/(?:\d+\/)*rollout-[\w:.-]*?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/.exec(name);
  return codex && { id: codex[1]!, file: name };
}
