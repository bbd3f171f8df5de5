// The port to source hosts: a file of a project's repository as it is at a ref. One file per vendor. Names are checked here, before
// any of them sees them: a path stays inside of its repository, and a ref is one by git's own rules (git-check-ref-format).
import type { Row } from '#foundation/base-model.ts';
import { invalid } from '#foundation/problem.ts';
import { bytes } from '#limits.ts';
import type { Integration } from '../integrations/model.ts';
import type { Project } from '../projects/model.ts';

export interface RepositoryFile {
  path: string;
  /** `HEAD` for the default branch. */
  ref: string;
  content: string;
}

export interface Repository {
  /**
   * Null: no such file, or no such ref. Without a ref: of the default branch.
   * @throws 400 for what is no text or too large, 409 for what a person has to put right, retryable 502 to 504
   */
  readFile(project: Row<Project>, connector: Row<Integration>, path: string, ref?: string): Promise<Buffer | null>;
}

/** @throws 400 that names the `field` */
export function checkPath(path: string, field = 'path'): void {
  const parts = path.split('/');
  if (path.startsWith('-') || hasControl(path) || parts.some((part) => part === '' || part === '.' || part === '..')) {
    throw invalid(`${field}: must be the path of a file from the top of its repository, without . and .. in it.`);
  }
}

/** @throws 400 */
export function checkRef(ref: string): void {
  const parts = ref.split('/');
  const odd = /^@$|^-|\.\.|@\{|[ ~^:?*[\\]|\.$/.test(ref) || hasControl(ref);
  if (odd || parts.some((part) => part === '' || part.startsWith('.') || part.endsWith('.lock'))) {
    throw invalid('ref: must be the name of a branch, a tag or a commit.');
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const hasControl = (text: string): boolean => /[\0-\x1f\x7f]/.test(text);

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @throws 400 when it is no text */
export function textOf(content: Buffer): string {
  try {
    if (!content.includes(0)) return utf8.decode(content);
  } catch {
    // Not UTF-8.
  }
  throw invalid('path: the file is not a text file.');
}

export const fileTooLarge = () => invalid(`path: the file has more than ${bytes.repositoryFile} bytes.`);
