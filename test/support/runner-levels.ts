// Users that may run a runner, and the settings of the runner for each isolation level. If this machine does not offer a level to a user, a
// reason takes the place of the settings.
import { execFileSync } from 'node:child_process';
import { compiled } from './processes.ts';
import { isEngineSuite, realEngine } from './real-engine.ts';

export interface RunnerUser {
  name: string;
  /** Account of the user; undefined means the account of this test. */
  account: { uid: number; gid: number } | undefined;
  /** The reason why no runner of this user can be tested here. */
  missing: string | null;
}

export const isRoot = process.getuid?.() === 0;
/** `nobody`, by its usual number. */
const nobody = { uid: 65_534, gid: 65_534 };

/** Output of a command; null if it fails. */
function printed(user: RunnerUser, file: string, ...args: string[]): string | null {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME };
  const options = { ...user.account, cwd: '/', env, encoding: 'utf8', stdio: 'pipe', timeout: 60_000 } as const;
  try {
    return execFileSync(file, args, options);
  } catch {
    return null;
  }
}

const ordinary: RunnerUser = { name: 'an ordinary user', account: isRoot ? nobody : undefined, missing: null };
if (printed(ordinary, process.execPath, '--check', compiled('runner/runner')) === null)
  ordinary.missing = 'that user cannot read this folder';
const users: RunnerUser[] = [
  { name: 'root', account: undefined, missing: isRoot ? null : 'these tests are not run as root' },
  ordinary,
];

/** For each isolation level: the settings of a runner of this user, or the reason why this user cannot have the level here. */
const levels: Record<string, (user: RunnerUser) => Record<string, string> | string> = {
  none: () => ({}),
  cell: (user) =>
    printed(user, 'bwrap', '--unshare-all', '--ro-bind', '/', '/', 'true') === null ? 'bubblewrap does not work' : {},
  container(user) {
    if (!isEngineSuite) return 'npm run test:engines runs it';
    const engine = realEngine(user.account);
    // An engine without root has its images in the home of its user.
    if (engine) return { ...engine, HOME: process.env.HOME ?? '/' };
    return 'neither Podman nor Docker has an image with Node.js for that user';
  },
};

export const combinations = users.flatMap((user) => Object.keys(levels).map((level) => ({ user, level })));

/** Settings of a runner of this user with this isolation, or the reason why there is none. */
export const settingsOf = (user: RunnerUser, level: string): Record<string, string> | string =>
  user.missing ?? levels[level]!(user);
