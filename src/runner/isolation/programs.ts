// Programs of this machine: their location and output.
import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

/** Runs a program in the isolation that agents' programs have, and returns its output. */
export type RunProgram = (program: string, args: string[]) => Promise<string>;

/** Time limit of a program: a cold start takes four seconds. */
const timeoutMs = 30_000;

export const runDirectly: RunProgram = async (program, args) => {
  // Some programs write to their home directory even when they print their version; the account of a service may have no home directory.
  const home = await mkdtemp(path.join(tmpdir(), 'home-'));
  const env = { PATH: process.env.PATH, HOME: home };
  try {
    return (await promisify(execFile)(program, args, { env, timeout: timeoutMs, killSignal: 'SIGKILL' })).stdout;
  } finally {
    await rm(home, { recursive: true, force: true });
  }
};

/**
 * The reason in the output of a failed program: its last line, except for lines in which Docker refers to its help. Node.js and Bun print
 * their version after an error that nobody handled, so there the reason is the error.
 */
export function reasonOf({ message }: Error): string {
  const lines = message.split('\n').filter((line) => line.trim() && !/^(Run|See) '/.test(line));
  const isCrash = /^(Node\.js|Bun) v\d/.test(lines.at(-1) ?? '');
  const error = isCrash ? lines.findLast((line) => /^(\w*[Ee]rror|E[A-Z]{2,})\b.*: /.test(line)) : undefined;
  return error ?? lines.at(-1) ?? message;
}

export const inPath = (name: string, folders = ''): string | undefined =>
  folders
    .split(path.delimiter)
    .filter(Boolean)
    .map((folder) => path.join(folder, name))
    .find(isProgram);

export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
