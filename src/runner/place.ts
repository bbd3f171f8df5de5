// Where a mission works: a folder of its own. However its runner ends, also by SIGKILL, the folder goes and the script with it.
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface Place {
  /** The script. */
  file: string;
  /** Where it begins. */
  work: string;
  artifacts: string;
  /** Says which process group is to go with the place; undefined: there is none any more. */
  guard(group: number | undefined): void;
  remove(): Promise<void>;
}

// Reads which group it is; at the end of the pipe, whose other end dies with the runner, it ends that group.
const watching = 'while read -r line; do group=$line; done; [ -z "$group" ] || kill -KILL "-$group"; rm -rf "$1"';

export async function makePlace(script: string): Promise<Place> {
  const folder = await mkdtemp(path.join(tmpdir(), 'mission-'));
  const watchdog = spawn('sh', ['-c', watching, 'watchdog', folder], {
    env: { PATH: process.env.PATH },
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without it there is less order after a SIGKILL; missions go on.
  for (const source of [watchdog, watchdog.stdin]) source.on('error', () => {});
  const [file, work, artifacts] = [`${folder}/mission.sh`, `${folder}/work`, `${folder}/artifacts`];
  await Promise.all([writeFile(file, script), mkdir(work), mkdir(artifacts)]);
  return {
    file,
    work,
    artifacts,
    guard: (group) => void watchdog.stdin.write(`${group || ''}\n`),
    async remove() {
      await rm(folder, { recursive: true, force: true });
      watchdog.stdin.end();
    },
  };
}
