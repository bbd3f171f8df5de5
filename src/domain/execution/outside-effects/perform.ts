// Performs one effect: sends the request to the other system, and records the result on the run.
import { enqueue } from '#foundation/jobs/background.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { conflict } from '#foundation/problem.ts';
import { type EffectKind, type EffectPayloads, type OutsideEffect, payloadOf } from '../../projects/effects/model.ts';
import { committedHeads } from '../../projects/effects/staging.ts';
import { Project } from '../../projects/projects/model.ts';
import { openAtHost } from '../../projects/vendors/follow-repository.ts';
import { pushPack } from '../../projects/vendors/git-push.ts';
import { hostOf } from '../../projects/vendors/source-host-of.ts';
import { trackerOf } from '../../projects/vendors/tracker-of.ts';
import { openArtifact } from '../../work/artifacts/content.ts';
import { stepText } from '../../work/runs/bounds.ts';
import { recordPushed } from '../../work/runs/branch.ts';
import { lockRun } from '../../work/runs/lock.ts';
import { Run } from '../../work/runs/model.ts';
import { isOpen } from '../../work/runs/states.ts';
import { forwardTo } from '../../work/runs/steering.ts';
import { callApprovedTool } from '../mcp-servers/staged-call.ts';

interface Performed {
  /** URL of the object that the effect created in the other system; null when it created none. */
  resultUrl: string | null;
  record(trx: Transaction): Promise<void>;
}

interface Place {
  effect: OutsideEffect;
  project: Project;
  run: Run;
}

type Perform<K extends EffectKind> = (place: Place, payload: EffectPayloads[K]) => Promise<Performed>;

const performers: { [K in EffectKind]: Perform<K> } = {
  push,
  pull_request: openPullRequest,
  comment: writeComment,
  tracker: closeIssue,
  mcp_call: callTool,
};

/** Performs the effect. @throws Problems; the caller may retry after a retryable one, unless the effect is a tool call */
export async function performEffect(effect: OutsideEffect): Promise<Performed> {
  const project = await Project.find({ id: effect.projectId });
  const run = await Run.find({ id: effect.runId });
  if (!project || !run) throw conflict('The project was deleted.');
  const perform = performers[effect.kind] as Perform<EffectKind>;
  return perform({ effect, project, run }, payloadOf(effect, effect.kind));
}

async function push({ project, run }: Place, payload: EffectPayloads['push']): Promise<Performed> {
  const { branch, headSha, expectedSha, artifactId } = payload;
  const { host } = await hostOf(project);
  const access = await openAtHost(project);
  const expected = [expectedSha, ...(await committedHeads(project.id, branch))];
  await pushPack(access, { branch, headSha, expected, open: () => openArtifact(artifactId) });
  const pullRequest = run.prNumber === null ? null : await host.pullRequests!.read(project, run.prNumber);
  return {
    resultUrl: null,
    async record(trx) {
      if (pullRequest) await recordPushed(trx, run.id, {}, pullRequest);
      await tellOutcome(trx, run);
    },
  };
}

/** Updates the comments and issues of an ended run, so that they link to the pull request. */
async function tellOutcome(trx: Transaction, run: Run): Promise<void> {
  if (isOpen(run)) return;
  await enqueue(trx, 'finish issue', { runId: run.id });
  await enqueue(trx, 'answer event', { runId: run.id });
}

async function openPullRequest({ project, run }: Place, payload: EffectPayloads['pull_request']): Promise<Performed> {
  const { host } = await hostOf(project);
  if (!host.pullRequests) throw conflict('The source host of the project does not support pull requests.');
  const pullRequest = await host.pullRequests.open(project, payload);
  return {
    resultUrl: pullRequest.url,
    async record(trx) {
      await recordPushed(trx, run.id, {}, pullRequest);
      await tellOutcome(trx, run);
    },
  };
}

const written: Performed = { resultUrl: null, record: async () => {} };

/** The comment links to the pull request, which may have been opened after the comment was staged. */
async function writeComment({ project, run }: Place, payload: EffectPayloads['comment']): Promise<Performed> {
  const { ofRunId: runId, issueId, place } = payload;
  const text = run.prUrl ? `${payload.text}\n\n${run.prUrl}` : payload.text;
  if (issueId !== null) {
    await trackerOf(project).finishIssue(project, issueId, { runId, closes: false, comment: text });
    return written;
  }
  const { host } = await hostOf(project);
  await host.comment?.(project, place!, { runId, text });
  return written;
}

async function closeIssue({ project }: Place, { ofRunId, issueId }: EffectPayloads['tracker']): Promise<Performed> {
  await trackerOf(project).finishIssue(project, issueId, { runId: ofRunId, closes: true, comment: null });
  return written;
}

/** Makes the approved tool call. An agent that is still working gets the result as a message. */
async function callTool({ effect, run }: Place, payload: EffectPayloads['mcp_call']): Promise<Performed> {
  const text = await callApprovedTool(run, payload);
  const words = `The call of ${payload.tool} that was staged as ${effect.id} was approved and made. Its result:\n\n${text}`;
  return {
    resultUrl: null,
    async record(trx) {
      const present = await lockRun(trx, { id: run.id });
      const message = {
        key: effect.id,
        author: effect.decidedBy ?? '',
        text: words.slice(0, stepText.message.max).toWellFormed(),
      };
      if (present) await forwardTo(trx, present, [message]);
    },
  };
}
