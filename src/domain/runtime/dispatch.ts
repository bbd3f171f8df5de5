// How a runtime comes to a run (design decisions, section 9). A run is held by a lease: whoever claims it gets an id that no one
// else has, valid for a minute and renewed by each heartbeat (heartbeat.ts). Claims of any number of runtimes pass over each
// other's rows (SKIP LOCKED).
import type { Caller } from '#access/principal.ts';
import { announce } from '#foundation/changes.ts';
import { now } from '#foundation/clock.ts';
import { sql, type Transaction, transaction } from '#foundation/database.ts';
import { derivedId, type Id, newId } from '#foundation/ids.ts';
import { columnsOf } from '#foundation/record.ts';
import { lease } from '#limits.ts';
import { builtinAgents, instanceTypes } from '../agents/catalog.ts';
import { Agent, type HarnessId, type InstanceTypeId } from '../agents/model.ts';
import { Project } from '../projects/model.ts';
import { Run } from '../recurring/model.ts';
import { noteHarnesses, onlyFallbackIsConnected, presentSince } from './waiting.ts';

export type RunAgent = Pick<
  Agent,
  'name' | 'role' | 'harness' | 'model' | 'effort' | 'userPrompt' | 'skillRepos' | 'sandboxTemplateId'
> & {
  /** Null: it is built in. */
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

const withPrompt = `${columnsOf(Run, 'r')},
  coalesce((select prompt from scheduled_tasks t where t.id = r.scheduled_task_id),
    (select prompt from automations t where t.id = r.automation_id)) as prompt`;
/** The run that has waited longest, of an organization with an agent for one of the harnesses; $3 and $8 speak of the built-in ones. */
const claimRunSql = `with waiting as (
    select id from runs r where status = 'dispatching' and issue_id is not null and (lease_until is null or lease_until <= $1)
      and num_nonnulls(scheduled_task_id, automation_id) = 1 and ($2::text is null or org_id = $2)
      and claims < ${lease.claims} and ($3::boolean or ($8::boolean and ${onlyFallbackIsConnected('$9')})
        or exists (select from agents a where a.org_id = r.org_id and a.harness = any($4::text[])))
    order by created_at, id limit 1 for update skip locked
  )
  update runs r set status = 'running', lease_id = $5, claimed_by = $6, lease_until = $7, claims = claims + 1,
    started_at = coalesce(started_at, $1), mission_progress = 0, mission_activity = null, last_error = null, reason = null,
    waiting_since = null, silent_since = null, updated_at = $1
  from waiting where r.id = waiting.id
  returning ${withPrompt}`;

export interface Claim {
  runtime: string;
  harnesses: HarnessId[];
  /** The runtime's own name for this claim. */
  claimId?: string | undefined;
}

const renewClaimSql = `update runs r set lease_until = $2 where lease_id = $1 and status = 'running' returning ${withPrompt}`;
const claimedBefore = async (trx: Transaction, leaseId: string, leaseUntil: number) => {
  const before = await sql<Run & { prompt: string }>(renewClaimSql, [leaseId, leaseUntil], trx);
  return before.length > 0 ? before : null;
};

/**
 * The run that has waited longest for a runtime that offers one of these harnesses; null when none does. A built-in agent that is
 * a fallback works only while no other built-in one could.
 */
export async function claimRun(caller: Caller, claim: Claim): Promise<ClaimedRun | null> {
  await noteHarnesses(caller, claim.runtime, claim.harnesses);
  return takeRun(caller, claim);
}

const takeRun = (caller: Caller, { runtime, harnesses, claimId }: Claim): Promise<ClaimedRun | null> =>
  transaction(async (trx) => {
    const [at, leaseId] = [now(), claimId ? derivedId('lease', caller.credentialId, claimId) : newId('lease')];
    const leaseUntil = at + lease.lasts;
    const offered = builtinAgents.filter(({ harness }) => harnesses.includes(harness));
    const [ordinary, fallback] = [false, true].map((kind) => offered.some(({ isFallback }) => isFallback === kind));
    const values = [at, caller.orgId, ordinary, harnesses, leaseId, runtime, leaseUntil, fallback, presentSince()];
    // The same claim twice at once: the second waits for what the first has taken.
    if (claimId) await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [leaseId]);
    const [run] =
      (claimId && (await claimedBefore(trx, leaseId, leaseUntil))) ||
      (await sql<Run & { prompt: string }>(claimRunSql, values, trx));
    if (!run) return null;
    const { id: runId, orgId, projectId, missionTitle, prompt, issueUrl } = run;
    const project = (await Project.query(trx).findById(projectId))!;
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
      autoMerge: project.autoMerge,
      instanceType: usualInstance,
      agent: await agentFor(trx, project, harnesses),
    };
  });

const usualInstance = instanceTypes.find(({ id }) => id === 'standard-1')!.id;

/** A builder before the other roles, the organization's own before those that are built in, a fallback last. */
async function agentFor(trx: Transaction, project: Project, harnesses: HarnessId[]): Promise<RunAgent> {
  const { orgId, defaultSandboxTemplateId } = project;
  const owned = await Agent.query(trx).where({ orgId }).whereIn('harness', harnesses).orderBy(['createdAt', 'id']);
  const builtin = builtinAgents.filter(({ harness }) => harnesses.includes(harness));
  const candidates = [
    ...owned.map((agent): RunAgent => ({ ...agent, agentId: agent.id })),
    ...builtin.map(
      ({ sandboxTemplateKey, skillRepos, isFallback, ...agent }): RunAgent => ({
        ...agent,
        agentId: null,
        effort: null,
        skillRepos: [...skillRepos],
        sandboxTemplateId: defaultSandboxTemplateId ?? sandboxTemplateKey,
      }),
    ),
  ];
  return candidates.find(({ role }) => role === 'builder') ?? candidates[0]!;
}
