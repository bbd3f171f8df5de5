// Pull requests on GitHub (REST, "Pulls"). GitHub keeps at most one open pull request for a branch and its base, so the branch shows
// whether one exists already.
import { z } from 'zod';
import { isoTime } from '#foundation/clock.ts';
import { jsonOf } from '#foundation/http/outbound.ts';
import { connectVendor } from '../connection.ts';
import { isOfMission } from '../marks.ts';
import { type PullRequest, type PullRequests, statusContext } from '../source-host.ts';
import { callGitHub, fetchGitHub, refusalOf, repositoryPath } from './api.ts';
import { setCheck } from './checks.ts';
import { githubReviews } from './reviews.ts';

const Listed = z.object({
  number: z.int(),
  html_url: z.url({ protocol: /^https?$/ }),
  state: z.enum(['open', 'closed']),
  head: z.object({ sha: z.string() }),
});
const Detailed = Listed.extend({ merged: z.boolean(), mergeable: z.boolean().nullish(), mergeable_state: z.string() });

const Refused = z.object({ message: z.string() });

const Comment = z.object({
  html_url: z.url({ protocol: /^https?$/ }),
  body: z.string().nullish(),
  created_at: z.iso.datetime({ offset: true }),
  user: z.object({ login: z.string(), type: z.string() }).nullish(),
  path: z.string().optional(),
  line: z.int().nullish(),
});

const asPullRequest = ({ number, html_url: url, state, head, ...details }: z.infer<typeof Detailed>): PullRequest => ({
  number,
  url,
  state: details.merged ? 'merged' : state,
  headSha: head.sha,
  hasConflict: state === 'open' && details.mergeable_state === 'dirty',
  isUndecided: state === 'open' && details.mergeable === null,
  isReady: state === 'open' && details.mergeable_state === 'clean',
});

export const pullRequests: PullRequests = {
  async open(project, { branch, baseBranch: base, title, body }) {
    const connection = await connectVendor(project, 'scm', 'github');
    const path = `${repositoryPath(project)}/pulls`;
    const query = new URLSearchParams({ state: 'open', head: `${project.scmOwner}:${branch}`, base });
    const [existing] = await fetchGitHub(connection, `${path}?${query}`, z.array(Listed));
    const pullRequest = existing
      ? await fetchGitHub(connection, `${path}/${existing.number}`, Detailed, {
          method: 'PATCH',
          json: { title, body },
        })
      : await fetchGitHub(connection, path, Detailed, { method: 'POST', json: { title, body, head: branch, base } });
    return asPullRequest(pullRequest);
  },

  async read(project, number) {
    const connection = await connectVendor(project, 'scm', 'github');
    return asPullRequest(await fetchGitHub(connection, `${repositoryPath(project)}/pulls/${number}`, Detailed));
  },

  async comments(project, number, since) {
    const connection = await connectVendor(project, 'scm', 'github');
    const query = new URLSearchParams({ since: isoTime(since), per_page: '100' });
    const lists = ['issues', 'pulls'].map((kind) =>
      fetchGitHub(connection, `${repositoryPath(project)}/${kind}/${number}/comments?${query}`, z.array(Comment)),
    );
    return (await Promise.all(lists))
      .flat()
      .filter(({ body, user }) => body && user?.type === 'User' && !isOfMission(body))
      .sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at))
      .map(({ html_url: url, body, user, path, line }) => ({
        url,
        author: user!.login,
        text: body!,
        place: path ? `${path}${line ? `:${line}` : ''}` : null,
      }));
  },

  async setStatus(project, sha, { state, description, url: target_url }) {
    const connection = await connectVendor(project, 'scm', 'github');
    const json = { state, description, target_url, context: statusContext };
    await fetchGitHub(connection, `${repositoryPath(project)}/statuses/${sha}`, z.unknown(), { method: 'POST', json });
  },

  setCheck,
  ...githubReviews,

  async merge(project, number, sha) {
    const connection = await connectVendor(project, 'scm', 'github');
    const path = `${repositoryPath(project)}/pulls/${number}/merge`;
    const answered = await callGitHub(connection, path, { method: 'PUT', json: { sha } });
    // 405 means that the pull request cannot be merged, 409 that its head has moved. The next read of the pull request shows its state.
    if (![200, 405, 409].includes(answered.status)) throw refusalOf(connection, path, answered);
    const { data } = Refused.safeParse(jsonOf(answered));
    return answered.status === 200 ? null : (data?.message ?? `status ${answered.status}`).slice(0, 300);
  },
};
