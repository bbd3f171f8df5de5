// The output folder of all builds, and a function that checks if a built file is newer than its sources.
import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const output = path.join(root, 'dist');

/**
 * Whether `file` exists and is newer than the folders `sources`, everything in these folders, `package-lock.json`, `tsconfig.json` and the
 * build scripts.
 */
export function isFresh(file: string, ...sources: string[]): boolean {
  if (!existsSync(file)) return false;
  const made = statSync(file).mtimeMs;
  const isOlder = (name: string) => statSync(name).mtimeMs < made;
  const below = (folder: string) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => path.join(folder, name));
  const settings = ['package-lock.json', 'tsconfig.json', 'scripts/service-build.ts', 'scripts/console-build.ts'];
  return [...sources, ...sources.flatMap(below), ...settings.map((name) => path.join(root, name))].every(isOlder);
}
