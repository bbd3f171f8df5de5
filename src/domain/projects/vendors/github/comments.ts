// The comment of a run on an issue or pull request on GitHub; each run has one.
import { z } from 'zod';
import type { VendorConnection } from '../connection.ts';
import { marked, markOf, queueCall } from '../marks.ts';
import { fetchGitHub, repositoryPath } from './api.ts';

/** Entries per page of a list, and the number of pages searched. */
export const pageSize = 100;
const maxPages = 5;

export const WrittenText = z.object({
  body: z.string().nullish(),
  html_url: z.url({ protocol: /^https?$/ }),
  created_at: z.iso.datetime({ offset: true }),
});
const CommentEntry = WrittenText.extend({ id: z.int() });

interface CommentedIssue {
  scmOwner: string;
  scmRepo: string;
  number: number | string;
}

/** Writes the comment, or changes it when the text differs. */
export const writeComment = (
  connection: VendorConnection,
  { number, ...repository }: CommentedIssue,
  { runId, text }: { runId: string; text: string },
): Promise<void> => {
  const path = `${repositoryPath(repository)}/issues/${number}/comments`;
  return queueCall(`${path} ${runId}`, async () => {
    const body = marked(text, runId);
    const said = await findMarked(connection, path, {}, CommentEntry, markOf(runId));
    if (!said) await fetchGitHub(connection, path, CommentEntry, { method: 'POST', json: { body } });
    else if (said.body !== body) {
      const own = `${repositoryPath(repository)}/issues/comments/${said.id}`;
      await fetchGitHub(connection, own, CommentEntry, { method: 'PATCH', json: { body } });
    }
  });
};

/**
 * Reads a list from GitHub's API page by page, and returns the first entry that has the mark in its text. Entries for which `counts` returns
 * false are skipped. The search ends after a page whose last entry makes `isPast` return true.
 */
export async function findMarked<E extends { body?: string | null | undefined }>(
  connection: VendorConnection,
  path: string,
  query: Record<string, string>,
  shape: z.ZodType<E>,
  mark: string,
  { counts = () => true, isPast = () => false }: { counts?(entry: E): boolean; isPast?(entry: E): boolean } = {},
): Promise<E | undefined> {
  for (let page = 1; page <= maxPages; page++) {
    const asked = new URLSearchParams({ ...query, per_page: String(pageSize), page: String(page) });
    const entries = await fetchGitHub(connection, `${path}?${asked}`, z.array(shape));
    const found = entries.find((entry) => counts(entry) && entry.body?.includes(mark));
    if (found || entries.length < pageSize || isPast(entries.at(-1)!)) return found;
  }
  return undefined;
}
