// Pull requests at GitHub (REST, "Pulls"). GitHub keeps at most one open pull request for a branch and its base, so the branch tells
// whether it exists already.
import { z } from 'zod';
import { connectVendor } from '../vendors/connection.ts';
import { callGitHub, fetchGitHub, refusalOf, repositoryPath } from '../vendors/github.ts';
import type { PullRequest, PullRequests } from './repository.ts';

const Listed = z.object({
  number: z.int(),
  html_url: z.url({ protocol: /^https?$/ }),
  state: z.enum(['open', 'closed']),
  head: z.object({ sha: z.string() }),
});
const Shown = Listed.extend({ merged: z.boolean(), mergeable_state: z.string() });

const asPullRequest = ({ number, html_url: url, state, head, ...shown }: z.infer<typeof Shown>): PullRequest => ({
  number,
  url,
  state: shown.merged ? 'merged' : state,
  headSha: head.sha,
  isReady: state === 'open' && shown.mergeable_state === 'clean',
});

export const pullRequests: PullRequests = {
  async open(project, { branch, baseBranch: base, title, body }) {
    const connection = await connectVendor(project, 'scm', 'github');
    const path = `${repositoryPath(project)}/pulls`;
    const query = new URLSearchParams({ state: 'open', head: `${project.scmOwner}:${branch}`, base });
    const [existing] = await fetchGitHub(connection, `${path}?${query}`, z.array(Listed));
    const pullRequest = existing
      ? await fetchGitHub(connection, `${path}/${existing.number}`, Shown, { method: 'PATCH', json: { title, body } })
      : await fetchGitHub(connection, path, Shown, { method: 'POST', json: { title, body, head: branch, base } });
    return asPullRequest(pullRequest);
  },

  async read(project, number) {
    const connection = await connectVendor(project, 'scm', 'github');
    return asPullRequest(await fetchGitHub(connection, `${repositoryPath(project)}/pulls/${number}`, Shown));
  },

  async merge(project, number, sha) {
    const connection = await connectVendor(project, 'scm', 'github');
    const path = `${repositoryPath(project)}/pulls/${number}/merge`;
    const answered = await callGitHub(connection, path, { method: 'PUT', json: { sha } });
    // 405: it cannot be merged (any more); 409: its head has moved. The next look at it tells.
    if (![200, 405, 409].includes(answered.status)) throw refusalOf(connection, path, answered);
  },
};
