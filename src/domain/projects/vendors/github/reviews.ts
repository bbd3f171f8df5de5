// Reviews by people, and threads on changed lines, on GitHub. A review is created by REST ("Pull request reviews"). Threads are read by
// GraphQL, because REST does not say whether they are resolved.
import { z } from 'zod';
import { connectVendor, refusedBy, unexpectedAnswer, type VendorConnection } from '../connection.ts';
import { commentIn, commentMark, markedComment, placed, queueCall, reviewMark, withoutMarks } from '../marks.ts';
import { type HostThread, type PullRequests, threadBounds, type WrittenReview } from '../source-host.ts';
import { callGitHub, fetchGitHub, refusalOf, repositoryPath } from './api.ts';
import { findMarked } from './comments.ts';

const Listed = z.object({ body: z.string().nullish() });
const sides = { old: 'LEFT', new: 'RIGHT' } as const;

const onLine = ({ id, path, side, startLine, line, body }: WrittenReview['comments'][number]) => ({
  path,
  side: sides[side],
  line,
  ...(startLine < line && { start_side: sides[side], start_line: startLine }),
  body: markedComment(body, id),
});

const review: PullRequests['review'] = async (project, number, { reviewId, headSha, body, comments }) => {
  const connection = await connectVendor(project, 'scm', 'github');
  const path = `${repositoryPath(project)}/pulls/${number}/reviews`;
  const mark = reviewMark(reviewId);
  await queueCall(`${path} ${reviewId}`, async () => {
    if (await findMarked(connection, path, {}, Listed, mark)) return;
    // At GitHub, the author of a pull request cannot approve it, and this service is the author of its pull requests.
    const own = { commit_id: headSha, event: 'COMMENT' };
    const whole = { ...own, body: `${body}\n\n${mark}`, comments: comments.map(onLine) };
    const answered = await callGitHub(connection, path, { method: 'POST', json: whole });
    if (answered.status < 300) return;
    // Status 422: a line is not part of the change on GitHub, or the commit is no longer part of the pull request.
    if (answered.status !== 422) throw refusalOf(connection, path, answered);
    const text = [body, ...comments.map(placed)].join('\n\n');
    await fetchGitHub(connection, path, z.unknown(), {
      method: 'POST',
      json: { event: 'COMMENT', body: `${text}\n\n${mark}` },
    });
  });
};

const threadsQuery = `query Threads($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) { reviewThreads(last: ${threadBounds.threads}) { nodes {
    id isResolved path line startLine diffSide resolvedBy { login }
    comments(first: ${threadBounds.comments}) { nodes { url body createdAt author { login } } } } } } }
}`;
const Login = z.object({ login: z.string() }).nullable();
const Thread = z.object({
  id: z.string(),
  isResolved: z.boolean(),
  resolvedBy: Login,
  path: z.string(),
  line: z.int().nullable(),
  startLine: z.int().nullable(),
  diffSide: z.enum(['LEFT', 'RIGHT']),
  comments: z.object({
    nodes: z.array(
      z.object({
        url: z.url({ protocol: /^https?$/ }),
        body: z.string(),
        createdAt: z.iso.datetime({ offset: true }),
        author: Login,
      }),
    ),
  }),
});
const Threads = z.object({
  repository: z.object({ pullRequest: z.object({ reviewThreads: z.object({ nodes: z.array(Thread) }) }) }),
});
const Answer = z.object({
  data: z.unknown(),
  errors: z.array(z.object({ message: z.string(), type: z.string().optional() })).optional(),
});
/** Types of errors that persist when the call is repeated. */
const finalErrors: readonly (string | undefined)[] = ['NOT_FOUND', 'FORBIDDEN', 'UNPROCESSABLE'];

/** Sends a GraphQL request. @throws 409 with the reason of a refusal */
async function askGraph<T>(connection: VendorConnection, query: string, variables: object, shape: z.ZodType<T>) {
  // GitHub Enterprise Server has its GraphQL API at a path next to the REST API.
  const address = connection.address.replace(/\/api\/v3$/, '/api');
  const json = { query, variables };
  const { data, errors } = await fetchGitHub({ ...connection, address }, '/graphql', Answer, { method: 'POST', json });
  const refused = errors?.find(({ type }) => finalErrors.includes(type));
  if (refused) throw refusedBy(connection, 'the request', refused.message);
  const parsed = shape.safeParse(data);
  if (errors?.length || !parsed.success) throw unexpectedAnswer(connection);
  return parsed.data;
}

const threads: PullRequests['threads'] = async (project, number) => {
  const connection = await connectVendor(project, 'scm', 'github');
  const { scmOwner: owner, scmRepo: name } = project;
  const { repository } = await askGraph(connection, threadsQuery, { owner, name, number }, Threads);
  return repository.pullRequest.reviewThreads.nodes.flatMap(asThread);
};

const resolveThread: PullRequests['resolveThread'] = async (project, _number, threadId, isResolved) => {
  const connection = await connectVendor(project, 'scm', 'github');
  const field = isResolved ? 'resolveReviewThread' : 'unresolveReviewThread';
  const query = `mutation Resolve($threadId: ID!) { ${field}(input: { threadId: $threadId }) { thread { isResolved } } }`;
  await askGraph(connection, query, { threadId }, z.unknown());
};

const saidQuery = `query Said($threadId: ID!) {
  node(id: $threadId) { ... on PullRequestReviewThread { comments(last: 100) { nodes { body } } } } }`;
const Said = z.object({
  node: z.object({ comments: z.object({ nodes: z.array(z.object({ body: z.string() })) }) }).nullable(),
});
const answerQuery = `mutation Answer($threadId: ID!, $body: String!) {
  addPullRequestReviewThreadReply(input: { pullRequestReviewThreadId: $threadId, body: $body }) { comment { url } } }`;

const answerThread: PullRequests['answerThread'] = async (project, _number, threadId, { id, body }) => {
  const connection = await connectVendor(project, 'scm', 'github');
  await queueCall(`${repositoryPath(project)} ${id}`, async () => {
    const { node } = await askGraph(connection, saidQuery, { threadId }, Said);
    if (node?.comments.nodes.some((one) => one.body.includes(commentMark(id)))) return;
    await askGraph(connection, answerQuery, { threadId, body: markedComment(body, id) }, z.unknown());
  });
};

function asThread({ id, comments, diffSide, resolvedBy, ...thread }: z.infer<typeof Thread>): HostThread[] {
  const [first] = comments.nodes;
  if (!first) return [];
  const { path, line, startLine, isResolved } = thread;
  return [
    {
      ...{ key: id, url: first.url, path, line, startLine: startLine ?? line, isResolved },
      side: diffSide === 'LEFT' ? 'old' : 'new',
      resolvedBy: resolvedBy?.login ?? null,
      commentId: commentIn(first.body),
      comments: comments.nodes.map(({ author, body, createdAt }) => ({
        author: author?.login ?? 'ghost',
        body: withoutMarks(body).slice(0, threadBounds.body).toWellFormed(),
        createdAt: Date.parse(createdAt),
      })),
    },
  ];
}

export const githubReviews = { review, threads, resolveThread, answerThread };
