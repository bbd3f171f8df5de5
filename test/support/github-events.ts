// Events in the form in which GitHub sends them about the repository acme/shop (docs.github.com/webhooks), and the headers of their
// requests.
import { createHmac } from 'node:crypto';
import type { GitHubIssue } from './fake-github.ts';

let events = 0;
/** A number that no other event of this process has. */
export const nextNumber = (): number => ++events;

const signatureOf = (secret: string, body: string): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

export const githubHeaders = (name: string, body: string, secret: string, id = `delivery-${nextNumber()}`) => ({
  'content-type': 'application/json',
  'x-github-event': name,
  'x-github-delivery': id,
  'x-hub-signature-256': signatureOf(secret, body),
});

export const person = (login: string, type = 'User') => ({ login, type });

type NamedEvent = [name: string, payload: object];

export const labeled = (
  { number, html_url, title, body }: Pick<GitHubIssue, 'number' | 'html_url' | 'title' | 'body'>,
  { label = 'agent', by = 'ada' } = {},
): NamedEvent => [
  'issues',
  { action: 'labeled', issue: { number, html_url, title, body }, label: { name: label }, sender: person(by) },
];

/** The first pull request of a repository in which an issue has the number 1. */
const pullRequest = (more: object = {}) => ({
  number: 2,
  html_url: 'https://github.com/acme/shop/pull/2',
  title: 'Mend the date test.',
  body: '',
  state: 'open',
  ...more,
});
const written = (body: string, by: string) => {
  const id = nextNumber();
  return { id, html_url: `https://github.com/acme/shop/pull/2#c${id}`, body, user: person(by) };
};

export const reviewed = (body: string, by = 'ada', more: object = {}): NamedEvent => [
  'pull_request_review',
  {
    action: 'submitted',
    review: { ...written(body, by), state: 'changes_requested' },
    pull_request: pullRequest(more),
    sender: person(by),
  },
];
export const approved = (commit_id: string, by = 'ada'): NamedEvent => [
  'pull_request_review',
  {
    action: 'submitted',
    review: { ...written('', by), state: 'approved', commit_id },
    pull_request: pullRequest(),
    sender: person(by),
  },
];
export const lineCommented = (body: string, by = 'bob'): NamedEvent => [
  'pull_request_review_comment',
  {
    action: 'created',
    comment: { ...written(body, by), path: 'src/date.ts', line: 7, diff_hunk: '@@ -5,3 +5,3 @@\n-local\n+utc' },
    pull_request: pullRequest(),
    sender: person(by),
  },
];
export const commented = (body: string, by = 'ada'): NamedEvent => [
  'issue_comment',
  {
    action: 'created',
    comment: written(body, by),
    issue: pullRequest({ pull_request: {} }),
    sender: person(by),
  },
];
export const checkFailed = (
  head_branch: string,
  head_sha: string,
  { text = '1 test failed: dates', ...more }: { text?: string; name?: string } = {},
): NamedEvent => [
  'check_run',
  {
    action: 'completed',
    check_run: {
      ...{ id: nextNumber(), name: 'tests', html_url: 'https://ci.example/1', head_sha, conclusion: 'failure' },
      ...{ check_suite: { head_branch }, output: { title: 'Tests', text } },
      ...more,
    },
    sender: person('ci'),
  },
];
