// Events of GitHub (docs.github.com/webhooks, "Webhook events and payloads") that triggers can use.
import type { ZodType, z } from 'zod';
import { statusContext } from '../../../projects/repositories/repository.ts';
import { textOfIssue } from '../../../projects/trackers/issue-text.ts';
import type { FoundIssue } from '../../../projects/trackers/tracker.ts';
import { isOfMission } from '../../../projects/vendors/github-comments.ts';
import type { InboundEvent, Remark, UnusedEvent } from './event.ts';
import {
  CheckRun,
  CommentEvent,
  IssueEvent,
  type IssuePayload,
  PullRequestEvent,
  RepositoryMoved,
  type RepositoryPayload,
  ReviewEvent,
  Status,
  type User,
  WorkflowRun,
} from './github-shapes.ts';

type Read = (payload: unknown) => InboundEvent | UnusedEvent;

/** A reader of payloads of this shape. */
const reading =
  <T>(shape: ZodType<T>, read: (event: T) => Omit<InboundEvent, 'payload'> | UnusedEvent): Read =>
  (payload) => {
    const { success, data, error } = shape.safeParse(payload);
    if (!success) return { reason: `The payload lacks ${error.issues[0]!.path.join('.') || 'its members'}.` };
    const event = read(data);
    return 'kind' in event ? { ...event, payload } : event;
  };

/** GitHub's ids of issues in this service: repository and number. */
const issueOf = (repository: string, { number, html_url, title, body }: z.infer<typeof IssuePayload>): FoundIssue => ({
  id: `${repository}#${number}`,
  url: html_url,
  title,
  body: body ?? '',
  comments: [],
});

const authorOf = ({ login, type }: z.infer<typeof User>) => ({
  login,
  isBot: type === 'Bot' || login.endsWith('[bot]'),
});
const none = { label: null, assignee: null, words: '', branch: null, remark: null, number: null, reactsTo: null };
const failures: ReadonlySet<string> = new Set(['failure', 'timed_out', 'startup_failure', 'error']);

