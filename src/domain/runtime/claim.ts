// Claims of runs by runtimes: the answer holds all that a runtime needs to work on the run.
import type { Caller } from '#access/principal.ts';
import { announce } from '#foundation/changes.ts';
import { now } from '#foundation/clock.ts';
import { type Transaction, transaction } from '#foundation/database.ts';
import { derivedId, type Id, newId } from '#foundation/ids.ts';
import { lease } from '#limits.ts';
import { builtinAgentId, builtinAgents, instanceTypes } from '../agents/catalog.ts';
import { Agent, type HarnessId, type InstanceTypeId } from '../agents/model.ts';
import { recordHarnesses } from '../agents/runtime-harnesses.ts';
import { Project } from '../projects/model.ts';
import { RecurringMission } from '../recurring/model.ts';
import { claimLongestWaitingRun } from '../runs/claim.ts';
import { readOwnMissions } from '../runs/mission.ts';
import { Run } from '../runs/model.ts';

export type RunAgent = Pick<
  Agent,
  'name' | 'role' | 'harness' | 'model' | 'effort' | 'userPrompt' | 'skillRepos' | 'sandboxTemplateId'
> & {
  /** Null for a built-in agent. */
  agentId: Agent['id'] | null;
};

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
  /** Whether the runtime merges an approved change. */
  autoMerge: boolean;
  instanceType: InstanceTypeId;
  agent: RunAgent;
}

export interface Claim {
  runtime: string;
  harnesses: HarnessId[];
  /** The runtime's own id of this claim: a repeated claim returns the same run. */
  claimId?: string | undefined;
}

/** The run that has waited longest for a runtime that offers one of these harnesses; null when none does. */
export async function claimRun(caller: Caller, { runtime, harnesses, claimId }: Claim): Promise<ClaimedRun | null> {
  await recordHarnesses(caller, runtime, harnesses);
  return transaction(async (trx) => {
    const leaseId = claimId ? derivedId('lease', caller.credentialId, claimId) : newId('lease');
    const leaseUntil = now() + lease.lasts;
    const claim = { runtime, harnesses, leaseId, leaseUntil, isRepeatable: claimId !== undefined };
    const run = await claimLongestWaitingRun(trx, caller, claim);
    if (!run) return null;
    const { id: runId, orgId, projectId, missionTitle, issueUrl } = run;
    const project = (await Project.query(trx).findById(projectId))!;
    const mission = run.recurringId
      ? await RecurringMission.find({ id: run.recurringId }, trx)
      : (await readOwnMissions([run], trx)).get(runId);
    const agent = await chooseAgent(trx, project, harnesses, runId);
    await Run.query(trx).findById(runId).patch({ agentRole: agent.role });
    await announce(trx, runId);
    return {
      runId,
      leaseId,
      leaseUntil,
      orgId,
      projectId,
      missionTitle,
      prompt: mission!.prompt,
      issueId: run.issueId!,
      issueUrl,
      repoFullName: `${project.scmOwner}/${project.scmRepo}`,
      autoMerge: project.autoMerge,
      instanceType: defaultInstanceType,
      agent,
    };
  });
}

const defaultInstanceType = instanceTypes.find(({ id }) => id === 'standard-1')!.id;

/** The one that the run names; without one a fallback last, else a builder before the other roles, and the organization's own before those that are built in. */
async function chooseAgent(
  trx: Transaction,
  project: Project,
  harnesses: HarnessId[],
  runId: string,
): Promise<RunAgent> {
  const { agentId: named } = (await Run.query(trx).select('agentId').findById(runId))!;
  const { orgId, defaultSandboxTemplateId } = project;
  const owned = await Agent.query(trx).where({ orgId }).whereIn('harness', harnesses).orderBy(['createdAt', 'id']);
  const builtin = builtinAgents.filter(({ harness }) => harnesses.includes(harness));
  const candidates = [...owned, ...builtin.filter(({ isFallback }) => !isFallback)];
  const agent =
    owned.find(({ id }) => id === named) ??
    builtin.find((one) => builtinAgentId(one) === named) ??
    candidates.find(({ role }) => role === 'builder') ??
    candidates[0] ??
    builtin[0]!;
  if (agent instanceof Agent) return { ...agent, agentId: agent.id };
  const { sandboxTemplateKey, skillRepos, isFallback, ...shown } = agent;
  const sandboxTemplateId = defaultSandboxTemplateId ?? sandboxTemplateKey;
  return { ...shown, agentId: null, effort: null, skillRepos: [...skillRepos], sandboxTemplateId };
}
