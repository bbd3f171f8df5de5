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

/** The reason in the output of a failed program: its last line, except for lines in which Docker refers to its help. */
export const reasonOf = (error: Error): string =>
  error.message.split('\n').findLast((line) => line.trim() && !/^(Run|See) '/.test(line)) ?? error.message;

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
