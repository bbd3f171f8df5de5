// Merge requests on GitLab (REST, "Merge requests"). GitLab keeps at most one open merge request for a branch and its target, so the
// branch shows whether one exists already.
import { z } from 'zod';
import { connectVendor } from '../connection.ts';
import { isOfMission } from '../marks.ts';
import { type PullRequest, type PullRequests, statusContext } from '../source-host.ts';
import {
  callGitLab,
  fetchGitLab,
  fullPathOf,
  gitlabRefusal,
  isBotName,
  projectPath,
  siteOf,
  withoutQuickActions,
  wordsOf,
} from './api.ts';
import { gitlabReviews } from './discussions.ts';
import { Note } from './notes.ts';

const MergeRequest = z.object({
  iid: z.int(),
  web_url: z.url({ protocol: /^https?$/ }),
  state: z.enum(['opened', 'closed', 'locked', 'merged']),
  sha: z.string().nullable(),
  has_conflicts: z.boolean(),
  detailed_merge_status: z.string(),
  head_pipeline: z.object({ status: z.string() }).nullish(),
});

const Discussed = Note.extend({
  position: z
    .object({ new_path: z.string().nullish(), new_line: z.int().nullish(), old_line: z.int().nullish() })
    .nullish(),
});

const passed: readonly string[] = ['success', 'skipped'];

const asPullRequest = (one: z.infer<typeof MergeRequest>): PullRequest => {
  const { iid: number, web_url: url, state, sha, has_conflicts, detailed_merge_status, head_pipeline } = one;
  const isOpen = state === 'opened';
  return {
    number,
    url,
    // A merge request is locked while GitLab merges it.
    state: state === 'opened' || state === 'locked' ? 'open' : state,
    headSha: sha ?? '',
    hasConflict: isOpen && has_conflicts,
    // Some projects do not require their pipelines to pass.
    isReady:
      isOpen && detailed_merge_status === 'mergeable' && (!head_pipeline || passed.includes(head_pipeline.status)),
  };
};

/** Maximum length of a merge request's title, in characters. */
const limits = { title: 255 };

export const mergeRequests: PullRequests = {
  async open(project, { branch: source_branch, baseBranch: target_branch, title, body }) {
    const connection = await connectVendor(project, 'scm', 'gitlab');
    const path = `${projectPath(project)}/merge_requests`;
    const query = new URLSearchParams({ state: 'opened', source_branch, target_branch });
    const [existing] = await fetchGitLab(connection, `${path}?${query}`, z.array(z.object({ iid: z.int() })));
    const words = { title: title.slice(0, limits.title).toWellFormed(), description: withoutQuickActions(body) };
    return asPullRequest(
      existing
        ? await fetchGitLab(connection, `${path}/${existing.iid}`, MergeRequest, { method: 'PUT', json: words })
        : await fetchGitLab(connection, path, MergeRequest, {
            method: 'POST',
            json: { source_branch, target_branch, ...words },
          }),
    );
  },

  async read(project, number) {
    const connection = await connectVendor(project, 'scm', 'gitlab');
    return asPullRequest(
      await fetchGitLab(connection, `${projectPath(project)}/merge_requests/${number}`, MergeRequest),
    );
  },

  async comments(project, number, since) {
    const connection = await connectVendor(project, 'scm', 'gitlab');
    const query = new URLSearchParams({ sort: 'desc', order_by: 'created_at', per_page: '100' });
    const path = `${projectPath(project)}/merge_requests/${number}/notes?${query}`;
    const page = `${siteOf(connection)}/${fullPathOf(project)}/-/merge_requests/${number}`;
    return (await fetchGitLab(connection, path, z.array(Discussed)))
      .filter(({ created_at }) => Date.parse(created_at) >= since)
      .filter(
        ({ system, body, author }) => !system && body && author && !isBotName(author.username) && !isOfMission(body),
      )
      .reverse()
      .map(({ id, body, author, position }) => {
        const line = position?.new_line ?? position?.old_line;
        return {
          url: `${page}#note_${id}`,
          author: author!.username,
          text: body!,
          place: position?.new_path ? `${position.new_path}${line ? `:${line}` : ''}` : null,
        };
      });
  },

  ...gitlabReviews,

  async setStatus(project, sha, { state, description, url: target_url }) {
    const connection = await connectVendor(project, 'scm', 'gitlab');
    const path = `${projectPath(project)}/statuses/${sha}`;
    const json = {
      state: state === 'failure' ? 'failed' : state,
      name: statusContext,
      description,
      target_url,
    };
    const answered = await callGitLab(connection, path, { method: 'POST', json });
    // GitLab refuses to set the same state again.
    if (answered.status === 400 && /cannot transition/i.test(wordsOf(answered) ?? '')) return;
    if (answered.status > 299) throw gitlabRefusal(connection, path, answered);
  },

  async merge(project, number, sha) {
    const connection = await connectVendor(project, 'scm', 'gitlab');
    const path = `${projectPath(project)}/merge_requests/${number}/merge`;
    const answered = await callGitLab(connection, path, { method: 'PUT', json: { sha } });
    // 401 means that the token is not allowed to merge, 405 and 422 that the merge request cannot be merged, 409 that its head has moved.
    // The next read of the merge request shows its state.
    if (![200, 401, 405, 409, 422].includes(answered.status)) throw gitlabRefusal(connection, path, answered);
    return answered.status === 200 ? null : (wordsOf(answered) ?? `status ${answered.status}`).slice(0, 300);
  },
};
