// Installs a pinned harness with npm into a folder of the runner. The installation is atomic: it is built under another name, tested, and
// then renamed. Runners that share the folder take turns.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, lstat, mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { inPath } from '../isolation/programs.ts';
import { installable, type Pinned, programIn } from './pinned.ts';

/** Times in milliseconds. A slow connection takes minutes for 150 MB. A lock that was not touched for `stale` belongs to a dead process. */
const [timeoutMs, stale, touching] = [30 * 60_000, 20_000, 2_000];
/** Interval between progress checks, milliseconds. */
const interval = 500;
const draftPrefix = '.installing-';

export interface Installation {
  folder: string;
  pinned: Pinned;
  /** Tests the installed program. @throws the reason why the program cannot be used */
  check(program: string): Promise<unknown>;
  /** Reports the progress of the installation in percent. */
  progress(percent: number): void;
  signal: AbortSignal;
  env: NodeJS.ProcessEnv;
}

/** A failed installation: the message is for people of every organization, `detail` for the log. */
export class InstallFailed extends Error {
  readonly detail: string;
  constructor(message: string, detail = '') {
    super(message);
    this.detail = detail;
  }
}

/** Returns the path of the program. @throws InstallFailed */
export async function install(installation: Installation): Promise<string> {
  const { folder, pinned, check, signal } = installation;
  const program = programIn(folder, pinned);
  try {
    // Cells run as other users, who must be able to read the folder.
    if (await mkdir(folder, { recursive: true })) await chmod(folder, 0o755);
    return await withFolderLock(folder, signal, async () => {
      await sweep(folder, (name) => name.startsWith(draftPrefix));
      // Another runner may have installed the harness in the meantime; an unusable installation is replaced.
      const isUsable = () =>
        check(program).then(
          () => true,
          () => false,
        );
      if (!(await isUsable())) await build(installation);
      await sweep(folder, isReplacedBy(pinned));
      return program;
    });
  } catch (error) {
    if (error instanceof InstallFailed || signal.aborted) throw error;
    throw failure((error as NodeJS.ErrnoException).code, (error as Error).message);
  }
}

async function build(installation: Installation): Promise<void> {
  const { folder, pinned, check } = installation;
  const draft = path.join(folder, `${draftPrefix}${randomUUID()}`);
  try {
    await mkdir(draft, { mode: 0o755 });
    for (const [name, content] of Object.entries(pinned.files)) await writeFile(path.join(draft, name), content);
    await download(installation, draft);
    await rm(path.join(draft, 'cache'), { recursive: true, force: true });
    // The permissions are set here, so that they do not depend on the umask.
    await promisify(execFile)('chmod', ['-R', 'u+w,a+rX,go-w', draft]);
    await check(path.join(draft, pinned.program)).catch((error) => {
      throw new InstallFailed(`the program cannot be used here: ${error.message.replace(`${draft}/`, '')}`);
    });
    const target = path.join(folder, pinned.folder);
    await rm(target, { recursive: true, force: true });
    await rename(draft, target);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Runs npm in the folder. npm installs exactly the packages that the lock file lists, and runs no scripts of these packages. */
async function download({ pinned, progress, signal, env }: Installation, cwd: string): Promise<void> {
  const npm = inPath('npm', `${env.PATH}${path.delimiter}${path.dirname(process.execPath)}`);
  if (!npm) throw new InstallFailed('there is no npm in PATH');
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--no-progress', '--loglevel=error'];
  const args = ['ci', '--ignore-scripts', '--include=optional', '--fetch-retries=1', '--cache=cache', ...quiet];
  const watching = setInterval(async () => {
    const bytes = await sizeOf(path.join(cwd, 'node_modules'));
    progress(Math.min(99, Math.floor((bytes / pinned.bytes) * 100)));
  }, interval);
  try {
    await promisify(execFile)(npm, args, {
      cwd,
      env: environmentOfNpm(env),
      signal,
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
  } catch (error) {
    const { stderr = '', message, killed } = error as Error & { stderr?: string; killed?: boolean };
    if (signal.aborted) throw error;
    if (killed) throw new InstallFailed(`the installation took longer than ${timeoutMs / 60_000} minutes`);
    throw failure(codeIn(stderr), stderr || message);
  } finally {
    clearInterval(watching);
  }
}

/** npm's settings and the proxy, without keys of models. */
export const environmentOfNpm = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => {
  const passed =
    /^(PATH|HOME|TMPDIR|NODE_EXTRA_CA_CERTS|(https?|no)_proxy|npm_config_(registry|userconfig|globalconfig))$/i;
  return Object.fromEntries(Object.entries(env).filter(([name]) => passed.test(name)));
};

const causes: [RegExp, string][] = [
  [
    /^(ENOTFOUND|EAI_AGAIN|ECONN\w+|ETIMEDOUT|ERR_SOCKET_TIMEOUT|E(HOST|NET)UNREACH|E5\d\d)$/,
    'the package registry cannot be reached',
  ],
  [/^EINTEGRITY$/, 'a package does not have the checksum in the lock file'],
  [/^(ENOSPC|EDQUOT)$/, 'the disk is full'],
  [/^(E404|ETARGET|ENOVERSIONS)$/, 'the package registry does not have it'],
  [/^E40[13]$/, 'the package registry refuses this machine'],
  [/^(EACCES|EPERM|EROFS|ENOTDIR)$/, 'its folder cannot be written'],
];
const causeOf = (code = ''): string =>
  `${causes.find(([codes]) => codes.test(code))?.[1] ?? 'npm failed'}${code && ` (${code})`}`;
const failure = (code: string | undefined, detail: string) =>
  new InstallFailed(causeOf(code), detail.trim().slice(-2_000));

/** The cause of a failure, from the output of npm. */
export const causeIn = (output: string): string => causeOf(codeIn(output));
const codeIn = (output: string): string | undefined => /npm error code (\w+)/.exec(output)?.[1];

/** Does the work while no other runner works in this folder. */
async function withFolderLock<T>(folder: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const lock = path.join(folder, '.lock');
  while (!(await isCreated(lock))) {
    const touched = await stat(lock).catch(() => null);
    if (touched && Date.now() - touched.mtimeMs > stale) await rm(lock, { recursive: true, force: true });
    else await wait(interval, undefined, { signal });
  }
  const touch = setInterval(() => void utimes(lock, new Date(), new Date()).catch(() => {}), touching);
  try {
    return await work();
  } finally {
    clearInterval(touch);
    await rm(lock, { recursive: true, force: true });
  }
}

const isCreated = (folder: string): Promise<boolean> =>
  mkdir(folder).then(
    () => true,
    (error) => {
      if (error.code === 'EEXIST') return false;
      throw error;
    },
  );

/** Whether a folder belongs to a different version of the same harness. */
const isReplacedBy =
  ({ folder: current }: Pinned) =>
  (name: string): boolean =>
    installable.some((harness) => name.startsWith(`${harness}-`) && current.startsWith(`${harness}-`)) &&
    name !== current;

async function sweep(folder: string, isLeftOver: (name: string) => boolean): Promise<void> {
  for (const name of (await readdir(folder)).filter(isLeftOver)) {
    await rm(path.join(folder, name), { recursive: true, force: true });
  }
}

async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const sizes = names.map((name) =>
    lstat(path.join(folder, name)).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
