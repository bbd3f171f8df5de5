// Isolation of scripts without containers: bubblewrap or unshare(1) creates kernel namespaces, so that a mission has its own processes, network
// and files. Scripts run without isolation if the operator chooses so, or if neither bubblewrap nor unshare(1) works on this machine.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readlink } from 'node:fs/promises';
import path from 'node:path';
import { newAccount } from './accounts.ts';
import { inBareCell } from './cell.ts';
import type { Isolation, Level } from './level.ts';
import { makePlace, type Place } from './place.ts';

/** Values of CONFINEMENT except `auto`, the strongest isolation first, and their levels. */
const levels = { bubblewrap: 'cell', unshare: 'unshare', none: 'none' } as const;
type Setting = keyof typeof levels;

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
 * Returns the command line that runs `command` at this level of isolation. If `command` is absent, the command line runs the script
 * `place.file` of the mission folder. Inside the isolation, the words of `prefix` come before `command`. The level `container` adds nothing,
 * because the engine isolates the command.
 */
export function commandFor(
  level: Level,
  place: Place,
  prefix: string[] = [],
  command: string[] = ['sh', place.file],
): [program: string, args: string[]] {
  const { file, work, home, artifacts, root } = place;
  switch (level) {
    case 'cell':
      return inBareCell(place, prefix, command);
    case 'unshare': {
      const namespaces = ['--user', '--map-root-user', '--mount', '--pid', '--fork', '--kill-child', '--net', '--ipc'];
      // The shell splits these strings at spaces. The names of the folders contain no spaces.
      const view = [root, work, [file, work, home, artifacts].join(' '), readable.join(' ')];
      return ['unshare', [...namespaces, '--', 'sh', '-c', unshared, 'sh', ...view, ...prefix, ...command]];
    }
    case 'container':
    case 'none':
      return withPrefix(prefix, command[0]!, command.slice(1));
  }
}

/** Whether an isolation of this level works here: runs a script that checks that its network is separate. */
export async function isOffered(level: Exclude<Level, 'container'>): Promise<boolean> {
  if (level === 'none') return true;
  if (process.platform !== 'linux') return false;
  const account = await newAccount();
  const place = await makePlace(
    `[ "$(readlink /proc/self/ns/net)" != '${await readlink('/proc/self/ns/net')}' ]`,
    account,
  );
  try {
    const [program, args] = commandFor(level, place);
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

/**
 * The isolation that the setting CONFINEMENT names or, with `auto`, the strongest one that works on this machine. @throws when `wanted` is not
 * available
 */
export async function chooseScriptIsolation(
  wanted = 'auto',
  isRoot = process.getuid?.() === 0,
  offered = isOffered,
): Promise<Isolation> {
  const settings = Object.keys(levels) as Setting[];
  const candidates = settings.filter((setting) => wanted === 'auto' || setting === wanted);
  if (candidates.length === 0) throw new Error(`CONFINEMENT: must be auto, ${settings.join(', ')}.`);
  for (const setting of candidates) {
    const level = levels[setting];
    if (await offered(level)) return { level, description: describe(setting, isRoot, wanted) };
  }
  throw new Error(`CONFINEMENT: ${wanted} does not work on this machine.`);
}

function describe(setting: Setting, isRoot: boolean, wanted: string): string {
  const user = isRoot ? 'a user of their own' : 'the user of this runner';
  if (setting !== 'none') {
    const network = setting === 'bubblewrap' ? 'no network but the hosts of their environment' : 'no network';
    return `Scripts run as ${user}, isolated by ${setting}: ${network}, no other processes, no files but system programs and their own.`;
  }
  const reach = isRoot
    ? 'they can use the network and read what every user of this machine can read'
    : "they can use the network and read everything that this user can read, such as the service key and this runner's token";
  const reason = wanted === 'none' ? 'CONFINEMENT=none' : 'neither bubblewrap nor user namespaces work here';
  return `Scripts run as ${user} and are NOT isolated (${reason}): ${reach}.`;
}
