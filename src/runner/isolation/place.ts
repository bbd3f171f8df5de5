// The place of a mission: a separate folder. When the runner ends, even by SIGKILL, a watchdog removes the folder and ends the mission's
// processes; it also removes temporary folders of the runner.
import { spawn } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Trust } from '../network/trust.ts';
import { engineEnvironment } from './engine.ts';

export interface TemporaryFolder {
  /** The mission's folder, as a real path. */
  folder: string;
  /**
   * Tells the watchdog which processes and containers it must end when the folder is removed. The latest call replaces earlier ones.
   * @param groups The process groups that the watchdog kills. Undefined or 0 means none.
   * @param around Either `cgroup` and the folder of a cgroup, whose processes the watchdog kills; or the program of a container engine and
   * the names of containers, which the watchdog removes in this order. All words are separated by spaces.
   */
  guard(groups: number | readonly number[] | undefined, around?: string): void;
  remove(): Promise<void>;
}

export interface Place extends TemporaryFolder {
  /** The file of the script. */
  file: string;
  /** Working folder of the script. */
  work: string;
  /** Whether cells and containers mount `work` read-only. */
  isReadOnly?: boolean;
  artifacts: string;
  /**
   * The home directory of a harness, with its settings, its sessions and the folders that drivers use. After the agent has begun, the
   * runner writes nothing into the home directory.
   */
  home: string;
  /** Folder of the skills. The runner owns it; it has one folder per step, which the agent owns. */
  skills: string;
  /** Certificate authorities that missions may read; null means only the authorities of the system or image. */
  trust: Trust | null;
  /** An empty folder: for the root file system of a script in `unshare`, or for the sockets of an agent. */
  root: string;
}

// The watchdog reads process groups from a pipe, and ends them when the runner closes the other end. `rm` follows no links, even if one is
// created concurrently. A container whose network is used by other containers can be removed only after these containers.
const watching = `while read -r one two three; do groups=$one around=$two name=$three; done
[ "\${groups:-0}" = 0 ] || for one in $(echo "$groups" | tr , ' '); do kill -KILL "-$one"; done
case "$around" in
  '') ;;
  cgroup) echo 1 > "$name/cgroup.kill"; sleep 1; rmdir "$name" ;;
  *) for one in $name; do
      for pause in 0 1 2 4 8; do sleep $pause; "$around" rm --force --volumes "$one" && break; done
    done ;;
esac
rm -rf "$1"`;

/** Creates a folder that only this user can read. The folder is deleted by `remove`, or when this process ends. */
export async function makeTemporaryFolder(prefix: string, own?: string): Promise<TemporaryFolder> {
  const folder = await realpath(own ?? (await mkdtemp(path.join(tmpdir(), prefix))));
  const watchdog = spawn('sh', ['-c', watching, 'watchdog', folder], {
    env: engineEnvironment(),
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // If the watchdog cannot start, missions still run, but a SIGKILL of the runner leaves their folders and processes behind.
  for (const source of [watchdog, watchdog.stdin]) source.on('error', () => {});
  const gone = new Promise((resolve) => watchdog.once('exit', resolve).once('error', resolve));
  return {
    folder,
    guard: (groups, around = '') => void watchdog.stdin.write(`${[groups ?? []].flat().join(',') || 0} ${around}\n`),
    async remove() {
      watchdog.stdin.end();
      await gone;
    },
  };
}

/**
 * Creates the folders of a mission. @param account Owner of the folders: the user that runs the script, if it is not the runner's user.
 * @param
 * own An existing folder; the containers of a pod have already mounted some of its subfolders.
 */
export async function makePlace(
  script: string,
  account?: { uid: number; gid: number },
  trust: Trust | null = null,
  own?: string,
): Promise<Place> {
  const temporary = await makeTemporaryFolder('mission-', own);
  const { folder } = temporary;
  const names = [own ? 'skills/mission.sh' : 'mission.sh', 'work', 'artifacts', 'home', 'root', 'skills'];
  const [file, work, artifacts, home, root, skills] = names.map((name) => `${folder}/${name}`);
  const folders = [work!, artifacts!, home!, root!];
  await Promise.all(folders.map((one) => mkdir(one, { recursive: true, mode: 0o700 })));
  await mkdir(skills!, { recursive: true, mode: 0o711 });
  await writeFile(file!, script, { mode: 0o600 });
  const inHome = ['tmp', '.codex'].map((name) => `${home}/${name}`);
  await Promise.all(inHome.map((one) => mkdir(one, { recursive: true, mode: 0o700 })));
  folders.push(...inHome);
  if (account) {
    // The user of the script owns the script and these folders. The folder that contains them stays the runner's: the user can enter it,
    // but not list it.
    await Promise.all([file!, ...folders].map((one) => chown(one, account.uid, account.gid)));
    await chmod(folder, 0o711);
  }
  return {
    ...temporary,
    file: file!,
    work: work!,
    artifacts: artifacts!,
    home: home!,
    root: root!,
    skills: skills!,
    trust,
  };
}
