// The note of a run on an issue or merge request on GitLab; each run has one.
import { z } from 'zod';
import type { VendorConnection } from '../connection.ts';
import { marked, markOf, queueCall } from '../marks.ts';
import { fetchGitLab, withoutQuickActions } from './api.ts';

/** Entries per page of a list, and the number of pages searched. */
export const notesPerPage = 100;
const maxPages = 5;

export const Note = z.object({
  id: z.int(),
  body: z.string().nullish(),
  system: z.boolean().optional(),
  created_at: z.iso.datetime({ offset: true }),
  author: z.object({ username: z.string() }).nullish(),
});

/** The text of a run, in the form that GitLab stores. */
export const textForGitLab = (text: string, runId: string): string => marked(withoutQuickActions(text), runId);

/** Writes the note, or changes it when the text differs. @param path Path of the issue or merge request */
export const writeNote = (
  connection: VendorConnection,
  path: string,
  { runId, text }: { runId: string; text: string },
): Promise<void> =>
  queueCall(`${connection.address}${path} ${runId}`, async () => {
    const body = textForGitLab(text, runId);
    const said = await findMarkedEntry(connection, `${path}/notes`, { sort: 'asc', order_by: 'created_at' }, Note, {
      isMarked: (note) => note.body?.includes(markOf(runId)) ?? false,
    });
    if (!said) await fetchGitLab(connection, `${path}/notes`, Note, { method: 'POST', json: { body } });
    // The texts are compared without white space at their ends, which GitLab removes.
    else if (said.body?.trim() !== body.trim())
      await fetchGitLab(connection, `${path}/notes/${said.id}`, Note, { method: 'PUT', json: { body } });
  });

export async function findMarkedEntry<E>(
  connection: VendorConnection,
  path: string,
  query: Record<string, string>,
  shape: z.ZodType<E>,
  { isMarked }: { isMarked(entry: E): boolean },
): Promise<E | undefined> {
  for (let page = 1; page <= maxPages; page++) {
    const asked = new URLSearchParams({ ...query, per_page: String(notesPerPage), page: String(page) });
    const entries = await fetchGitLab(connection, `${path}?${asked}`, z.array(shape));
    const found = entries.find(isMarked);
    if (found || entries.length < notesPerPage) return found;
  }
  return undefined;
}
