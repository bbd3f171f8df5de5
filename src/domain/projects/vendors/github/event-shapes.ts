// The members of GitHub's payloads that triggers read (docs.github.com/webhooks, "Webhook events and payloads").
import { z } from 'zod';

export const User = z.object({ id: z.int().nullish(), login: z.string(), type: z.string().nullish() });
export const RepositoryPayload = z.object({ full_name: z.string() });
export const IssuePayload = z.object({
  number: z.int(),
  html_url: z.string(),
  title: z.string(),
  body: z.string().nullish(),
  updated_at: z.string().nullish(),
  state: z.string().nullish(),
  pull_request: z.unknown().optional(),
});
export const Common = z.object({ action: z.string(), repository: RepositoryPayload, sender: User });
export const IssueEvent = Common.extend({
  issue: IssuePayload,
  label: z.object({ name: z.string() }).nullish(),
  assignee: User.nullish(),
});
export const Comment = z.object({
  id: z.int(),
  html_url: z.string(),
  body: z.string().nullish(),
  user: User.nullish(),
  path: z.string().nullish(),
  line: z.int().nullish(),
  diff_hunk: z.string().nullish(),
});
export const CommentEvent = Common.extend({
  comment: Comment,
  issue: IssuePayload.optional(),
  pull_request: IssuePayload.optional(),
  changes: z.object({ body: z.object({ from: z.string().nullish() }).nullish() }).nullish(),
});
export const ReviewEvent = Common.extend({
  review: Comment.extend({ state: z.string(), commit_id: z.string().nullish() }),
  pull_request: IssuePayload,
});
export const PullRequestEvent = Common.extend({
  pull_request: IssuePayload.extend({
    head: z.object({ ref: z.string() }).nullish(),
    merged: z.boolean().nullish(),
  }),
  label: z.object({ name: z.string() }).nullish(),
});
export const RepositoryMoved = Common.extend({
  changes: z
    .object({
      repository: z.object({ name: z.object({ from: z.string() }) }).nullish(),
      owner: z
        .object({
          from: z.object({
            user: z.object({ login: z.string() }).nullish(),
            organization: z.object({ login: z.string() }).nullish(),
          }),
        })
        .nullish(),
    })
    .nullish(),
});
export const CheckRun = Common.extend({
  check_run: z.object({
    id: z.int(),
    name: z.string(),
    html_url: z.string().nullish(),
    head_sha: z.string(),
    conclusion: z.string().nullish(),
    check_suite: z.object({ head_branch: z.string().nullish() }).nullish(),
    output: z
      .object({ title: z.string().nullish(), summary: z.string().nullish(), text: z.string().nullish() })
      .nullish(),
  }),
});
export const WorkflowRun = Common.extend({
  workflow_run: z.object({
    id: z.int(),
    run_attempt: z.int().nullish(),
    name: z.string().nullish(),
    html_url: z.string(),
    head_sha: z.string(),
    head_branch: z.string().nullish(),
    conclusion: z.string().nullish(),
  }),
});
export const Status = z.object({
  id: z.int(),
  sha: z.string(),
  state: z.string(),
  context: z.string(),
  description: z.string().nullish(),
  target_url: z.string().nullish(),
  branches: z.array(z.object({ name: z.string() })).nullish(),
  repository: RepositoryPayload,
  sender: User,
});
export const Push = z.object({ ref: z.string(), repository: RepositoryPayload });
export const AccountMoved = z.object({
  action: z.string(),
  account: z.object({ login: z.string() }),
  changes: z.object({ login: z.object({ from: z.string() }).nullish() }).nullish(),
});
export const InstallationEvent = z.object({
  action: z.string(),
  installation: z.object({ id: z.int(), account: z.object({ login: z.string().nullish() }).nullish() }),
});
