// A git repository on this machine, read with the git program. The connector's `externalOrgId` is a folder that holds `<owner>/<repo>`,
// bare or not. A caller's ref and path are passed on standard input only, and nothing outside the folder is opened.

import { execFile } from 'node:child_process';
import { readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { seconds } from '#foundation/clock.ts';
import { badGateway, conflict, gatewayTimeout } from '#foundation/problem.ts';
import { bytes } from '#limits.ts';
import type { Integration } from '../../integrations/model.ts';
import type { Project } from '../../projects/model.ts';
import { fileTooLarge, type Repository } from '../source-host.ts';

const timeoutMs = seconds(10);

export const localGit: Repository = {
  readFile: async (project, connector, file, ref = 'HEAD') =>
    readObject(await catFile(await directoryOf(project, connector), `${ref}:${file}`)),

  async access(project, connector) {
    const url = await directoryOf(project, connector);
    const head = (await readFile(path.join(url, 'HEAD'), 'utf8')).trim();
    return { url, username: null, password: null, defaultBranch: head.replace(/^ref: refs\/heads\//, '') };
  },

  async deleteBranch(project, connector, branch) {
    const directory = await directoryOf(project, connector);
    // Without an expected commit, the deletion of a missing branch also succeeds.
    await runGit(directory, ['update-ref', '--stdin'], `delete refs/heads/${branch}\n`);
  },
};

/** The git directory of the project's repository. @throws 409 when there is none */
async function directoryOf(
  { scmOwner, scmRepo }: Project,
  { externalOrgId: folder, displayName }: Integration,
): Promise<string> {
  if (!folder || !path.isAbsolute(folder)) {
    throw conflict(
      `The connector ${displayName} has no folder of repositories: connect it again, with the absolute path of the folder.`,
    );
  }
  const directory = await gitDirectory(folder, scmOwner, scmRepo);
  if (!directory) throw conflict(`The connector ${displayName} has no repository ${scmOwner}/${scmRepo}.`);
  return directory;
}

/** The git directory of the repository; null when it does not exist, or a link resolves outside the folder. */
async function gitDirectory(folder: string, ...names: [owner: string, repo: string]): Promise<string | null> {
  if (names.some((name) => name === '.' || name === '..' || /[/\\\0]/.test(name))) return null;
  const root = await realpath(folder).catch(() => null);
  const place = path.join(folder, ...names);
  for (const candidate of root === null ? [] : [`${place}.git`, path.join(place, '.git'), place]) {
    const found = await realpath(candidate).catch(() => null);
    if (!found?.startsWith(root + path.sep)) continue;
    const head = await stat(path.join(found, 'HEAD')).catch(() => null);
    if (head?.isFile()) return found;
  }
  return null;
}

/** Maximum length of the header line before the content: hash, type and size. */
const heading = 200;

const catFile = (directory: string, object: string): Promise<Buffer> =>
  runGit(directory, ['cat-file', '--batch', '--follow-symlinks'], `${object}\n`);

/** `--git-dir` keeps git from searching other folders. */
function runGit(directory: string, words: readonly string[], input: string): Promise<Buffer> {
  const options = {
    encoding: 'buffer',
    maxBuffer: bytes.repositoryFile + heading,
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  } as const;
  return new Promise((done, fail) => {
    const git = execFile('git', [`--git-dir=${directory}`, ...words], options, (error, output) => {
      if (!error) done(output);
      else if (error.code === 'ENOENT') fail(conflict('git is not installed on the machine of the service.'));
      else if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') fail(fileTooLarge());
      else if (error.killed) fail(gatewayTimeout('git did not answer in time.'));
      else fail(badGateway('git cannot read the repository.'));
    });
    // A broken pipe is ignored; the exit of the program shows the reason.
    git.stdin!.on('error', () => {}).end(input);
  });
}

/** Reads the output of git: `<hash> blob <size>`, a line end, and the content; any other header means that the file does not exist. */
function readObject(output: Buffer): Buffer | null {
  const end = output.indexOf('\n');
  const [, size] = /^[\da-f]{40,64} blob (\d+)$/.exec(output.toString('utf8', 0, end)) ?? [];
  if (size === undefined) return null;
  if (Number(size) > bytes.repositoryFile) throw fileTooLarge();
  return output.subarray(end + 1, end + 1 + Number(size));
}
