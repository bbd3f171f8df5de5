// Where a mission works: a folder of its own. However its runner ends, also by SIGKILL, the folder goes and the script with it; as
// do folders of the runner.
import { spawn } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { engineEnvironment } from './engine.ts';

export interface TemporaryFolder {
  /** A real path. */
  folder: string;
  /**
   * Sets the process group that ends with the folder (undefined or 0: none), and what is around it: `cgroup FOLDER`, or an engine of
   * containers and the name of one.
   */
  guard(group: number | undefined, around?: string): void;
  remove(): Promise<void>;
}

export interface Place extends TemporaryFolder {
  /** The script. */
  file: string;
  /** Where it begins. */
  work: string;
  /** Whether cells and containers mount `work` read-only. */
  isReadOnly?: boolean;
  artifacts: string;
  /** Settings and sessions of a harness, with the folders that drivers name: nothing is written here for an agent later. */
  home: string;
  /** Skills of agents: the folder is the runner's and holds one of the agent's for each step. */
  skills: string;
  /** A file of further certificate authorities of the machine, which missions may read; null: there is none. */
  trust: string | null;
  /** An empty folder: for a file view of the script's own, or for the sockets of an agent. */
  root: string;
}

// Reads which group it is; at the end of the pipe, whose other end dies with the runner, it ends that group. `rm` follows no link,
// also when one is put in its way at that moment.
const watching = `while read -r one two three; do group=$one around=$two name=$three; done
[ "\${group:-0}" = 0 ] || kill -KILL "-$group"
case "$around" in
  '') ;;
  cgroup) echo 1 > "$name/cgroup.kill"; sleep 1; rmdir "$name" ;;
  *) "$around" rm --force "$name" ;;
esac
rm -rf "$1"`;

/** A folder that only this user can read, until it is removed or this process ends. */
export async function makeTemporaryFolder(prefix: string): Promise<TemporaryFolder> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), prefix)));
  const watchdog = spawn('sh', ['-c', watching, 'watchdog', folder], {
    env: engineEnvironment(),
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without it there is less order after a SIGKILL; missions still run.
  for (const source of [watchdog, watchdog.stdin]) source.on('error', () => {});
  const gone = new Promise((resolve) => watchdog.once('exit', resolve).once('error', resolve));
  return {
    folder,
    guard: (group, around = '') => void watchdog.stdin.write(`${group ?? 0} ${around}\n`),
    async remove() {
      watchdog.stdin.end();
      await gone;
    },
  };
}

/** @param account Owns the place: the user that the script runs as, when that is another than ours. */
export async function makePlace(
  script: string,
  account?: { uid: number; gid: number },
  trust: string | null = null,
): Promise<Place> {
  const temporary = await makeTemporaryFolder('mission-');
  const { folder } = temporary;
  const names = ['mission.sh', 'work', 'artifacts', 'home', 'root', 'skills'];
  const [file, work, artifacts, home, root, skills] = names.map((name) => `${folder}/${name}`);
  const folders = [work!, artifacts!, home!, root!];
  await Promise.all([writeFile(file!, script, { mode: 0o600 }), ...folders.map((one) => mkdir(one, { mode: 0o700 }))]);
  await mkdir(skills!, { mode: 0o711 });
  const inHome = ['tmp', '.codex'].map((name) => `${home}/${name}`);
  await Promise.all(inHome.map((one) => mkdir(one, { mode: 0o700 })));
  folders.push(...inHome);
  if (account) {
    // The script may traverse its folder, and change only what is in it.
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
