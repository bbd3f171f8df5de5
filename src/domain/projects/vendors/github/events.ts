// Events from GitHub (docs.github.com/webhooks, "Webhook events and payloads") that triggers can use.
import type { z } from 'zod';
import { invalid } from '#foundation/problem.ts';
import type { EventSource, InboundEvent, Remark, UnusedEvent } from '../event.ts';
import {
  newMentions,
  noDetails,
  type ReadPayload,
  readableBy,
  readerOf,
  textOfCheck,
  wordIn,
} from '../event-reader.ts';
import { textOfIssue } from '../issue-text.ts';
import { isOfMission } from '../marks.ts';
import { signatureInHeader } from '../signature.ts';
import { statusContext } from '../source-host.ts';
import type { FoundIssue } from '../tracker.ts';
import {
  CheckRun,
  CommentEvent,
  IssueEvent,
  type IssuePayload,
  PullRequestEvent,
  type RepositoryPayload,
  ReviewEvent,
  Status,
  type User,
  WorkflowRun,
} from './event-shapes.ts';
import { unusedEvents } from './unused-events.ts';

/** The text that GitHub's button "Revert" writes. */
const revertOf = (repository: string, body: string): number | null => {
  const [, place, number] = /^Reverts ([\w.-]+\/[\w.-]+)?#(\d{1,9})\b/m.exec(body) ?? [];
  return number && (!place || place.toLowerCase() === repository.toLowerCase()) ? Number(number) : null;
};

/** Issue id in this service: GitHub's repository and number. */
const issueOf = (repository: string, { number, html_url, title, body }: z.infer<typeof IssuePayload>): FoundIssue => ({
  id: `${repository}#${number}`,
  url: html_url,
  title,
  body: body ?? '',
  comments: [],
});

const authorOf = ({ id, login, type }: z.infer<typeof User>) => ({
  id: id == null ? null : String(id),
  login,
  isBot: type === 'Bot' || login.endsWith('[bot]'),
});
const failures: ReadonlySet<string> = new Set(['failure', 'timed_out', 'startup_failure', 'error']);

const readers: Readonly<Record<string, ReadPayload>> = {
  issues: readerOf(IssueEvent, ({ action, repository: { full_name }, sender, issue, label, assignee }) => {
    if (isOfMission(issue.body)) return { reason: 'The issue was written by a mission.' };
    const about = issueOf(full_name, issue);
    return {
      ...noDetails,
      kind: 'issue',
      action,
      repository: full_name,
      title: `${issue.title} (#${issue.number})`,
      author: authorOf(sender),
      issue: about,
      number: issue.number,
      reactsTo: `issues/${issue.number}`,
      labels: action === 'labeled' && label ? [label.name] : [],
      assignees: action === 'assigned' && assignee ? [assignee.login] : [],
      text: textOfIssue(about),
      key: `issue ${about.id} ${action} ${label?.name ?? assignee?.login ?? ''} ${issue.updated_at ?? ''}`,
    };
  }),
  issue_comment: readerOf(CommentEvent, (event) => readComment(event)),
  pull_request_review_comment: readerOf(CommentEvent, (event) =>
    readComment(event, { reactsTo: `pulls/comments/${event.comment.id}`, approves: null }),
  ),
  pull_request_review: readerOf(ReviewEvent, ({ review, ...event }) => {
    if (event.action !== 'submitted')
      return { reason: `A review that is ${event.action} starts nothing: only a submitted one does.` };
    const approves = review.state.toLowerCase() === 'approved' ? (review.commit_id ?? null) : null;
    // GitHub offers no reactions to a review as a whole.
    return readComment({ ...event, action: 'created', comment: review }, { reactsTo: null, approves });
  }),
  pull_request: readerOf(PullRequestEvent, ({ action, repository: { full_name }, sender, pull_request, label }) => {
    const about = issueOf(full_name, pull_request);
    return {
      ...noDetails,
      kind: 'pullRequest',
      action,
      repository: full_name,
      title: `${pull_request.title} (#${pull_request.number})`,
      author: authorOf(sender),
      issue: null,
      // On GitHub, pull requests and issues share one sequence of numbers and one API for reactions.
      number: pull_request.number,
      reactsTo: `issues/${pull_request.number}`,
      branch: pull_request.head?.ref ?? null,
      reverts: action === 'closed' && pull_request.merged ? revertOf(full_name, pull_request.body ?? '') : null,
      labels: action === 'labeled' && label ? [label.name] : [],
      text: `Pull request: ${about.url}\n\n${textOfIssue(about)}`,
      key: `pull request ${about.id} ${action} ${label?.name ?? ''} ${pull_request.updated_at ?? ''}`,
    };
  }),
  check_run: readerOf(CheckRun, ({ repository, check_run: { id, name, conclusion, html_url, output, ...check } }) =>
    // The name identifies this service's own check. A check with a forged name would only be ignored.
    name === statusContext
      ? { reason: 'The check was created by a mission.' }
      : failedCheck(repository, `check ${id}`, {
          name,
          conclusion,
          url: html_url,
          sha: check.head_sha,
          branch: check.check_suite?.head_branch,
          log: [output?.title, output?.summary, output?.text].filter(Boolean).join('\n\n'),
        }),
  ),
  workflow_run: readerOf(WorkflowRun, ({ repository, workflow_run: one }) => {
    const attempt = one.run_attempt ?? 1;
    const event = failedCheck(repository, `workflow ${one.id} ${attempt}`, {
      name: one.name ?? 'Workflow',
      conclusion: one.conclusion,
      url: one.html_url,
      sha: one.head_sha,
      branch: one.head_branch,
      log: '',
    });
    return 'kind' in event ? { ...event, ciRun: { id: String(one.id), attempt, jobs: [] } } : event;
  }),
  ...unusedEvents,
  status: readerOf(Status, ({ id, repository, state, context, sha, target_url, description, branches }) =>
    context === statusContext
      ? { reason: 'The status was set by a mission.' }
      : failedCheck(repository, `status ${id}`, {
          name: context,
          conclusion: state,
          url: target_url,
          sha,
          branch: branches?.[0]?.name,
          log: description ?? '',
        }),
  ),
};

