// Notes of commits (git-notes): the attestations of the platform, in `refs/notes/attestations` of the source host.
import { git, type Remote } from './git.ts';

export interface Note {
  sha: string;
  text: string;
}

const ref = 'refs/notes/attestations';
/** Maximum number of attempts: a push fails if another mission has just pushed notes to the same repository. */
const maxAttempts = 5;
const writer = ['-c', 'user.name=Attestations', '-c', 'user.email=attestations@localhost'];

/**
 * Adds the notes to those that the source host already has.
 * @throws when the host refuses them
 */
export async function pushNotes(mirror: string, remote: Remote, notes: readonly Note[]): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    // The pattern matches nothing in a repository without notes, which is not an error. Notes that were not pushed are dropped.
    await git(mirror, ['fetch', '--quiet', '--prune', remote.url, `+${ref}*:${ref}*`], { remote });
    // The text is passed to git on standard input, because the system limits an argument to 128 KiB.
    for (const { sha, text: input } of notes)
      await git(mirror, [...writer, 'notes', `--ref=${ref}`, 'add', '--force', '--file', '-', sha], { input });
    try {
      await git(mirror, ['push', '--quiet', remote.url, `${ref}:${ref}`], { remote });
      return;
    } catch (error) {
      const isRace = /\[rejected\]|cannot lock ref|failed to update ref/.test((error as Error).message);
      if (attempt === maxAttempts || !isRace) throw error;
    }
  }
}
