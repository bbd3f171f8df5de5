// Prepared environments: files that a setup wrote to the checkout and the home, kept by the runner for later missions
// of the same organization and key. No organization gets files of another organization.
import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { lstat, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { packageCaches } from '../isolation/package-caches.ts';

export interface PreparedSettings {
  /** Folder of the entries, which only the runner uses. */
  folder: string;
  keepMs: number;
  maxBytes: number;
}

/** Folders that a mission works in. */
export interface Workplace {
  work: string;
  home: string;
}

interface Manifest {
  /** Paths of the stored files, in the checkout and in the home. */
  work: readonly string[];
  home: readonly string[];
  seconds: number;
  bytes: number;
  /** Placeholders by the names of their secrets. The setup may have written these placeholders into files. */
  placeholders?: Record<string, string>;
}

/** A successful setup. `work` lists the untracked paths of the checkout. */
export type Setup = Pick<Manifest, 'work' | 'seconds' | 'placeholders'>;

/**
 * Paths in the home directory that are not kept for other missions, because they contain files that harnesses and checkpoints create for
 * one mission.
 */
const ofMission = ['tmp', '.codex', '.claude', 'checkpoint.git'];
/** Recently used entries are not removed, because a mission may be copying them. */
const busyMs = 10 * 60_000;

const run = promisify(execFile);
/** Copies a tree with its attributes and links, and shares blocks if the file system can. */
const copy = (from: string, to: string) => run('cp', ['-a', '--reflink=auto', '-T', '--', from, to]);
const copyPlain = (from: string, to: string) => run('cp', ['-a', '--', from, to]);
const copyTree = process.platform === 'linux' ? copy : copyPlain;

const isFolder = (file: string): Promise<boolean> =>
  lstat(file).then(
    (entry) => entry.isDirectory(),
    () => false,
  );
const isThere = (file: string): Promise<boolean> =>
  lstat(file).then(
    () => true,
    () => false,
  );

/** Whether every part of the path is a folder: a link could lead out of the tree. */
async function isOrdinary(root: string, file: string): Promise<boolean> {
  const names = path
    .dirname(file)
    .split('/')
    .filter((name) => name !== '.');
  let at = root;
  for (const name of names) {
    at = path.join(at, name);
    if (!(await isFolder(at))) return false;
  }
  return true;
}

const isPlain = (file: string): boolean =>
  file !== '' && !path.isAbsolute(file) && !file.split('/').some((name) => ['', '.', '..', '.git'].includes(name));

/**
 * Copies the paths `files` from one folder to another. Programs of a mission may have put anything into the folders, but none of these
 * programs is still running. Existing files are kept.
 */
async function copyPaths(from: string, to: string, files: readonly string[]): Promise<void> {
  for (const file of files) {
    if (!isPlain(file) || !(await isOrdinary(from, file)) || !(await isThere(path.join(from, file)))) continue;
    await mkdirOrdinary(to, path.dirname(file));
    if (!(await isOrdinary(to, file)) || (await isThere(path.join(to, file)))) continue;
    await copyTree(path.join(from, file), path.join(to, file));
  }
}

async function mkdirOrdinary(root: string, folder: string): Promise<void> {
  let at = root;
  for (const name of folder.split('/').filter((one) => one !== '.')) {
    at = path.join(at, name);
    if (!(await isThere(at))) await mkdir(at, { mode: 0o755 });
    else if (!(await isFolder(at))) return;
  }
}

const bytesOf = async (folder: string): Promise<number> =>
  Number.parseInt((await run('du', ['-sk', folder])).stdout, 10) * 1_024;

export type PreparedStore = ReturnType<typeof openPrepared>;

export function openPrepared(settings: PreparedSettings) {
  const entryOf = (orgId: string, key: string) => path.join(settings.folder, orgId, key);
  const cacheOf = (orgId: string) => path.join(settings.folder, orgId, 'caches');
  return {
    /** Restores the files of an entry. @returns the setup that prepared it; null if there is no entry */
    restore: (orgId: string, key: string, to: Workplace) => restore(entryOf(orgId, key), to),
    /** Copies the downloads of earlier setups of the organization into the home of the next one. */
    seed: (orgId: string, home: string) =>
      withEntryLock(cacheOf(orgId), async () => {
        const now = new Date();
        // The new modification time protects the cache from removal while it is being copied.
        await utimes(cacheOf(orgId), now, now).catch(() => {});
        await copyPaths(cacheOf(orgId), home, packageCaches);
      }),
    /** Stores the files that a setup has created, and its downloads. @returns their size in bytes */
    async keep(orgId: string, key: string, from: Workplace, setup: Setup) {
      const bytes = await keep(entryOf(orgId, key), from, setup);
      await withEntryLock(cacheOf(orgId), () =>
        replace(cacheOf(orgId), (fresh) => copyPaths(from.home, fresh, packageCaches)),
      );
      return bytes;
    },
    /** Stores the files that a setup has created. Unlike `keep`, does not store the packages that the setup has downloaded into caches. */
    keepTree: (orgId: string, key: string, from: Workplace, setup: Setup) => keep(entryOf(orgId, key), from, setup),
    sweep: () => sweep(settings),
    /** Runs the work exclusively per key, even among several runners on this machine. */
    alone: <T>(orgId: string, key: string, work: () => Promise<T>): Promise<T> =>
      withEntryLock(entryOf(orgId, key), work),
  };
}

async function restore(entry: string, { work, home }: Workplace): Promise<Manifest | null> {
  const text = await readFile(path.join(entry, 'manifest.json'), 'utf8').catch(() => null);
  if (text === null) return null;
  const manifest: Manifest = JSON.parse(text);
  const now = new Date();
  await utimes(entry, now, now);
  await copyPaths(path.join(entry, 'work'), work, manifest.work);
  await copyPaths(path.join(entry, 'home'), home, manifest.home);
  return manifest;
}

async function keep(entry: string, { work, home }: Workplace, setup: Setup): Promise<number> {
  const inHome = (await readdir(home)).filter((name) => !ofMission.includes(name));
  let bytes = 0;
  await replace(entry, async (fresh) => {
    for (const name of ['work', 'home']) await mkdir(path.join(fresh, name), { mode: 0o700 });
    await copyPaths(work, path.join(fresh, 'work'), setup.work);
    await copyPaths(home, path.join(fresh, 'home'), inHome);
    bytes = await bytesOf(fresh);
    const manifest: Manifest = { ...setup, home: inHome, bytes };
    await writeFile(path.join(fresh, 'manifest.json'), JSON.stringify(manifest));
  });
  return bytes;
}

/** Creates a folder atomically. */
async function replace(entry: string, fill: (fresh: string) => Promise<void>): Promise<void> {
  const fresh = `${entry}.${randomUUID()}`;
  try {
    await mkdir(fresh, { recursive: true, mode: 0o700 });
    await fill(fresh);
    await remove(entry);
    await rename(fresh, entry);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

async function remove(entry: string): Promise<void> {
  const gone = `${entry}.${randomUUID()}`;
  await rename(entry, gone).catch(() => {});
  await rm(gone, { recursive: true, force: true });
}

/** Removes entries that were not used for a long time, then the least recently used ones until the size limit is met. */
async function sweep({ folder, keepMs, maxBytes }: PreparedSettings): Promise<void> {
  const entries: { entry: string; usedAt: number; bytes: number }[] = [];
  for (const orgId of await readdir(folder).catch(() => []))
    for (const name of await readdir(path.join(folder, orgId)).catch(() => [])) {
      const entry = path.join(folder, orgId, name);
      if (!(await isFolder(entry))) continue;
      entries.push({ entry, usedAt: (await stat(entry)).mtimeMs, bytes: await bytesOf(entry).catch(() => 0) });
    }
  const now = Date.now();
  let total = 0;
  for (const { entry, usedAt, bytes } of entries.sort((a, b) => b.usedAt - a.usedAt)) {
    total += bytes;
    const isUnwanted = usedAt < now - keepMs || total > maxBytes;
    if (isUnwanted && usedAt < now - busyMs) await remove(entry);
  }
}

const last = new Map<string, Promise<unknown>>();

/** Serializes the work on an entry: by a queue within this process, by a lock between processes. */
function withEntryLock<T>(entry: string, work: () => Promise<T>): Promise<T> {
  const mine = (last.get(entry) ?? Promise.resolve()).then(() => locked(entry, work));
  const settled = mine.catch(() => {}).finally(() => last.get(entry) === settled && last.delete(entry));
  last.set(entry, settled);
  return mine;
}

async function locked<T>(entry: string, work: () => Promise<T>): Promise<T> {
  await mkdir(path.dirname(entry), { recursive: true, mode: 0o700 });
  const release = await lock(`${entry}.lock`);
  try {
    return await work();
  } finally {
    await release();
  }
}

/** flock(1) holds the file until its input ends, even when this process is killed. Without flock, runners do not wait for each other. */
async function lock(file: string): Promise<() => Promise<void>> {
  const holder = spawn('flock', [file, 'sh', '-c', 'echo held; cat >/dev/null'], { stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = new Promise<void>(
    (resolve) => void holder.once('exit', () => resolve()).once('error', () => resolve()),
  );
  holder.stdin.on('error', () => {});
  await Promise.race([once(holder.stdout, 'data').catch(() => {}), ended]);
  return async () => {
    holder.stdin.end();
    await ended;
  };
}
