// The key of a prepared environment: a hash of everything its setup depends on, such as lock files.
import { createHash } from 'node:crypto';
import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { openInside } from '../isolation/inside.ts';

const lockFile =
  /^(package-lock\.json|pnpm-lock\.yaml|yarn\.lock|requirements[\w.-]*\.txt|poetry\.lock|uv\.lock|Cargo\.lock|go\.sum|pom\.xml|Gemfile\.lock|devcontainer\.json|\.devcontainer\.json)$/;
/** Maximum depth of a lock file below the checkout, maximum number of lock files, and maximum bytes of a lock file. */
const [maxDepth, maxFiles, maxBytes] = [4, 200, 16 * 1024 * 1024];
const skipped = ['.git', 'node_modules', 'vendor', '.venv', 'target'];

/** Paths of the lock files, in order. Links are not followed. */
export async function findLockFiles(folder: string, depth = 0): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const found = entries.filter((entry) => entry.isFile() && lockFile.test(entry.name)).map(({ name }) => name);
  const folders = entries.filter((entry) => entry.isDirectory() && !skipped.includes(entry.name) && depth < maxDepth);
  const below = await Promise.all(
    folders.map(async ({ name }) =>
      (await findLockFiles(path.join(folder, name), depth + 1)).map((file) => path.join(name, file)),
    ),
  );
  return [...found, ...below.flat()].sort().slice(0, maxFiles);
}

/** Computes the key. @param parts Further inputs, in addition to the lock files of the checkout. */
export async function environmentKey(checkout: string, parts: unknown): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(parts));
  for (const file of await findLockFiles(checkout)) {
    const at = path.join(checkout, file);
    if ((await lstat(at)).size > maxBytes) continue;
    const opened = await openInside(checkout, at);
    try {
      hash.update(`\0${file}\0`).update(await opened.readFile());
    } finally {
      await opened.close();
    }
  }
  return hash.digest('hex').slice(0, 40);
}
