// Issues of the project on GitLab. GitLab has no idempotency key, so an invisible mark in the text shows whether an issue or note exists
// already.
import { z } from 'zod';
import { hours, isoTime } from '#foundation/clock.ts';
import { creationTimeOf } from '#foundation/ids.ts';
import { conflict, invalid } from '#foundation/problem.ts';
import type { Project } from '../../projects/model.ts';
import { connectVendor, type VendorConnection } from '../connection.ts';
import { markOf, shareCall } from '../marks.ts';
import type { Tracker } from '../tracker.ts';
import { fetchGitLab, fullPathOf, projectPath, repositoryOf } from './api.ts';
import { findMarkedEntry, Note, notesPerPage, textForGitLab, writeNote } from './notes.ts';

const Issue = z.object({
  iid: z.int(),
  web_url: z.url({ protocol: /^https?$/ }),
  title: z.string(),
  description: z.string().nullish(),
});

/** GitLab's maximum length of a title. */
const maxTitle = 255;

export const gitlabTracker: Tracker = {
  createIssue: (project, { runId, title, body, labels }) =>
    shareCall(`issue ${runId}`, async () => {
      const path = `${projectPath(project)}/issues`;
      const connection = await connectVendor(project, 'tracker', 'gitlab');
      const json = {
        title: title.slice(0, maxTitle).toWellFormed(),
        description: textForGitLab(body, runId),
        labels,
      };
      const issue =
        (await issueOfRun(connection, path, runId)) ??
        (await fetchGitLab(connection, path, Issue, { method: 'POST', json }));
      return asIssue(project, issue);
    }),

  async findIssue(project, reference) {
    const [, path, number] = /^(?:([^#]*)#)?(\d{1,15})$/.exec(reference) ?? [];
    const own = fullPathOf(project);
    if (!number || (path && path.toLowerCase() !== own.toLowerCase())) {
      throw invalid.field('issue', `must be the number of an issue of ${own}, for example #12`);
    }
    const connection = await connectVendor(project, 'tracker', 'gitlab');
    const issuePath = `${projectPath(project)}/issues/${number}`;
    const issue = await fetchGitLab(connection, issuePath, Issue);
    const query = new URLSearchParams({ sort: 'desc', order_by: 'created_at', per_page: String(notesPerPage) });
    const notes = await fetchGitLab(connection, `${issuePath}/notes?${query}`, z.array(Note));
    return {
      ...asIssue(project, issue),
      title: issue.title,
      body: issue.description ?? '',
      comments: notes
        .filter(({ system }) => !system)
        .map(({ body, author }) => ({ author: author?.username ?? '', text: body ?? '' }))
        .reverse(),
    };
  },

  async finishIssue(project, issueId, { runId, closes, comment: text }) {
    const [, path, number] = /^([^#]+\/[^#]+)#(\d+)$/.exec(issueId) ?? [];
    if (!path || !number) throw conflict(`${issueId} is not the id of a GitLab issue.`);
    const connection = await connectVendor(project, 'tracker', 'gitlab');
    const [scmOwner, scmRepo] = repositoryOf(path).split('/') as [string, string];
    const issuePath = `${projectPath({ scmOwner, scmRepo })}/issues/${number}`;
    if (text !== null) await writeNote(connection, issuePath, { runId, text });
    if (closes) await fetchGitLab(connection, issuePath, Issue, { method: 'PUT', json: { state_event: 'close' } });
  },
};

const asIssue = (project: Project, { iid, web_url: url }: z.infer<typeof Issue>) => ({
  id: `${fullPathOf(project)}#${iid}`,
  url,
});

/** The allowed difference between GitLab's clock and the service's. */
const clockDifferenceMs = hours(1);

const issueOfRun = (
  connection: VendorConnection,
  path: string,
  runId: string,
): Promise<z.infer<typeof Issue> | undefined> => {
  const created_after = isoTime(creationTimeOf(runId) - clockDifferenceMs);
  const query = { order_by: 'created_at', sort: 'asc', created_after };
  return findMarkedEntry(connection, path, query, Issue, {
    isMarked: ({ description }) => description?.includes(markOf(runId)) ?? false,
  });
};
