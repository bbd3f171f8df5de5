// The skills of an agent (agentskills.io): folders with a SKILL.md. Their repositories are cloned into a folder next to the agent's own;
// the agent's prompt has the name and description of each skill, and the agent reads the rest of a skill when needed.
import { chmod, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Account, RunLease } from '../contract.ts';
import { chownRecursive } from '../isolation/accounts.ts';
import type { Place } from '../isolation/place.ts';
import type { Platform } from '../protocol/platform.ts';
import { git } from './git.ts';
import { openOrigin } from './repository.ts';
import type { Origin } from './workspace.ts';

export interface Skills {
  /** Text for the agent's instructions; null without skills. */
  text: string | null;
  /** Text for the log, with one line per repository. */
  description: string;
}

const fileName = 'SKILL.md';
const maxSkills = 100;
const maxCharacters = 1_000;

/** Clones the latest state of each repository (`<owner>/<repo>`). The log names those that cannot be cloned. */
export async function installSkills(
  platform: Platform,
  lease: RunLease,
  repositories: readonly string[],
  { skills: parent }: Place,
  account: Account | undefined,
): Promise<Skills> {
  if (repositories.length === 0) return { text: null, description: '' };
  // A new folder for each step: an agent owns its folder, and nothing is written into a used one.
  const folder = await mkdtemp(path.join(parent, 'step-'));
  const lines: string[] = [];
  const entries: string[] = [];
  for (const [i, name] of repositories.entries()) {
    // The name of the folder is a number. The name of the repository is not used, because people choose it.
    const checkout = path.join(folder, String(i));
    try {
      await fetchTo(checkout, await openOrigin(platform, { ...lease, skillRepo: name }));
      const found = await skillsIn(checkout);
      entries.push(...found);
      lines.push(`Skills of ${name}: ${found.length}.`);
    } catch (error) {
      await rm(checkout, { recursive: true, force: true });
      lines.push(`The skills of ${name} are not available: ${(error as Error).message}`);
    }
  }
  await chownRecursive(folder, account);
  if (!account) await chmod(folder, 0o755);
  const text = `Skills. Before work to which a skill applies, read its file.\n\n${entries.slice(0, maxSkills).join('\n')}`;
  return { text: entries.length > 0 ? text : null, description: lines.join('\n') };
}

async function fetchTo(folder: string, origin: Origin): Promise<void> {
  await mkdir(folder, { recursive: true });
  await git(folder, ['init', '--quiet']);
  const branch = `refs/heads/${origin.defaultBranch}`;
  await git(folder, ['fetch', '--quiet', '--depth=1', '--no-tags', origin.url, branch], { remote: origin });
  await git(folder, ['checkout', '--quiet', '--detach', 'FETCH_HEAD']);
  await rm(path.join(folder, '.git'), { recursive: true });
}

/** The skills of a folder, one line each: name, description, file. */
async function skillsIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name === fileName);
  return Promise.all(
    files.slice(0, maxSkills).map(async ({ parentPath }) => {
      const file = path.join(parentPath, fileName);
      const text = await readFile(file, 'utf8');
      const name = fieldOf(text, 'name') ?? path.basename(parentPath);
      return `- ${name}: ${fieldOf(text, 'description') ?? 'no description'} (${file})`;
    }),
  );
}

/**
 * Reads a field of the YAML block at the top of the file. Its value may be plain, quoted or folded over indented lines. Null if the block
 * or the field is missing.
 */
function fieldOf(text: string, name: 'name' | 'description'): string | null {
  const [, block] = /^---\r?\n([\s\S]*?)\r?\n---/.exec(text) ?? [];
  const [, value] =
    new RegExp(`^${name}:[ \\t]*(?:[>|][+-]?[ \\t]*)?(.*(?:\\n[ \\t]+.*)*)`, 'm').exec(block ?? '') ?? [];
  return value ? oneLine(value).replace(/^(["'])(.*)\1$/, '$2') : null;
}

const oneLine = (value: string): string => value.replace(/\s+/g, ' ').trim().slice(0, maxCharacters);
