// Backup and restore of an embedded database: PostgreSQL's low-level backup API (manual, 25.3.3), because the embedded package has no
// pg_basebackup. Writers continue during the backup; every row committed before its end is included.
import { existsSync } from 'node:fs';
import { chown, copyFile, mkdir, open, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import type { DatabaseConnection } from './embedded/database.ts';
import { locateFiles, moveIntoPlace, type OsAccount } from './embedded/files.ts';
import { takeOwnership } from './embedded/owner.ts';

/** Folders that the server creates again; the manual says to omit their content. `pg_wal` is copied separately, last. */
const emptyFolders =
  /^(pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)$|(^|\/)pgsql_tmp/;
const leftOut = /^postmaster\.(pid|opts)$|(^|\/)pg_internal\.init/;

export interface Backup {
  folder: string;
  milliseconds: number;
}

export interface RestoreOptions {
  /** Checks the backup before anything is written; throws to refuse it. */
  check?: (folder: string) => Promise<void>;
  /**
   * Restores the other files of the backup. The database is moved to its final folder only afterwards, so that a restore that has failed
   * can be repeated.
   */
  complete?: () => Promise<void>;
}

export interface BackupOptions {
  /** Adds the other files of the backup to its folder, after the database. */
  complete?: (partial: string) => Promise<void>;
  /** Aborts the copy, which then throws. */
  signal?: AbortSignal;
}

/**
 * Copies the cluster whose data folder is `data` into the new folder `target`, which has this name only once it is complete. The copy
 * includes the password, and needs the same protection as the original. Without a data folder, the database is not embedded and cannot be
 * copied.
 */
export async function backUp(
  connection: DatabaseConnection,
  data: string | undefined,
  target: string,
  { complete, signal }: BackupOptions = {},
): Promise<Backup> {
  if (data === undefined) {
    throw new Error(
      'This database is not embedded (DATABASE_URL is set): back it up with its own tools, such as pg_dump, pg_basebackup or those of its provider.',
    );
  }
  if (existsSync(target)) throw new Error(`${target} already exists: name a folder that does not exist yet`);
  const begun = performance.now();
  const partial = `${target}.partial`;
  try {
    await copyCluster(connection, data, path.join(partial, 'data'), signal);
    await copyFileDurably(path.join(path.dirname(data), 'password'), path.join(partial, 'password'));
    await complete?.(partial);
    moveIntoPlace(partial, target);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
  return { folder: target, milliseconds: Math.round(performance.now() - begun) };
}

async function copyCluster(
  connection: DatabaseConnection,
  data: string,
  copy: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const client = new pg.Client({ ...connection, application_name: 'backup' });
  // An unhandled connection error would end the process; the next statement fails anyway.
  client.on('error', () => {});
  await client.connect();
  try {
    await rm(path.dirname(copy), { recursive: true, force: true });
    await mkdir(copy, { recursive: true, mode: 0o700 });
    // The slot keeps the WAL that the copy needs until this session ends.
    await client.query("select pg_create_physical_replication_slot('backup_' || pg_backend_pid(), true, true)");
    await client.query("select pg_backup_start('agent-engineering-platform', fast => true)");
    const rules = { skip: (name: string) => leftOut.test(name), hollow: (name: string) => emptyFolders.test(name) };
    await copyTree(data, copy, { ...rules, mayVanish: true, signal });
    const { rows } = await client.query(
      `select labelfile, spcmapfile, pg_walfile_name(lsn) as last, substring(labelfile from '\\(file ([0-9A-F]{24})\\)') as first
         from pg_backup_stop(wait_for_archive => false)`,
    );
    const { labelfile, spcmapfile, first, last } = rows[0];
    if (spcmapfile) throw new Error('this database has tablespaces outside its folder, which a backup would miss');
    await writeFile(path.join(copy, 'backup_label'), labelfile, { mode: 0o600, flush: true });
    const needed = (name: string) => /^[0-9A-F]{24}$/.test(name) && first <= name && name <= last;
    await copyTree(path.join(data, 'pg_wal'), path.join(copy, 'pg_wal'), { skip: (name) => !needed(name), signal });
  } finally {
    await client.end();
  }
}

/**
 * Restores a backup into `home`.
 * @throws when `home` already contains a database
 */
export async function restore(
  folder: string,
  home: string,
  { check, complete }: RestoreOptions = {},
): Promise<{ data: string }> {
  const from = path.join(folder, 'data');
  if (!existsSync(path.join(from, 'backup_label'))) throw new Error(`${folder} does not contain a complete backup`);
  await check?.(folder);
  const files = locateFiles(home);
  const release = await takeOwnership(files.folder);
  try {
    if (existsSync(files.data)) throw new Error(`${files.folder} already contains a database: choose an empty folder`);
    const newFolder = `${files.data}.new`;
    await rm(newFolder, { recursive: true, force: true });
    await copyTree(from, newFolder, { account: files.account });
    await copyFileDurably(path.join(folder, 'password'), files.passwordFile);
    await complete?.();
    moveIntoPlace(newFolder, files.data);
    return { data: files.data };
  } finally {
    release();
  }
}

interface CopyRules {
  /** Whether a file or folder is left out of the copy; `name` is its path below the copied folder. */
  skip?: (name: string) => boolean;
  /** Folders that are created but stay empty. */
  hollow?: (name: string) => boolean;
  /** Whether missing files are ignored: a running database may remove files during the copy, and the WAL restores those it needs. */
  mayVanish?: boolean;
  signal?: AbortSignal | undefined;
  account?: OsAccount | undefined;
}

async function copyTree(from: string, to: string, rules: CopyRules, inside = ''): Promise<void> {
  await mkdir(path.join(to, inside), { recursive: true, mode: 0o700 });
  if (rules.account) await chown(path.join(to, inside), rules.account.uid, rules.account.gid);
  if (rules.hollow?.(inside)) return;
  const entries = await readdir(path.join(from, inside), { withFileTypes: true }).catch(forgive(rules, []));
  const files: string[] = [];
  for (const entry of entries) {
    const name = path.posix.join(inside, entry.name);
    if (entry.isDirectory()) await copyTree(from, to, rules, name);
    else if (!rules.skip?.(name)) files.push(name);
  }
  // Files are copied in batches: a folder may hold more files than a process can open.
  while (files.length > 0) {
    rules.signal?.throwIfAborted();
    const copies = files
      .splice(0, 16)
      .map((name) => copyFileDurably(path.join(from, name), path.join(to, name), rules));
    await Promise.all(copies);
  }
}

async function copyFileDurably(from: string, to: string, rules: CopyRules = {}): Promise<void> {
  const copied = await copyFile(from, to).then(() => true, forgive(rules, false));
  if (!copied) return;
  if (rules.account) await chown(to, rules.account.uid, rules.account.gid);
  const file = await open(to, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

const forgive =
  <T>({ mayVanish }: CopyRules, instead: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (mayVanish && error.code === 'ENOENT') return instead;
    throw error;
  };
