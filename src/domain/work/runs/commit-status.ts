// The commit status that shows a mission at the newest commit of its branch: pending while it works, then its outcome.
import { sql } from '#foundation/postgres/database.ts';
import { consolePage } from '../../organization/organizations/pages.ts';
import { isUnpushed } from '../../projects/effects/staging.ts';
import { Project } from '../../projects/projects/model.ts';
import { isFinal } from '../../projects/vendors/connection.ts';
import type { CommitStatus, PullRequests } from '../../projects/vendors/source-host.ts';
import { hostOf } from '../../projects/vendors/source-host-of.ts';
import { appendError } from './decisions.ts';
import { Run } from './model.ts';
import { isOpen, isWithheld } from './states.ts';

/**
 * Reports the state of the mission at its newest commit. A refusal by the host is ignored, because the token may lack the permission, and
 * the pull request shows the outcome too. @throws an error after which another attempt may succeed
 */
export async function reportStatus({ runId }: { runId: string }): Promise<void> {
  const run = await Run.query().findById(runId);
  const project = run?.headSha && !isWithheld(run) && (await Project.find({ id: run.projectId }));
  if (!project || (await isUnpushed(run.projectId, run.headSha!))) return;
  const status = statusOf(run);
  try {
    const { host } = await hostOf(project);
    const url = await consolePage(run.orgId, `/runs/${run.id}`);
    if (!(await showCheck(host.pullRequests, project, run, { ...status, url })))
      await host.pullRequests?.setStatus(project, run.headSha!, { ...status, url });
    // The state may have changed during the request to the host; the status is written again until it shows the latest state.
    const after = await Run.query().findById(runId);
    if (after && JSON.stringify(statusOf(after)) !== JSON.stringify(status)) await reportStatus({ runId });
  } catch (error) {
    if (!isFinal(error)) throw error;
  }
}

/**
 * Shows the mission as a check. If the App lacks the permission, the error is recorded on the run, and false is returned so that a commit
 * status is used.
 */
async function showCheck(
  pullRequests: PullRequests | undefined,
  project: Project,
  run: Run,
  { state, description, url }: CommitStatus,
): Promise<boolean> {
  if (!pullRequests?.setCheck) return false;
  const { id: runId, status } = run;
  const ended = status === 'canceled' ? status : state;
  const check = {
    runId,
    state: state === 'pending' ? ('working' as const) : (ended as 'success'),
    title: description,
    url,
  };
  try {
    return await pullRequests.setCheck(project, run.headSha!, { ...check, summary: await summaryOf(run, url) });
  } catch (error) {
    if (!isFinal(error)) throw error;
    const words = `The source host shows a commit status instead of a check: ${error.body.description}`;
    if (!run.lastError?.includes(words)) await appendError(run.id, words);
    return false;
  }
}

interface Review {
  verdict: string;
  comments: { path?: string | null; line?: number | null; body: string }[];
}

const verdictSql = `select output from run_steps where run_id = $1 and role = 'reviewer' and status = 'completed'
  order by seq desc limit 1`;

async function summaryOf(run: Run, url: string): Promise<string> {
  const [reviewed] = await sql<{ output: string | null }>(verdictSql, [run.id]);
  const review = reviewed?.output ? (JSON.parse(reviewed.output) as Review) : null;
  const { reason, lastError, missionCostUsd, missionCostIncomplete, changedFiles, insertions, deletions } = run;
  const why = run.status === 'failed' || run.status === 'canceled' ? (reason ?? lastError) : null;
  const isApproved = run.approvedSha !== null && run.approvedSha === run.headSha;
  return [
    `**${isOpen(run) ? 'The mission works on the change.' : `The mission is ${run.status}.`}**`,
    ...(why ? [why.replaceAll(/^/gm, '> ')] : []),
    `- Cost: ${missionCostUsd.toFixed(2)} USD${missionCostIncomplete ? ' or more' : ''}`,
    ...(changedFiles === null ? [] : [`- Change: ${changedFiles} files, +${insertions ?? 0} −${deletions ?? 0}`]),
    `- Review: ${isApproved ? 'approved' : review?.verdict === 'request_changes' ? 'changes requested' : 'not approved'}`,
    ...(review?.comments ?? [])
      .slice(0, 20)
      .map(
        ({ path, line, body }) =>
          `> ${path ? `${path}${line ? `:${line}` : ''}: ` : ''}${body.replaceAll('\n', '\n> ')}`,
      ),
    `[Open the mission](${url})`,
  ].join('\n\n');
}

function statusOf(run: Run): Omit<CommitStatus, 'url'> {
  if (isOpen(run)) return { state: 'pending', description: 'The mission works on the change.' };
  const { status, missionCostUsd, changedFiles, insertions, deletions, approvedSha, headSha } = run;
  const parts = [
    status,
    `${missionCostUsd.toFixed(2)} USD`,
    ...(changedFiles === null ? [] : [`${changedFiles} files, +${insertions ?? 0} −${deletions ?? 0}`]),
    ...(approvedSha !== null && approvedSha === headSha ? ['approved'] : []),
  ];
  return { state: status === 'completed' ? 'success' : 'failure', description: parts.join(' · ') };
}
