// Issues of the project's repository on GitHub. GitHub has no idempotency key, so an invisible mark in the text shows whether an issue or
// comment exists already.
import { z } from 'zod';
import { hours } from '#foundation/clock.ts';
import { creationTimeOf } from '#foundation/ids.ts';
import { conflict, invalid } from '#foundation/problem.ts';
import type { Project } from '../../projects/model.ts';
import { connectVendor, type VendorConnection } from '../connection.ts';
import { marked, markOf, shareCall } from '../marks.ts';
import type { Tracker } from '../tracker.ts';
import { fetchGitHub, repositoryPath } from './api.ts';
import { findMarked, pageSize, WrittenText, writeComment } from './comments.ts';

const IssueEntry = WrittenText.extend({ number: z.int(), pull_request: z.unknown().optional() });

const Person = z.object({ login: z.string() }).nullish();
const WrittenIssue = IssueEntry.extend({ title: z.string() });
const WrittenComment = z.object({ body: z.string().nullish(), user: Person });

export const githubTracker: Tracker = {
  createIssue: (project, { runId, title, body, labels }) =>
    shareCall(`issue ${runId}`, async () => {
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

  async finishIssue(project, issueId, { runId, closes, comment: text }) {
    const [, scmOwner, scmRepo, number] = /^([^/#]+)\/([^/#]+)#(\d+)$/.exec(issueId) ?? [];
    if (!scmOwner || !scmRepo || !number) throw conflict(`${issueId} is not an issue on GitHub.`);
    const connection = await connectVendor(project, 'tracker', 'github');
    if (text !== null) await writeComment(connection, { scmOwner, scmRepo, number }, { runId, text });
    if (!closes) return;
    await fetchGitHub(connection, `${repositoryPath({ scmOwner, scmRepo })}/issues/${number}`, IssueEntry, {
      method: 'PATCH',
      json: { state: 'closed', state_reason: 'completed' },
    });
  },
};

const asIssue = ({ scmOwner, scmRepo }: Project, { number, html_url: url }: z.infer<typeof IssueEntry>) => ({
  id: `${scmOwner}/${scmRepo}#${number}`,
  url,
});

/** The allowed difference between GitHub's clock and the service's. */
const clockDifferenceMs = hours(1);

/**
 * Newest issues first, so that the search can stop at entries older than the run. The list includes pull requests, which may quote the
 * mark.
 */
function issueOfRun(
  connection: VendorConnection,
  path: string,
  runId: string,
): Promise<z.infer<typeof IssueEntry> | undefined> {
  const query = { state: 'all', sort: 'created', direction: 'desc' };
  const oldest = creationTimeOf(runId) - clockDifferenceMs;
  return findMarked(connection, path, query, IssueEntry, markOf(runId), {
    counts: (entry) => !entry.pull_request,
    isPast: (entry) => Date.parse(entry.created_at) < oldest,
  });
}
