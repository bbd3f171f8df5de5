// Updates the runner itself. With npm, it installs the platform's release from the address that the operator has set, because nobody has reserved
// the name of the package in public registries. Then it claims no further missions. When its last mission has ended, it starts the new release
// as a child process in its place, and waits until the child ends. If the update fails, the failure is reported, and the old release continues.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { causeIn, environmentOfNpm } from './harness/install.ts';
import { inPath } from './isolation/programs.ts';
import { isOnLoopback } from './network/addresses.ts';
import { quit } from './settings.ts';

const packageName = 'agent-engineering-platform';
const installMs = 30 * 60_000;
/** Prefix of the names of folders in which a release is being installed. */
const draftPrefix = '.installing-';
/** A new release that ends with an error within this time has failed to start. */
const startMs = 60_000;
/** Time until a failed update is tried again. */
const retryMs = 60 * 60_000;

/** Reads the address of the folder with the packages of releases; null if the runner does not update itself. */
export function updateSource(value = 'off'): string | null {
  if (!value || value === 'off') return null;
  const isSafe = URL.canParse(value) && (new URL(value).protocol === 'https:' || isOnLoopback(value));
  if (!isSafe) quit('RUNNER_UPDATE: must be off, or the https address of a folder with the packages of releases.');
  return value.replace(/\/$/, '');
}

const versionIn = async (folder: string): Promise<string> =>
  JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')).version;

/** Version of the running release. The folder of the package is two levels above this file, both in the sources and in the bundle. */
export const ownVersion = (): Promise<string> => versionIn(path.join(import.meta.dirname, '../..'));

/** Whether a release is newer. A version that is not of the form 1.2.3 is never newer. */
export function isNewer(version: string, own: string): boolean {
  const [wanted, current] = [version, own].map((text) => /^(\d+)\.(\d+)\.(\d+)$/.exec(text)?.slice(1).map(Number));
  if (!wanted || !current) return false;
  const differs = wanted.findIndex((part, at) => part !== current[at]);
  return differs >= 0 && wanted[differs]! > current[differs]!;
}

interface Around {
  /** Address of the folder with the packages of releases. */
  releases: string;
  /** The running version. */
  own: string;
  /** Folder of the installed releases. */
  folder: string;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  log(line: string): void;
}

/**
 * Installs the package of a version with npm, which does not execute the packages' own scripts. Returns the path of the runner's program.
 */
