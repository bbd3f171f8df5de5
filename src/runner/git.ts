// The git program in repositories of the runner's own: never in a checkout that an agent has had, whose settings may name programs.
import { execFile } from 'node:child_process';

export interface Login {
  username: string | null;
  password: string | null;
}

/** Nothing of the machine's or a person's settings, and no question to a person. */
const settings = (login?: Login): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  LANG: 'C.UTF-8',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  ...configured({
    'core.hooksPath': '/dev/null',
    'protocol.ext.allow': 'never',
    'fetch.fsckObjects': 'true',
    // In the environment: a command line can be read by everyone on the machine.
    ...(login?.password && { 'http.extraHeader': `Authorization: Basic ${basic(login)}` }),
  }),
});

const basic = ({ username, password }: Login): string =>
  Buffer.from(`${username ?? ''}:${password}`).toString('base64');

const configured = (entries: Record<string, string>): Record<string, string> => ({
  GIT_CONFIG_COUNT: String(Object.keys(entries).length),
  ...Object.fromEntries(
    Object.entries(entries).flatMap(([key, value], i) => [
      [`GIT_CONFIG_KEY_${i}`, key],
      [`GIT_CONFIG_VALUE_${i}`, value],
    ]),
  ),
});

export interface GitOptions {
  login?: Login | undefined;
  /** A file of settings that commands which git starts itself read too. */
  globalConfig?: string;
}

const timeoutMs = 10 * 60_000;
const maxOutputBytes = 16 * 1024 * 1024;

/** What git prints. @throws what git complains about, without the password */
export function git(directory: string, args: string[], { login, globalConfig }: GitOptions = {}): Promise<string> {
  const env = { ...settings(login), GIT_CONFIG_GLOBAL: globalConfig ?? '/dev/null' };
  return new Promise((resolve, reject) => {
    execFile(
      'git',
      ['-C', directory, ...args],
      { env, timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: maxOutputBytes },
      (error, stdout, stderr) => {
        if (!error) return resolve(stdout);
        const why = stderr.trim() || error.message;
        reject(new Error(`git ${args[0]}: ${login?.password ? why.replaceAll(login.password, '[redacted]') : why}`));
      },
    );
  });
}
