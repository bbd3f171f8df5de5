// Confines missions that run without containers. If the runner is root, each mission runs as a separate user. In addition, bubblewrap or
// unshare(1) creates kernel namespaces, so that a mission has its own processes, network and files. Scripts run unconfined if the operator
// chooses so, or if neither bubblewrap nor unshare(1) works on this machine.
import { execFile, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readlink, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Account } from '../contract.ts';
import { inBareCell } from './cell.ts';
import { makePlace, type Place } from './place.ts';

const kinds = ['bubblewrap', 'unshare', 'none'] as const;
export type Kind = (typeof kinds)[number];

export interface Confinement {
  kind: Kind;
  /** Description of the script's access, for the log and for each sandbox. */
  description: string;
}

/** Paths that every script may read: programs, libraries and their settings. The folder of Node.js may be elsewhere. */
const system = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/etc', '/opt', '/nix/store'];
const readable = [...system, path.dirname(process.execPath)];

/** Returns the command with a prefix: the first word of the prefix becomes the program. */
export const withPrefix = (prefix: string[], program: string, args: string[]): [program: string, args: string[]] => {
  const [first, ...rest] = prefix;
  return first ? [first, [...rest, program, ...args]] : [program, args];
};

/**
 * Shell script for new namespaces: makes the folder $1 the root, with only the files that a mission may see, drops every capability, and
 * runs the program.
 */
const unshared = `set -e
root=$1 work=$2 writable=$3 readable=$4; shift 4
mount -t tmpfs -o mode=755,nosuid,nodev,size=256m tmpfs "$root"
show() {
  if [ -d "$1" ]; then mkdir -p "$root$1"; else mkdir -p "$root\${1%/*}"; : > "$root$1"; fi
  mount --rbind "$1" "$root$1"
}
for folder in $readable; do
  [ -e "$folder" ] && [ ! -e "$root$folder" ] || continue
  show "$folder"
  mount -o remount,bind,ro,nosuid,nodev "$root$folder"
done
for device in null zero full random urandom tty; do show "/dev/$device"; done
ln -s /proc/self/fd "$root/dev/fd"
mkdir -p "$root/proc" "$root/old"; mkdir -p -m 1777 "$root/tmp"
mount -t proc proc "$root/proc"
for folder in $writable; do show "$folder"; done
cd "$root"
pivot_root . old
umount -l /old
cd "$work"
setpriv --no-new-privs --inh-caps=-all --bounding-set=-all -- "$@"`;

/**
 * Returns the command line that runs `command` in the confinement. If `command` is absent, the command line runs the script `place.file` of the
 * mission folder. Inside the confinement, the words of `prefix` come before `command`.
 */
export function commandFor(
  kind: Kind,
  place: Place,
  prefix: string[] = [],
  command: string[] = ['sh', place.file],
): [program: string, args: string[]] {
  const { file, work, home, artifacts, root } = place;
  switch (kind) {
    case 'bubblewrap':
      return inBareCell(place, prefix, command);
    case 'unshare': {
      const namespaces = ['--user', '--map-root-user', '--mount', '--pid', '--fork', '--kill-child', '--net', '--ipc'];
      // The shell splits these strings at spaces. The names of the folders contain no spaces.
      const view = [root, work, [file, work, home, artifacts].join(' '), readable.join(' ')];
      return ['unshare', [...namespaces, '--', 'sh', '-c', unshared, 'sh', ...view, ...prefix, ...command]];
    }
    case 'none':
      return withPrefix(prefix, command[0]!, command.slice(1));
  }
}

/** Whether this confinement works here: runs a script that checks that its network is separate. */
export async function isOffered(kind: Kind): Promise<boolean> {
  if (kind === 'none') return true;
  if (process.platform !== 'linux') return false;
  const account = await newAccount();
  const place = await makePlace(
    `[ "$(readlink /proc/self/ns/net)" != '${await readlink('/proc/self/ns/net')}' ]`,
    account,
  );
  try {
    const [program, args] = commandFor(kind, place);
    const env = { PATH: process.env.PATH ?? '' };
    const child = spawn(program, args, { ...account, cwd: place.work, env, detached: true, stdio: 'ignore' });
    const [code] = await once(child, 'exit');
    return code === 0;
  } catch {
    return false;
  } finally {
    await place.remove();
  }
}

/** The strongest available confinement. @throws when `wanted` names an unavailable one */
export async function chooseConfinement(
  wanted = 'auto',
  isRoot = process.getuid?.() === 0,
  offered = isOffered,
): Promise<Confinement> {
  const candidates = kinds.filter((kind) => wanted === 'auto' || kind === wanted);
  if (candidates.length === 0) throw new Error(`CONFINEMENT: must be auto, ${kinds.join(', ')}.`);
  for (const kind of candidates) if (await offered(kind)) return { kind, description: describe(kind, isRoot) };
  throw new Error(`CONFINEMENT: ${wanted} does not work on this machine.`);
}

function describe(kind: Kind, isRoot: boolean): string {
  const user = isRoot ? 'a user of their own' : 'the user of this runner';
  if (kind !== 'none') {
    const network = kind === 'bubblewrap' ? 'no network but the hosts of their environment' : 'no network';
    return `Scripts run as ${user}, confined by ${kind}: ${network}, no other processes, no files but system programs and their own.`;
  }
  const reach = isRoot
    ? 'they can use the network and read what every user of this machine can read'
    : "they can use the network and read everything that this user can read, such as the service key and this runner's token";
  return `Scripts run as ${user} and are NOT confined (neither bubblewrap nor user namespaces work here): ${reach}.`;
}

/** User ids that systemd reserves for users without an account. */
const ids = { first: 61_184, last: 65_519 };
// The first id is random, so that two runners on one machine use different ones.
let nextId = randomInt(ids.first, ids.last + 1);

/**
 * Returns an OS account under which no process runs; each call returns another account. Undefined unless the runner is root, because only
 * root can switch accounts.
 */
export async function newAccount(): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const running = await usersOfProcesses();
  for (;;) {
    const id = nextId;
    nextId = id < ids.last ? id + 1 : ids.first;
    if (running.has(id)) continue;
    const isTaken = await promisify(execFile)('id', [String(id)]).then(
      () => true,
      () => false,
    );
    if (!isTaken) return { uid: id, gid: id };
  }
}

/** The users of running processes; empty without /proc. */
async function usersOfProcesses(): Promise<Set<number>> {
  const processes = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const users = processes.map((pid) =>
    stat(`/proc/${pid}`).then(
      ({ uid }) => uid,
      () => 0,
    ),
  );
  return new Set(await Promise.all(users));
}

/** Makes the account the owner of a folder and its content. Without an account, the runner keeps the folder. */
export async function chownRecursive(folder: string, account: Account | undefined): Promise<void> {
  if (account) await promisify(execFile)('chown', ['-R', `${account.uid}:${account.gid}`, folder]);
}
