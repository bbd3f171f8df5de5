// OS accounts of missions: if the runner is root, each mission runs as a separate user.
import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Account } from '../contract.ts';

/** User ids that systemd reserves for services without an account of their own (`DynamicUser=`). */
const ids = { first: 61_184, last: 65_519 };
// The first id is random, so that two runners on one machine use different ones.
let nextId = randomInt(ids.first, ids.last + 1);

/**
 * Returns an OS account under which no process runs; each call returns another account. Undefined unless the runner is root, because only
 * root can switch accounts.
 */
export async function newAccount(): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const running = await usersOfProcesses();
  for (;;) {
    const id = nextId;
    nextId = id < ids.last ? id + 1 : ids.first;
    if (running.has(id)) continue;
    const isTaken = await promisify(execFile)('id', [String(id)]).then(
      () => true,
      () => false,
    );
    if (!isTaken) return { uid: id, gid: id };
  }
}

/** The users of running processes; empty without /proc. */
async function usersOfProcesses(): Promise<Set<number>> {
  const processes = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const users = processes.map((pid) =>
    stat(`/proc/${pid}`).then(
      ({ uid }) => uid,
      () => 0,
    ),
  );
  return new Set(await Promise.all(users));
}

/** Makes the account the owner of a folder and its content. Without an account, the runner keeps the folder. */
export async function chownRecursive(folder: string, account: Account | undefined): Promise<void> {
  if (account) await promisify(execFile)('chown', ['-R', `${account.uid}:${account.gid}`, folder]);
}
