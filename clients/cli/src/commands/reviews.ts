// The commands that submit a review of a run's change, with comments on lines, and that merge the pull request of a run.
import { printJson, printLine } from '../output.ts';
import { type CommonOptions, openClient, UserError } from '../session.ts';
import { readPrompt } from './runs.ts';

export const verdicts = ['approve', 'request-changes', 'comment'] as const;

interface ReviewOptions extends CommonOptions {
  message?: string;
  on: LineComment[];
}

interface LineComment {
  path: string;
  side: 'new';
  startLine: number;
  line: number;
  body: string;
}

/** Adds `src/date.ts:7=Use UTC.`, or `src/date.ts:7-9=…` for several lines, to the comments. @throws for any other text */
export function lineComment(text: string, before: LineComment[]): LineComment[] {
  const [, path, first, last = first, body] = /^(.+?):(\d+)(?:-(\d+))?=([\s\S]+)$/.exec(text) ?? [];
  if (!path || !body) throw new UserError(`A comment on a line must have the form src/date.ts:7=Use UTC., not ${text}`);
  return [...before, { path, side: 'new', startLine: Number(first), line: Number(last), body }];
}

const submit = `mutation ($input: SubmitReviewRequest!) {
  submitReview(input: $input) { id verdict headSha answeringRunId } }`;

export async function review(options: ReviewOptions, runId: string, verdict: (typeof verdicts)[number]): Promise<void> {
  const client = await openClient(options.url);
  const headSha = await headOf(client, runId);
  const body = options.message === undefined ? '' : await readPrompt(options.message);
  const input = { runId, headSha, verdict: verdict.replace('-', '_'), body, comments: options.on };
  const { submitReview: stored } = await client.graphql<{ submitReview: { answeringRunId: string | null } }>(submit, {
    input,
  });
  if (options.json) return printJson(stored);
  const answered = stored.answeringRunId === null ? '' : ` ${stored.answeringRunId} handles it.`;
  printLine(`The review of ${headSha.slice(0, 7)} is stored.${answered}`);
}

export async function merge(options: CommonOptions, runId: string): Promise<void> {
  const client = await openClient(options.url);
  const headSha = await headOf(client, runId);
  const query = `mutation ($runId: String!, $headSha: String!) {
    mergePullRequest(runId: $runId, headSha: $headSha) { id prNumber prUrl } }`;
  const { mergePullRequest: run } = await client.graphql<{ mergePullRequest: { prUrl: string } }>(query, {
    runId,
    headSha,
  });
  if (options.json) printJson(run);
  else printLine(`Merged: ${run.prUrl}`);
}

async function headOf(client: Awaited<ReturnType<typeof openClient>>, runId: string): Promise<string> {
  const query = 'query ($runId: String!) { run(runId: $runId) { headSha } }';
  const { headSha } = (await client.graphql<{ run: { headSha: string | null } }>(query, { runId })).run;
  if (headSha === null) throw new UserError(`${runId} has no changes.`);
  return headSha;
}
