// A repository on this machine for the workspace of a mission, and checkouts of it as a runner makes them.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createMask } from '../../src/runner/text.ts';
import { type Origin, openWorkspace } from '../../src/runner/workspace/workspace.ts';

const by = ['-c', 'user.name=Person', '-c', 'user.email=person@example.com', '-c', 'init.defaultBranch=main'];
export const env = { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
export const git = (directory: string, ...args: string[]): string =>
  execFileSync('git', ['-C', directory, ...by, ...args], { env, encoding: 'utf8', stdio: 'pipe' }).trim();

/** Writes a file, and commits it as a person. */
export function write(checkout: string, name: string, content: string): void {
  writeFileSync(path.join(checkout, name), content);
  git(checkout, 'add', '.');
  git(checkout, 'commit', '-qm', `Write ${name}`);
}

/** A new folder with a bare repository of one commit. */
export function createOrigin(): { folder: string; origin: Origin } {
  const folder = mkdtempSync(path.join(tmpdir(), 'aep-workspace-'));
  const [seed, url] = [path.join(folder, 'seed'), path.join(folder, 'origin.git')];
  mkdirSync(seed);
  git(seed, 'init', '-q');
  write(seed, 'a.txt', 'old\n');
  git(folder, 'clone', '-q', '--bare', seed, url);
  const login = { username: null, password: null };
  const rest = { defaultBranch: 'main', branch: 'mission/run_1', pushWaits: false, allowLoopback: true };
  return { folder, origin: { url, ...login, ...rest } };
}

export type CheckoutSettings = [
  account?: { uid: number; gid: number },
  reopen?: (own: Origin) => Promise<Origin>,
  mirrors?: string,
  wanted?: string | null,
];

let checkouts = 0;

export async function openCheckout(
  folder: string,
  origin: Origin,
  ...[account, reopen = async (own) => own, mirrors = path.join(folder, 'mirrors'), wanted = null]: CheckoutSettings
) {
  const checkout = path.join(folder, `checkout-${++checkouts}`);
  mkdirSync(checkout);
  const author = { name: 'Builder', email: 'builder@example.com' };
  const mask = createMask(['top-secret-token']);
  const workspace = await openWorkspace({
    ...{ mirrors, checkout, origin, account, author, mask },
    reopen: () => reopen(origin),
    checkpoint: null,
    wanted,
  });
  return { checkout, ...workspace };
}