async function installRelease(around: Around, version: string): Promise<string> {
  const { releases, folder, env, signal } = around;
  const target = path.join(folder, version);
  const programIn = (place: string) => path.join(place, 'node_modules', packageName, 'dist/runner/runner.js');
  const starts = (place: string) => promisify(execFile)(process.execPath, [programIn(place), 'help'], { env, signal });
  if (await starts(target).catch(() => null)) return programIn(target);
  const npm = inPath('npm', `${env.PATH}${path.delimiter}${path.dirname(process.execPath)}`);
  if (!npm) throw new Error('there is no npm in PATH');
  await mkdir(folder, { recursive: true });
  const draft = await mkdtemp(path.join(folder, draftPrefix));
  try {
    await writeFile(
      path.join(draft, 'package.json'),
      JSON.stringify({ private: true, dependencies: { [packageName]: `${releases}/${packageName}-${version}.tgz` } }),
    );
    const args = [
      'install',
      '--omit=dev',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--cache',
      path.join(draft, 'cache'),
    ];
    const options = { cwd: draft, env: environmentOfNpm(env), signal, timeout: installMs };
    await promisify(execFile)(npm, args, options).catch((error) => {
      throw new Error(causeIn(String(error.stderr)));
    });
    await rm(path.join(draft, 'cache'), { recursive: true, force: true });
    const installed = await versionIn(path.join(draft, 'node_modules', packageName));
    if (installed !== version) throw new Error('the package contains a different version');
    await starts(draft);
    await rm(target, { recursive: true, force: true });
    await rename(draft, target);
    await removeOlder(around);
    return programIn(target);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/**
 * Value of `EXIT_WITH_PARENT` for a release that another process has started and waits for. The release ends with that process, and asks it
 * to run the next release.
 */
const startedByUpdater = 'updater';

/** Starts a release as a child process. The release may ask this process to run a newer one. */
function startRelease(program: string, token: string, around: Around) {
  const env = { ...around.env, EXIT_WITH_PARENT: startedByUpdater };
  const stdio = ['pipe', 'inherit', 'inherit', 'ipc'] as const;
  const child = spawn(process.execPath, [program, ...process.argv.slice(2)], { env, stdio: [...stdio] });
  child.stdin!.on('error', () => {}).write(`${token}\n`);
  const ended = once(child, 'exit').then(
    ([code]): number => code ?? 1,
    () => 1,
  );
  const asks = () =>
    once(child, 'message').then(
      ([message]) => String(message.program),
      () => ended,
    );
  return { child, ended, asks };
}

/**
 * Runs a release as a child process until the release ends, and returns its exit code. When the running release has to be updated, it asks
 * this process to start the newer release, and this process then stops the older one. If each release started the next one itself, every
 * update would add a process that only waits.
 */
async function runRelease(program: string, token: string, around: Around): Promise<number> {
  const { signal } = around;
  let present = startRelease(program, token, around);
  const stop = () => present.child.kill('SIGTERM');
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    for (;;) {
      const next = await Promise.race([present.ended, present.asks()]);
      if (typeof next === 'number') return next;
      const newer = startRelease(next, token, around);
      const code = await Promise.race([newer.ended, wait(startMs, null, { signal }).catch(() => null)]);
      if (code !== null && code !== 0 && !signal.aborted) {
        // The newer release has ended at once, so the release that asked for it continues.
        present.child.send({ code }, () => {});
        continue;
      }
      stop();
      present = newer;
      if (signal.aborted) stop();
    }
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/**
 * Asks the parent process to run a newer release in place of this process. If the newer release keeps running, the parent ends this
 * process. If the newer release has ended at once, returns its exit code.
 */
async function askParent(program: string, signal: AbortSignal): Promise<number> {
  process.send!({ program }, undefined, undefined, () => {});
  const [{ code }] = await once(process, 'message', { signal }).catch(() => [{ code: 0 }]);
  return code;
}

/** Removes releases that are older than the running one, and the incomplete installations of killed processes. */
async function removeOlder({ folder, own }: Around): Promise<void> {
  for (const name of await readdir(folder)) {
    const place = path.join(folder, name);
    const begun = name.startsWith(draftPrefix) && (await stat(place).catch(() => null));
    const isLeft = begun && begun.mtimeMs < Date.now() - 2 * installMs;
    if (isLeft || isNewer(own, name)) await rm(place, { recursive: true, force: true });
  }
}

export function openUpdater(around: Around) {
  const { own, log } = around;
  let isBusy = false;
  let ready: { version: string; program: string } | null = null;
  let failed: { version: string; at: number; reason: string } | null = null;

  function fail(version: string, reason: string): void {
    ready = null;
    failed = {
      version,
      at: performance.now(),
      reason: `The runner stays at ${own}, because its update to ${version} failed: ${reason}`,
    };
    log(failed.reason);
  }
  return {
    /** Begins to install the release if it is newer. */
    consider(version: string): void {
      const hasFailed = failed?.version === version && performance.now() - failed.at < retryMs;
      if (isBusy || hasFailed || ready?.version === version || !isNewer(version, own)) return;
      isBusy = true;
      log(`The runner installs its release ${version}.`);
      installRelease(around, version)
        .then((program) => {
          ready = { version, program };
          failed = null;
          log(
            `The release ${version} is installed. The runner takes no new missions until it continues as this release.`,
          );
        })
        .catch((error) => fail(version, error.message))
        .finally(() => {
          isBusy = false;
        });
    },
    /** Whether a newer release is installed, so that the runner takes no new missions. */
    isReady: () => ready !== null,
    /** A message to people that says why the runner was not updated; null if no update has failed. */
    notice: () => failed?.reason ?? null,
    /**
     * Runs the installed release in place of this process, with the same arguments and the token, until it ends. Returns its exit code, or
     * null when it could not start.
     */
    async handOver(token: string): Promise<number | null> {
      const { version, program } = ready!;
      log(`The runner continues as release ${version}.`);
      const since = performance.now();
      const hasParent = around.env.EXIT_WITH_PARENT === startedByUpdater && process.send;
      const code = await (hasParent ? askParent(program, around.signal) : runRelease(program, token, around));
      if (code === 0 || around.signal.aborted || performance.now() - since > startMs) return code;
      fail(version, `the new release exited at once with code ${code}`);
      return null;
    },
  };
}
