// Check runs of missions (REST, "Check runs"), which only Apps create, and the jobs of GitHub Actions (REST, "Workflow jobs").
import { z } from 'zod';
import { OutboundError, ResponseTooLarge, sendRequest } from '#foundation/http/outbound.ts';
import { badGateway, gatewayTimeout } from '#foundation/problem.ts';
import type { Project } from '../../projects/model.ts';
import { connectVendor, failed, unexpectedAnswer, type VendorConnection } from '../connection.ts';
import { queueCall } from '../marks.ts';
import { type CiRun, type CommitCheck, statusContext } from '../source-host.ts';
import { callGitHub, fetchGitHub, refusalOf, repositoryPath } from './api.ts';
import { readApp } from './app.ts';

const CheckRun = z.object({ id: z.int(), external_id: z.string().nullish() });
const CheckRuns = z.object({ check_runs: z.array(CheckRun) });
const conclusions = { success: 'success', failure: 'failure', canceled: 'cancelled' } as const;
const maxSummaryCharacters = 60_000;

/** GitHub has no idempotency key, so the check of the run is looked up among the checks of the commit. */
export async function setCheck(
  project: Project,
  sha: string,
  { runId, state, title, summary, url }: CommitCheck,
): Promise<boolean> {
  const connection = await connectVendor(project, 'scm', 'github');
  if (!readApp(connection.credentials)) return false;
  const path = repositoryPath(project);
  const check = {
    name: statusContext,
    external_id: runId,
    details_url: url,
    ...(state === 'working' ? { status: 'in_progress' } : { status: 'completed', conclusion: conclusions[state] }),
    output: { title, summary: summary.slice(0, maxSummaryCharacters).toWellFormed() },
  };
  await queueCall(`${path} ${sha} ${runId}`, async () => {
    const query = new URLSearchParams({ check_name: statusContext, filter: 'all', per_page: '100' });
    const { check_runs } = await fetchGitHub(connection, `${path}/commits/${sha}/check-runs?${query}`, CheckRuns);
    const own = check_runs.find((one) => one.external_id === runId);
    await (own
      ? fetchGitHub(connection, `${path}/check-runs/${own.id}`, CheckRun, { method: 'PATCH', json: check })
      : fetchGitHub(connection, `${path}/check-runs`, CheckRun, { method: 'POST', json: { ...check, head_sha: sha } }));
  });
  return true;
}

const Job = z.object({
  id: z.int(),
  name: z.string(),
  conclusion: z.string().nullish(),
  steps: z.array(z.object({ name: z.string(), conclusion: z.string().nullish() })).nullish(),
});
const Jobs = z.object({ jobs: z.array(Job) });
const isFailed = ({ conclusion }: { conclusion?: string | null | undefined }): boolean =>
  conclusion === 'failure' || conclusion === 'timed_out';

/**
 * The logs of at most `jobs` failed jobs are read. The ends of these logs are kept, with at most `characters` characters in total. A log with more
 * than `logBytes` bytes is not read.
 */
const logLimits = { jobs: 3, characters: 9_000, logBytes: 16 * 1024 * 1024 } as const;

export async function failedJobs(project: Project, { id, attempt }: CiRun): Promise<string> {
  const connection = await connectVendor(project, 'scm', 'github');
  const path = repositoryPath(project);
  const { jobs } = await fetchGitHub(
    connection,
    `${path}/actions/runs/${id}/attempts/${attempt}/jobs?per_page=100`,
    Jobs,
  );
  const all = jobs.filter(isFailed);
  const texts: string[] = [];
  for (const job of all.slice(0, logLimits.jobs)) {
    const steps = (job.steps ?? []).filter(isFailed).map(({ name }) => name);
    const at = steps.length > 0 ? `, step ${steps.join(', ')}` : '';
    const log = await logOf(connection, `${path}/actions/jobs/${job.id}/logs`);
    texts.push(
      `Job ${job.name} failed${at}:\n${log.slice(-logLimits.characters / Math.min(all.length, logLimits.jobs))}`,
    );
  }
  if (all.length > logLimits.jobs) texts.push(`${all.length - logLimits.jobs} further jobs failed.`);
  return texts.join('\n\n').toWellFormed();
}

/** GitHub redirects to its storage at another host, to which no credentials are sent. */
async function logOf(connection: VendorConnection, path: string): Promise<string> {
  const answered = await callGitHub(connection, path);
  // GitHub deletes logs after a time, and people may delete them earlier.
  if (answered.status === 404 || answered.status === 410) return '(GitHub has no log.)';
  const { location } = answered.headers;
  if (answered.status !== 302) throw refusalOf(connection, path, answered);
  if (typeof location !== 'string') throw unexpectedAnswer(connection);
  try {
    const { status, bytes } = await sendRequest(location, { maxBytes: logLimits.logBytes, signal: connection.signal });
    if (status !== 200) throw failed(connection, status);
    // Each line begins with a time stamp, which is removed.
    return bytes.toString('utf8').replace(/^\uFEFF?\d{4}-\d\d-\d\dT[\d:.]+Z /gm, '');
  } catch (error) {
    if (error instanceof ResponseTooLarge) return '(The log is larger than 16 MB.)';
    if (!(error instanceof OutboundError)) throw error;
    throw connection.signal.aborted
      ? gatewayTimeout('GitHub’s storage did not answer in time.')
      : badGateway('GitHub’s storage of logs is unreachable.');
  }
}
