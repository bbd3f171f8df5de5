// Reviews by people, and threads on changed lines, on GitLab (REST, "Discussions"). A review is one note on the merge request.
import { z } from 'zod';
import { connectVendor } from '../connection.ts';
import { commentIn, commentMark, markedComment, placed, queueCall, reviewMark, withoutMarks } from '../marks.ts';
import { type PullRequests, threadBounds } from '../source-host.ts';
import { fetchGitLab, fullPathOf, projectPath, siteOf, withoutQuickActions } from './api.ts';
import { findMarkedEntry, Note } from './notes.ts';

const review: PullRequests['review'] = async (project, number, { reviewId, body, comments }) => {
  const connection = await connectVendor(project, 'scm', 'gitlab');
  const path = `${projectPath(project)}/merge_requests/${number}/notes`;
  const mark = reviewMark(reviewId);
  const text = [body, ...comments.map(placed)].join('\n\n');
  await queueCall(`${connection.address}${path} ${reviewId}`, async () => {
    const isMarked = (note: z.infer<typeof Note>) => note.body?.includes(mark) ?? false;
    const newestFirst = { sort: 'desc', order_by: 'created_at' };
    if (await findMarkedEntry(connection, path, newestFirst, Note, { isMarked })) return;
    const json = { body: `${withoutQuickActions(text)}\n\n${mark}` };
    await fetchGitLab(connection, path, Note, { method: 'POST', json });
  });
};

const Discussion = z.object({
  id: z.string(),
  notes: z.array(
    Note.extend({
      resolved: z.boolean().optional(),
      resolved_by: z.object({ username: z.string() }).nullish(),
      position: z
        .object({
          old_path: z.string().nullish(),
          new_path: z.string().nullish(),
          old_line: z.int().nullish(),
          new_line: z.int().nullish(),
        })
        .nullish(),
    }),
  ),
});

const threads: PullRequests['threads'] = async (project, number) => {
  const connection = await connectVendor(project, 'scm', 'gitlab');
  const path = `${projectPath(project)}/merge_requests/${number}/discussions?per_page=${threadBounds.threads}`;
  const page = `${siteOf(connection)}/${fullPathOf(project)}/-/merge_requests/${number}`;
  return (await fetchGitLab(connection, path, z.array(Discussion))).flatMap(({ id: key, notes }) => {
    const [first] = notes;
    const { position, resolved = false, resolved_by } = first ?? {};
    const [newLine, oldLine] = [position?.new_line ?? null, position?.old_line ?? null];
    const filePath = newLine === null ? position?.old_path : position?.new_path;
    if (!first || !filePath) return [];
    return [
      {
        ...{ key, url: `${page}#note_${first.id}`, path: filePath, isResolved: resolved },
        ...{ startLine: newLine ?? oldLine, line: newLine ?? oldLine },
        side: newLine === null ? ('old' as const) : ('new' as const),
        resolvedBy: resolved_by?.username ?? null,
        commentId: commentIn(first.body ?? ''),
        comments: notes
          .filter(({ system, body }) => !system && body)
          .slice(0, threadBounds.comments)
          .map(({ author, body, created_at }) => ({
            author: author?.username ?? 'ghost',
            body: withoutMarks(body!).slice(0, threadBounds.body).toWellFormed(),
            createdAt: Date.parse(created_at),
          })),
      },
    ];
  });
};

const pathOf = (project: Parameters<typeof projectPath>[0], number: number, key: string): string =>
  `${projectPath(project)}/merge_requests/${number}/discussions/${encodeURIComponent(key)}`;

const resolveThread: PullRequests['resolveThread'] = async (project, number, key, resolved) => {
  const connection = await connectVendor(project, 'scm', 'gitlab');
  await fetchGitLab(connection, pathOf(project, number, key), z.unknown(), { method: 'PUT', json: { resolved } });
};

const answerThread: PullRequests['answerThread'] = async (project, number, key, { id, body }) => {
  const connection = await connectVendor(project, 'scm', 'gitlab');
  const path = pathOf(project, number, key);
  await queueCall(`${connection.address}${path} ${id}`, async () => {
    const { notes } = await fetchGitLab(connection, path, Discussion);
    if (notes.some((note) => note.body?.includes(commentMark(id)))) return;
    const json = { body: markedComment(withoutQuickActions(body), id) };
    await fetchGitLab(connection, `${path}/notes`, Note, { method: 'POST', json });
  });
};

export const gitlabReviews = { review, threads, resolveThread, answerThread };
