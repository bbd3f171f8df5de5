// Runs git in repositories of the runner: never in a checkout that an agent could change, because the git settings of such a checkout may
// start programs.
import { execFile } from 'node:child_process';
import type { lookup } from 'node:dns';
import path from 'node:path';
import { checkedAddresses } from '../protocol/egress.ts';

/** The remote for fetches and pushes: an http(s) URL, or a folder of the operator. */
export interface Remote {
  url: string;
  username: string | null;
  password: string | null;
  /** Whether the host may be this machine; http is then allowed too. */
  allowLoopback: boolean;
  /** The URL of the relay for this remote; absent for a runner that reaches the remote directly. */
  relayed?: string | undefined;
  /** The name resolver of tests; the system's when absent. */
  resolve?: typeof lookup;
}

export interface GitOptions {
  /** The remote; absent for commands that work only on this machine. */
  remote?: Remote | undefined;
  /** A settings file that is also read by commands that git starts itself. */
  globalConfig?: string;
  /** The standard input of git; empty when absent. */
  input?: string;
}

const timeoutMs = 10 * 60_000;
const maxOutputBytes = 16 * 1024 * 1024;

/** Output of git. @throws its error, without the password */
export async function git(
  directory: string,
  args: string[],
  { remote, globalConfig = '/dev/null', input = '' }: GitOptions = {},
): Promise<string> {
  const reach = remote && !path.isAbsolute(remote.url) ? await reachOf(remote) : reachOfFolders;
  const { GIT_ALLOW_PROTOCOL, ...more } = reach;
  const env = {
    ...defaultConfig,
    GIT_CONFIG_GLOBAL: globalConfig,
    GIT_ALLOW_PROTOCOL,
    ...configured({ ...settings, ...more }),
  };
  const options = { env, timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: maxOutputBytes } as const;
  return new Promise((resolve, reject) => {
    const child = execFile('git', ['-C', directory, ...args], options, (error, stdout, stderr) => {
      if (!error) return resolve(stdout);
      const why = stderr.trim() || error.message;
      reject(new Error(`git ${args[0]}: ${remote?.password ? why.replaceAll(remote.password, '[redacted]') : why}`));
    });
    // An error of writing the input is ignored: git may end before it has read its input. If that is a failure, git reports it itself.
    child.stdin!.on('error', () => {}).end(input);
  });
}

/** Ignores settings of the machine and of users, and disables prompts. */
const defaultConfig = {
  PATH: process.env.PATH ?? '',
  LANG: 'C.UTF-8',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
};
const settings = { 'core.hooksPath': '/dev/null', 'fetch.fsckObjects': 'true' };

interface Reach {
  GIT_ALLOW_PROTOCOL: string;
  [setting: string]: string;
}
const reachOfFolders: Reach = { GIT_ALLOW_PROTOCOL: 'file' };

/** Checks the host's addresses, and limits git to them: git neither resolves the name nor follows a redirect. */
async function reachOf(remote: Remote): Promise<Reach> {
  const { url, username, password, relayed } = remote;
  const login = Buffer.from(`${username ?? ''}:${password}`).toString('base64');
  return {
    ...(relayed
      ? { GIT_ALLOW_PROTOCOL: new URL(relayed).protocol.slice(0, -1), [`url.${relayed}.insteadOf`]: url }
      : await checkedReach(remote)),
    'http.followRedirects': 'false',
    // The password is in the environment, because everyone on the machine can read a command line.
    ...(password && { 'http.extraHeader': `Authorization: Basic ${login}` }),
  };
}

async function checkedReach({ url, allowLoopback, resolve }: Remote): Promise<Reach> {
  const { origin, protocol, hostname, port } = new URL(url);
  // The check ensures that git and this process find the same host in the URL.
  if (!url.startsWith(`${origin}/`) || hostname.endsWith('.'))
    throw new Error(`${url} must be a canonical URL without a user, and without a dot at the end of its host name`);
  const addresses = await checkedAddresses(url, allowLoopback, resolve);
  if (!allowLoopback) await checkVersion();
  const isName = !addresses.includes(hostname.replace(/^\[|\]$/g, ''));
  return {
    GIT_ALLOW_PROTOCOL: protocol.slice(0, -1),
    ...(isName && {
      'http.curloptResolve': `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}:${addresses.join(',')}`,
    }),
  };
}

/** The id of the commit; null when the repository does not have it. */
export const commitOf = (folder: string, ref: string): Promise<string | null> =>
  git(folder, ['rev-parse', '--verify', '--quiet', `${ref}^{commit}`]).then(
    (sha) => sha.trim(),
    () => null,
  );

/** The id of the commit. @throws when the repository no longer has it */
export async function requireCommit(folder: string, sha: string): Promise<string> {
  const found = await commitOf(folder, sha);
  if (!found) throw new Error(`The repository has no commit ${sha}, which the mission began from.`);
  return found;
}

/** Releases of git before 2.37 ignore `http.curloptResolve`. */
async function checkVersion(): Promise<void> {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(await git('/', ['version'])) ?? [];
  if (Number(major) < 2 || (Number(major) === 2 && Number(minor) < 37))
    throw new Error(`git ${major}.${minor} cannot restrict a remote to one IP address: 2.37 or later is needed`);
}

const configured = (entries: Record<string, string>): Record<string, string> => ({
  GIT_CONFIG_COUNT: String(Object.keys(entries).length),
  ...Object.fromEntries(
    Object.entries(entries).flatMap(([key, value], i) => [
      [`GIT_CONFIG_KEY_${i}`, key],
      [`GIT_CONFIG_VALUE_${i}`, value],
    ]),
  ),
});
