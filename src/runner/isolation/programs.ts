// Programs of this machine: where they are, and what they print.
import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

/** Runs a program as the agents' programs are run, and returns what it prints. */
export type Ask = (program: string, args: string[]) => Promise<string>;

/** A cold start takes four seconds. */
const timeoutMs = 30_000;

export const askDirectly: Ask = async (program, args) => {
  // Some write there even when they only say their version; an account of a service may have no home.
  const home = await mkdtemp(path.join(tmpdir(), 'home-'));
  const env = { PATH: process.env.PATH, HOME: home };
  try {
    return (await promisify(execFile)(program, args, { env, timeout: timeoutMs, killSignal: 'SIGKILL' })).stdout;
  } finally {
    await rm(home, { recursive: true, force: true });
  }
};

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
