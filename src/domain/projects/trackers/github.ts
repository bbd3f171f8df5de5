// Issues of the project's repository at GitHub. GitHub has no idempotency key: an invisible mark in the text shows whether an issue or
// comment exists already.
import { z } from 'zod';
import { hours } from '#foundation/clock.ts';
import { madeAt } from '#foundation/ids.ts';
import type { Row } from '#foundation/postgres/base-model.ts';
import { conflict, invalid } from '#foundation/problem.ts';
import type { Project } from '../projects/model.ts';
import { connectVendor, type VendorConnection } from '../vendors/connection.ts';
import { fetchGitHub, repositoryPath } from '../vendors/github.ts';
import type { Tracker } from './tracker.ts';

/** Entries per page of a list, and the number of pages searched. */
const pageSize = 100;
const maxPages = 5;

const Entry = z.object({
  body: z.string().nullish(),
  html_url: z.url({ protocol: /^https?$/ }),
  created_at: z.iso.datetime({ offset: true }),
});
const CommentEntry = Entry.extend({ id: z.int() });
const IssueEntry = Entry.extend({ number: z.int(), pull_request: z.unknown().optional() });

const Person = z.object({ login: z.string() }).nullish();
const WrittenIssue = IssueEntry.extend({ title: z.string() });
const WrittenComment = z.object({ body: z.string().nullish(), user: Person });

const markOf = (runId: string): string => `<!-- run: ${runId} -->`;
const marked = (text: string, runId: string): string => `${text}\n\n${markOf(runId)}`;

export const githubTracker: Tracker = {
  createIssue: (project, { runId, title, body, labels }) =>
    once(`issue ${runId}`, async () => {
      const path = `${repositoryPath(project)}/issues`;
      const connection = await connectVendor(project, 'tracker', 'github');
      const issue =
        (await issueOfRun(connection, path, runId)) ??
        (await fetchGitHub(connection, path, IssueEntry, {
          method: 'POST',
          json: { title, body: marked(body, runId), labels },
        }));
      return asIssue(project, issue);
    }),

  async findIssue(project, reference) {
    const [, repository, number] = /^(?:([^#]*)#)?(\d{1,15})$/.exec(reference) ?? [];
    const projectRepository = `${project.scmOwner}/${project.scmRepo}`;
    if (!number || (repository && repository.toLowerCase() !== projectRepository.toLowerCase())) {
      throw invalid.field('issue', `must be the number of an issue of ${projectRepository}, for example #12`);
    }
    const connection = await connectVendor(project, 'tracker', 'github');
    const path = `${repositoryPath(project)}/issues/${number}`;
    const issue = await fetchGitHub(connection, path, WrittenIssue);
    if (issue.pull_request) throw invalid.field('issue', `#${number} of ${projectRepository} is a pull request`);
    const comments = await fetchGitHub(connection, `${path}/comments?per_page=${pageSize}`, z.array(WrittenComment));
    return {
      ...asIssue(project, issue),
      title: issue.title,
      body: issue.body ?? '',
      comments: comments.map(({ body, user }) => ({ author: user?.login ?? '', text: body ?? '' })),
    };
  },

  finishIssue: (project, issueId, { runId, closes, comment }) =>
    once(`comment ${runId}`, async () => {
      const [, scmOwner, scmRepo, number] = /^([^/#]+)\/([^/#]+)#(\d+)$/.exec(issueId) ?? [];
      if (!scmOwner || !scmRepo) throw conflict(`${issueId} is not an issue on GitHub.`);
      const path = `${repositoryPath({ scmOwner, scmRepo })}/issues/${number}`;
      const connection = await connectVendor(project, 'tracker', 'github');
      const body = marked(comment, runId);
      const said = await findMarked(connection, `${path}/comments`, {}, CommentEntry, runId);
      if (!said) await fetchGitHub(connection, `${path}/comments`, CommentEntry, { method: 'POST', json: { body } });
      else if (said.body !== body) {
        const own = `${repositoryPath({ scmOwner, scmRepo })}/issues/comments/${said.id}`;
        await fetchGitHub(connection, own, CommentEntry, { method: 'PATCH', json: { body } });
      }
      if (!closes) return;
      await fetchGitHub(connection, path, IssueEntry, {
        method: 'PATCH',
        json: { state: 'closed', state_reason: 'completed' },
      });
    }),
};

const asIssue = ({ scmOwner, scmRepo }: Row<Project>, { number, html_url: url }: z.infer<typeof IssueEntry>) => ({
  id: `${scmOwner}/${scmRepo}#${number}`,
  url,
});

const underWay = new Map<string, Promise<unknown>>();

/** Concurrent calls with the same arguments share one result. The lease on the run excludes other processes. */
function once<T>(key: string, work: () => Promise<T>): Promise<T> {
  const running = underWay.get(key) as Promise<T> | undefined;
  if (running) return running;
  const begun = work().finally(() => underWay.delete(key));
  underWay.set(key, begun);
  return begun;
}

/** The allowed difference between GitHub's clock and the service's. */
const clockDifferenceMs = hours(1);

/**
 * The newest issues come first, so that the search ends at entries older than the run. Pull requests are listed too, and may quote the
 * mark.
 */
function issueOfRun(
  connection: VendorConnection,
  path: string,
  runId: string,
): Promise<z.infer<typeof IssueEntry> | undefined> {
  const query = { state: 'all', sort: 'created', direction: 'desc' };
  const oldest = madeAt(runId) - clockDifferenceMs;
  return findMarked(connection, path, query, IssueEntry, runId, {
    counts: (entry) => !entry.pull_request,
    isPast: (entry) => Date.parse(entry.created_at) < oldest,
  });
}

async function findMarked<E extends z.infer<typeof Entry>>(
  connection: VendorConnection,
  path: string,
  query: Record<string, string>,
  shape: z.ZodType<E>,
  runId: string,
  { counts = () => true, isPast = () => false }: { counts?(entry: E): boolean; isPast?(entry: E): boolean } = {},
): Promise<E | undefined> {
  const mark = markOf(runId);
  for (let page = 1; page <= maxPages; page++) {
    const asked = new URLSearchParams({ ...query, per_page: String(pageSize), page: String(page) });
    const entries = await fetchGitHub(connection, `${path}?${asked}`, z.array(shape));
    const found = entries.find((entry) => counts(entry) && entry.body?.includes(mark));
    if (found || entries.length < pageSize || isPast(entries.at(-1)!)) return found;
  }
  return undefined;
}