const readers: Readonly<Record<string, Read>> = {
  issues: reading(IssueEvent, ({ action, repository: { full_name }, sender, issue, label, assignee }) => {
    if (isOfMission(issue.body)) return { reason: 'The issue was written by a mission.' };
    const about = issueOf(full_name, issue);
    return {
      ...none,
      kind: 'issue',
      action,
      repository: full_name,
      title: `${issue.title} (#${issue.number})`,
      author: authorOf(sender),
      issue: about,
      number: issue.number,
      reactsTo: `issues/${issue.number}`,
      label: action === 'labeled' ? (label?.name ?? null) : null,
      assignee: action === 'assigned' ? (assignee?.login ?? null) : null,
      text: textOfIssue(about),
      key: `issue ${about.id} ${action} ${label?.name ?? assignee?.login ?? ''} ${issue.updated_at ?? ''}`,
    };
  }),
  issue_comment: reading(CommentEvent, (event) => readComment(event)),
  pull_request_review_comment: reading(CommentEvent, (event) =>
    readComment(event, { reactsTo: `pulls/comments/${event.comment.id}`, approves: null }),
  ),
  pull_request_review: reading(ReviewEvent, ({ review, ...event }) => {
    if (event.action !== 'submitted') return { reason: `A review is used when it is submitted, not ${event.action}.` };
    const approves = review.state.toLowerCase() === 'approved' ? (review.commit_id ?? null) : null;
    // A review itself takes no reaction.
    return readComment({ ...event, action: 'created', comment: review }, { reactsTo: null, approves });
  }),
  pull_request: reading(PullRequestEvent, ({ action, repository: { full_name }, sender, pull_request, label }) => {
    const about = issueOf(full_name, pull_request);
    return {
      ...none,
      kind: 'pullRequest',
      action,
      repository: full_name,
      title: `${pull_request.title} (#${pull_request.number})`,
      author: authorOf(sender),
      issue: null,
      // An issue and a pull request share their numbers and reactions.
      number: pull_request.number,
      reactsTo: `issues/${pull_request.number}`,
      branch: pull_request.head?.ref ?? null,
      label: action === 'labeled' ? (label?.name ?? null) : null,
      text: `Pull request: ${about.url}\n\n${textOfIssue(about)}`,
      key: `pull request ${about.id} ${action} ${label?.name ?? ''} ${pull_request.updated_at ?? ''}`,
    };
  }),
  check_run: reading(CheckRun, ({ repository, check_run: { id, name, conclusion, html_url, output, ...check } }) =>
    failedCheck(repository, `check ${id}`, {
      name,
      conclusion,
      url: html_url,
      sha: check.head_sha,
      branch: check.check_suite?.head_branch,
      log: [output?.title, output?.summary, output?.text].filter(Boolean).join('\n\n'),
    }),
  ),
  workflow_run: reading(WorkflowRun, ({ repository, workflow_run: one }) =>
    failedCheck(repository, `workflow ${one.id} ${one.run_attempt ?? 1}`, {
      name: one.name ?? 'Workflow',
      conclusion: one.conclusion,
      url: one.html_url,
      sha: one.head_sha,
      branch: one.head_branch,
      log: '',
    }),
  ),
  repository: reading(RepositoryMoved, ({ action, repository: { full_name }, changes }) => {
    if (action !== 'renamed' && action !== 'transferred')
      return { reason: `A repository that is ${action} starts nothing.` };
    const [owner, name] = full_name.split('/') as [string, string];
    const from = changes?.owner?.from;
    const before = `${from?.user?.login ?? from?.organization?.login ?? owner}/${changes?.repository?.name.from ?? name}`;
    // A person changes the project: a sender of forged events could otherwise lead its missions to another repository.
    return { reason: `The repository ${before} is now ${full_name}: correct it in the settings of its projects.` };
  }),
  status: reading(Status, ({ id, repository, state, context, sha, target_url, description, branches }) =>
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
    ...none,
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
    words: withoutWords(body, before),
    text: textOfIssue(whole),
    // An edit is another event only when it mentions somebody whom the comment did not mention before.
    key: `comment ${repository.full_name} ${comment.html_url}`,
  };
}

/** The text without the mentions that the earlier text already had. */
function withoutWords(text: string, before: string): string {
  const mentioned = new Set(mentionsIn(before));
  return mentionsIn(text)
    .filter((one) => !mentioned.has(one))
    .join(' ');
}
const mentionsIn = (text: string): string[] =>
  (text.match(/(?<![\w`-])@[\w-]+/g) ?? []).map((one) => one.toLowerCase());

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
    return { reason: `The check has not failed: ${conclusion ?? 'it runs'}.` };
  const at = branch ? ` on ${branch}` : '';
  // The end of a log says why it failed.
  const end = log.length > 10_000 ? `… ${log.slice(-10_000).toWellFormed()}` : log;
  const text = [`Check: ${name}: ${conclusion}${at}, commit ${sha}`, url, end.replaceAll('\0', '')]
    .filter(Boolean)
    .join('\n\n');
  return {
    ...none,
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

/** Whether triggers can use events of this name; the payloads of others are not kept. */
export const isReadable = (name: string): boolean => Object.hasOwn(readers, name);

/** GitHub's names of the events of each kind. */
export const namesOfKind = {
  issue: ['issues'],
  comment: ['issue_comment', 'pull_request_review_comment', 'pull_request_review'],
  pullRequest: ['pull_request'],
  check: ['check_run', 'workflow_run', 'status'],
} as const;

export const readGitHubEvent = (name: string, payload: unknown): InboundEvent | UnusedEvent =>
  isReadable(name) ? readers[name]!(payload) : { reason: `No trigger uses the event ${name}.` };
