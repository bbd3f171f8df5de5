// Lets runtimes claim runs. The response contains all that a runtime needs to work on the run.
import type { Caller } from '#access/principal.ts';
import { now } from '#foundation/clock.ts';
import { derivedId, type Id, newId } from '#foundation/ids.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { lease } from '#limits.ts';
import { type RuntimeOffer, recordHarnesses } from '../../projects/agents/runtime-harnesses.ts';
import type { InstanceTypeId } from '../../projects/instance-types/model.ts';
import { typesWithin } from '../../projects/instance-types/sizes.ts';
import { Project } from '../../projects/projects/model.ts';
import { budgetLeftOf } from '../../work/mission-costs/ceiling.ts';
import { taskOfRun } from '../../work/recurring/operations.ts';
import { mission } from '../../work/runs/bounds.ts';
import { branchOf } from '../../work/runs/branch.ts';
import { claimLongestWaitingRun } from '../../work/runs/claim.ts';
import { releaseRun } from '../../work/runs/finish.ts';
import type { RunAgent } from '../../work/runs/model.ts';
import { isWithheld } from '../../work/runs/states.ts';
import { endLostSandboxes } from '../../work/sandboxes/end.ts';
import { type AskedQuestion, ask } from '../mission-steps/agent-choice.ts';
import { orderForClaim, type StepOrder } from '../mission-steps/orders.ts';
import { beginClaimedMinute } from './minutes.ts';

export interface ClaimedRun {
  runId: Id<'run'>;
  leaseId: Id<'lease'>;
  leaseUntil: number;
  orgId: Id<'organization'>;
  projectId: Id<'project'>;
  missionTitle: string | null;
  prompt: string;
  issueId: string;
  issueUrl: string | null;
  repoFullName: string;
  /** The branch that the change will be merged into; null means the default branch of the repository. */
  baseBranch: string | null;
  branch: string;
  /** Whether the platform merges the pull request once a reviewer of the run has approved the change. */
  autoMerge: boolean;
  instanceType: InstanceTypeId;
  /** Memory for the sandbox of the first step, in MiB. */
  memoryMb: number;
  /** The agent of the first step. */
  agent: RunAgent;
  step: StepOrder;
  /** Amount that the run may still cost, in US dollars: its budget, limited by the organization's plan, minus its cost so far. */
  budgetUsd: number;
  stepTimeoutMs: number;
  answerTimeoutMs: number;
  maxTurns: number;
}

export interface ClaimRequest extends RuntimeOffer {
  /** The runtime's own id of this claim: a repeated claim returns the same run. */
  claimId?: string | undefined;
  /** The only run to claim; absent means any run. */
  runId?: string | undefined;
}

/** Maximum number of runs that one claim skips because their first step needs another runtime. */
const maxSkipped = 10;

/** Claims the longest-waiting run that needs one of the offered harnesses; null when there is none. */
export async function claimRun(caller: Caller, claim: ClaimRequest): Promise<ClaimedRun | null> {
  await recordHarnesses(caller, claim);
  const questions: AskedQuestion[] = [];
  const claimed = await transaction(async (trx) => {
    questions.length = 0;
    for (let tries = 0; tries < maxSkipped; tries++) {
      const taken = await claimNext(trx, caller, claim, questions);
      if (taken !== 'another') return taken;
    }
    return null;
  });
  for (const question of questions) ask(question);
  return claimed;
}

/**
 * Claims the next run. Returns `another` when only another runtime can execute the first step of the run, or when the agents of the run
 * have not been chosen yet.
 */
async function claimNext(
  trx: Transaction,
  caller: Caller,
  claim: ClaimRequest,
  questions: AskedQuestion[],
): Promise<ClaimedRun | 'another' | null> {
  const { runtime, harnesses, modelVendors, labels = [], claimId } = claim;
  const leaseId = claimId ? derivedId('lease', caller.credentialId, claimId) : newId('lease');
  const leaseUntil = now() + lease.lastsMs;
  const { runId: only, replays } = claim;
  const offered = { runtime, harnesses, modelVendors, labels, types: typesWithin(claim), replays: replays ?? false };
  const wanted = { ...offered, runId: only, leaseId, leaseUntil, isRepeatable: claimId !== undefined };
  const run = await claimLongestWaitingRun(trx, caller, wanted);
  if (!run) return null;
  const { id: runId, orgId, projectId, missionTitle, issueUrl } = run;
  await announce(trx, ...(await endLostSandboxes(trx, runId, leaseId)));
  const project = (await Project.find({ id: projectId }, trx))!;
  const prompt = (await taskOfRun(trx, run))!;
  const next = await orderForClaim(trx, run, project, prompt, claim);
  if (!('step' in next)) {
    await releaseRun(trx, { id: runId, leaseId }, next.waiting);
    if (next.ask) {
      questions.push(next.ask);
      await announce(trx, runId);
    }
    return 'another';
  }
  if (!(await beginClaimedMinute(trx, run))) return 'another';
  const { step } = next;
  await announce(trx, runId);
  return {
    runId,
    leaseId,
    leaseUntil,
    orgId,
    projectId,
    missionTitle,
    prompt,
    issueId: run.issueId!,
    issueUrl,
    repoFullName: `${project.scmOwner}/${project.scmRepo}`,
    baseBranch: run.baseBranch,
    branch: branchOf(run),
    autoMerge: project.autoMerge && !isWithheld(run),
    instanceType: step.environment.instanceType,
    memoryMb: step.environment.memoryMb,
    agent: step.agent,
    step,
    budgetUsd: await budgetLeftOf(trx, run),
    stepTimeoutMs: mission.stepMs,
    answerTimeoutMs: mission.answersMs,
    maxTurns: mission.turns,
  };
}