function readComment(
  event: z.infer<typeof CommentEvent>,
  review: (Pick<InboundEvent, 'reactsTo'> & Pick<Remark, 'approves'>) | null = null,
): Omit<InboundEvent, 'payload'> | UnusedEvent {
  const { action, repository, sender, comment, changes } = event;
  const issue = event.issue ?? event.pull_request;
  if (!issue) return { reason: 'The payload lacks the issue.' };
  if (action !== 'created' && action !== 'edited') return { reason: `A comment that is ${action} starts nothing.` };
  const body = comment.body ?? '';
  if (isOfMission(body)) return { reason: 'The comment was written by a mission.' };
  const before = changes?.body?.from ?? '';
  const place = comment.path
    ? `${comment.path}${comment.line ? `, line ${comment.line}` : ''}\n${comment.diff_hunk ?? ''}\n`
    : '';
  const about = issueOf(repository.full_name, issue);
  const isOfPullRequest = Boolean(issue.pull_request || event.pull_request);
  const whole = { ...about, comments: [{ author: sender.login, text: `${place}${body}` }] };
  return {
    ...noDetails,
    kind: 'comment',
    action,
    repository: repository.full_name,
    title: `Comment on ${issue.title} (#${issue.number})`,
    author: authorOf(sender),
    issue: isOfPullRequest ? null : whole,
    number: issue.number,
    reactsTo: review ? review.reactsTo : `issues/comments/${comment.id}`,
    remark:
      isOfPullRequest && issue.state !== 'closed'
        ? {
            number: issue.number,
            sha: null,
            key: comment.html_url,
            text: body.trim() && `${place}${body}`,
            approves: review?.approves ?? null,
            isReview: review !== null,
          }
        : null,
    words: newMentions(body, before),
    text: textOfIssue(whole),
    // An edit counts as an event only when it mentions somebody whom the comment did not mention before.
    key: `comment ${repository.full_name} ${comment.html_url}`,
  };
}

interface Check {
  name: string;
  conclusion: string | null | undefined;
  url: string | null | undefined;
  sha: string;
  branch: string | null | undefined;
  log: string;
}

function failedCheck(
  { full_name }: z.infer<typeof RepositoryPayload>,
  key: string,
  { name, conclusion, url, sha, branch = null, log }: Check,
): Omit<InboundEvent, 'payload'> | UnusedEvent {
  if (!conclusion || !failures.has(conclusion))
    return { reason: `The check has not failed: ${conclusion ?? 'it is still running'}.` };
  const at = branch ? ` on ${branch}` : '';
  const text = textOfCheck(`Check: ${name}: ${conclusion}${at}, commit ${sha}`, url, log);
  return {
    ...noDetails,
    kind: 'check',
    action: conclusion,
    repository: full_name,
    title: `${name} failed${at}`,
    author: null,
    issue: null,
    branch,
    remark: { number: null, sha, key: `${name} ${sha}`, text, approves: null, isReview: false },
    text,
    key: `${full_name} ${key}`,
  };
}

export const githubEvents: EventSource = {
  signature: (secret, headers) => signatureInHeader('X-Hub-Signature-256', secret, headers),
  secretHeaders: ['x-hub-signature', 'x-hub-signature-256'],
  idHeader: 'x-github-delivery',

  nameOf(headers, payload) {
    const [name, action] = [wordIn(headers['x-github-event']), wordIn(payload.action)];
    if (!name) throw invalid.field('X-GitHub-Event', 'must be sent');
    return action ? `${name}.${action}` : name;
  },

  pageOf: ({ repository }) => (repository as { html_url?: unknown } | undefined)?.html_url,
  repositoryIdOf: ({ repository }) => (repository as { id?: unknown } | undefined)?.id,

  namesOfKind: {
    issue: ['issues'],
    comment: ['issue_comment', 'pull_request_review_comment', 'pull_request_review'],
    pullRequest: ['pull_request'],
    check: ['check_run', 'workflow_run', 'status'],
  },

  ...readableBy(readers),
};
