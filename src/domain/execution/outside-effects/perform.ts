// Carries out one effect: the request to the other system, and the record of its result on the run.
import { enqueue } from '#foundation/jobs/background.ts';
import type { Row } from '#foundation/postgres/base-model.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { conflict } from '#foundation/problem.ts';
import { type EffectKind, type EffectPayloads, type OutsideEffect, payloadOf } from '../../projects/effects/model.ts';
import { committedHeads } from '../../projects/effects/staging.ts';
import { Project } from '../../projects/projects/model.ts';
import { openAtHost } from '../../projects/vendors/follow-repository.ts';
import { pushPack } from '../../projects/vendors/git-push.ts';
import { hostOf } from '../../projects/vendors/source-host-of.ts';
import { openArtifact } from '../../work/artifacts/content.ts';
import { recordPushed } from '../../work/runs/branch.ts';
import { Run } from '../../work/runs/model.ts';
import { isOpen } from '../../work/runs/states.ts';

interface Performed {
  /** Address of what was created; null without one. */
  resultUrl: string | null;
  record(trx: Transaction): Promise<void>;
}

interface Place {
  effect: Row<OutsideEffect>;
  project: Row<Project>;
  run: Row<Run>;
}

type Perform<K extends EffectKind> = (place: Place, payload: EffectPayloads[K]) => Promise<Performed>;

const performers: { [K in EffectKind]?: Perform<K> } = { push, pull_request: openPullRequest };

/** @throws Problems; a retryable one may be retried, unless it is a call of a tool */
export async function performEffect(effect: Row<OutsideEffect>): Promise<Performed> {
  const project = await Project.find({ id: effect.projectId });
  const run = await Run.find({ id: effect.runId });
  if (!project || !run) throw conflict('The project was deleted.');
  const perform = performers[effect.kind] as Perform<EffectKind> | undefined;
  if (!perform) throw conflict(`This release does not know effects of the kind ${effect.kind}.`);
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
    },
  };
}

async function openPullRequest({ project, run }: Place, payload: EffectPayloads['pull_request']): Promise<Performed> {
  const { host } = await hostOf(project);
  if (!host.pullRequests) throw conflict('The source host of the project has no pull requests.');
  const pullRequest = await host.pullRequests.open(project, payload);
  return {
    resultUrl: pullRequest.url,
    async record(trx) {
      await recordPushed(trx, run.id, {}, pullRequest);
      // Comments that do not wait now link to the pull request.
      if (!isOpen(run)) await enqueue(trx, 'finish issue', { runId: run.id });
      if (run.originNumber !== null) await enqueue(trx, 'answer event', { runId: run.id });
    },
  };
}
