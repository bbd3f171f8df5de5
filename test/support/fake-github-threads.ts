// Stores the reviews of pull requests for the stand-in for GitHub, and executes the GraphQL requests that the stand-in receives. Each GraphQL
// request is first checked against GitHub's published schema (fixtures/github.graphql).
import { readFileSync } from 'node:fs';
import { buildSchema, graphql, parse, validate } from 'graphql';
import { isoTime } from '#foundation/clock.ts';
import type { Asked, Reply, Violate } from './fake-vendor.ts';
import { present } from './world.ts';

const schema = buildSchema(readFileSync(new URL('../fixtures/github.graphql', import.meta.url), 'utf8'));

export interface GitHubThread {
  id: string;
  isResolved: boolean;
  resolvedBy: { login: string } | null;
  path: string;
  line: number | null;
  startLine: number | null;
  diffSide: 'LEFT' | 'RIGHT';
  comments: { url: string; body: string; createdAt: string; author: { login: string } | null }[];
}
export interface Reviewed {
  html_url: string;
  reviews: { body: string; commit_id?: string }[];
  threads: GitHubThread[];
}
interface NewReview {
  body: string;
  commit_id?: string;
  comments?: { path: string; body: string; line: number; side: 'LEFT' | 'RIGHT'; start_line?: number }[];
}

let lastThread = 0;

/** Starts a thread on a line, as a person does. */
export function startThread(pull: Reviewed, login: string, on: Partial<GitHubThread>, body: string): GitHubThread {
  const id = `PRRT_${++lastThread}`;
  const thread: GitHubThread = {
    ...{ id, isResolved: false, resolvedBy: null, path: 'src/date.ts', line: 7, startLine: null, diffSide: 'RIGHT' },
    ...on,
    comments: [{ url: `${pull.html_url}#${id}`, body, createdAt: isoTime(present()), author: { login } }],
  };
  pull.threads.push(thread);
  return thread;
}

/**
 * Answers a request for the reviews of a pull request, or stores a new review. GitHub refuses a comment on a line that is not part of the
 * change. The stand-in treats every line after line 100 as such a line.
 */
export function reviewReply(pull: Reviewed, body: unknown): Reply {
  if (body === undefined) return { status: 200, body: pull.reviews };
  const { comments = [], ...review } = body as NewReview;
  if (comments.some(({ line }) => line > 100))
    return { status: 422, body: { message: 'Unprocessable Entity', errors: ['Line could not be resolved'] } };
  for (const { path, line, side: diffSide, start_line: startLine = null, body: text } of comments)
    startThread(pull, 'acme-bot', { path, line, startLine, diffSide }, text);
  pull.reviews.push(review);
  return { status: 200, body: review };
}

/** Answers a query or mutation. @param pulls All pull requests, whose threads have global ids */
export async function answerGraphql(
  { body }: Asked,
  violate: Violate,
  pullOf: (name: string, number: number) => Reviewed | undefined,
  pulls: () => Reviewed[],
): Promise<Reply> {
  const { query, variables } = body as { query: string; variables: Record<string, unknown> };
  for (const { message } of validate(schema, parse(query))) violate(message);
  const threadOf = (id: string): GitHubThread => {
    const thread = pulls().flatMap(({ threads }) => threads.find((one) => one.id === id) ?? [])[0];
    if (thread) return thread;
    throw Object.assign(new Error(`Could not resolve to a node with the global id of '${id}'`), { type: 'NOT_FOUND' });
  };
  const setResolved = (resolvedBy: GitHubThread['resolvedBy']) => (given: { input: { threadId: string } }) => ({
    thread: () => shown(Object.assign(threadOf(given.input.threadId), { isResolved: resolvedBy !== null, resolvedBy })),
  });
  const rootValue = {
    node: ({ id }: { id: string }) => ({ __typename: 'PullRequestReviewThread', ...shown(threadOf(id)) }),
    resolveReviewThread: setResolved({ login: 'acme-bot' }),
    unresolveReviewThread: setResolved(null),
    addPullRequestReviewThreadReply: ({ input }: { input: { pullRequestReviewThreadId: string; body: string } }) => {
      const { comments } = threadOf(input.pullRequestReviewThreadId);
      const url = `${comments[0]!.url}-${comments.length + 1}`;
      comments.push({ url, body: input.body, createdAt: isoTime(present()), author: { login: 'acme-bot' } });
      return { comment: () => ({ url }) };
    },
    repository: ({ owner, name }: { owner: string; name: string }) => ({
      pullRequest: ({ number }: { number: number }) => {
        const pull = pullOf(`${owner}/${name}`, number);
        return (
          pull && {
            reviewThreads: ({ last }: { last: number }) => ({
              nodes: pull.threads.slice(-last).map(shown),
            }),
          }
        );
      },
    }),
  };
  const { errors, data } = await graphql({ schema, source: query, variableValues: variables, rootValue });
  // GitHub names the type of an error beside its message.
  const typed = errors?.map(({ message, originalError }) => ({
    message,
    type: (originalError as Typed | undefined)?.type,
  }));
  return { status: 200, body: { data, ...(typed && { errors: typed }) } };
}
type Typed = Error & { type?: string };

const shown = (one: GitHubThread) => ({
  ...one,
  comments: ({ first, last }: { first?: number; last?: number }) => ({
    nodes: last ? authored(one).slice(-last) : authored(one).slice(0, first),
  }),
});

const authored = ({ comments }: GitHubThread) =>
  comments.map((one) => ({ ...one, author: one.author && { __typename: 'User', ...one.author } }));
