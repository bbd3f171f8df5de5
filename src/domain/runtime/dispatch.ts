// How a runtime comes to a run, keeps it, gives it back or ends it (design decisions, section 9). A run is held by a lease:
// whoever claims it gets an id that no one else has, good for a minute and renewed by each heartbeat (heartbeat.ts). Claims of
// any number of runtimes pass over each other's rows (SKIP LOCKED).
import { raw } from 'objection';
import type { Caller } from '#access/principal.ts';
import { enqueue } from '#foundation/background.ts';
import { announce } from '#foundation/changes.ts';
import { now } from '#foundation/clock.ts';
import { sql, type Transaction, transaction } from '#foundation/database.ts';
import { derivedId, type Id, newId } from '#foundation/ids.ts';
import { columnsOf, missing } from '#foundation/record.ts';
import { lease } from '#limits.ts';
import { builtinAgents, instanceTypes } from '../agents/catalog.ts';
import { Agent, type HarnessId, type InstanceTypeId } from '../agents/model.ts';
import { Project } from '../projects/model.ts';
import { Run } from '../recurring/model.ts';
import { Sandbox } from '../sandboxes/model.ts';
import { heldRun, lost, own } from './lease.ts';

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
const taking = `with waiting as (
    select id from runs r where status = 'dispatching' and issue_id is not null and (lease_until is null or lease_until <= $1)
      and num_nonnulls(scheduled_task_id, automation_id) = 1 and ($2::text is null or org_id = $2)
      and ($3::boolean or exists (select from agents a where a.org_id = r.org_id and a.harness = any($4::text[])))
    order by created_at, id limit 1 for update skip locked
  )
  update runs r set status = 'running', lease_id = $5, claimed_by = $6, lease_until = $7, claims = claims + 1,
    started_at = coalesce(started_at, $1), mission_progress = 0, mission_activity = null, last_error = null, updated_at = $1
  from waiting where r.id = waiting.id
  returning ${withPrompt}`;

export interface Claim {
  runtime: string;
  harnesses: HarnessId[];
  /** The runtime's own word for this claim. */
  claimId?: string | undefined;
}

const again = `update runs r set lease_until = $2 where lease_id = $1 and status = 'running' returning ${withPrompt}`;
const takenBefore = async (trx: Transaction, leaseId: string, leaseUntil: number) => {
  const before = await sql<Run & { prompt: string }>(again, [leaseId, leaseUntil], trx);
  return before.length > 0 ? before : null;
};

/** The run that has waited longest for a runtime that knows one of these harnesses; null when none does. */
export const claimRun = (caller: Caller, { runtime, harnesses, claimId }: Claim): Promise<ClaimedRun | null> =>
  transaction(async (trx) => {
    const [at, leaseId] = [now(), claimId ? derivedId('lease', caller.credentialId, claimId) : newId('lease')];
    const leaseUntil = at + lease.lasts;
    const anyone = builtinAgents.some(({ harness }) => harnesses.includes(harness));
    const values = [at, caller.orgId, anyone, harnesses, leaseId, runtime, leaseUntil];
    // The same claim twice at once: the second waits for what the first has taken.
    if (claimId) await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [leaseId]);
    const [run] =
      (claimId && (await takenBefore(trx, leaseId, leaseUntil))) ||
      (await sql<Run & { prompt: string }>(taking, values, trx));
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

/** A builder before the other roles, and the organization's own before those that are built in. */
async function agentFor(trx: Transaction, project: Project, harnesses: HarnessId[]): Promise<RunAgent> {
  const { orgId, defaultSandboxTemplateId } = project;
  const owned = await Agent.query(trx).where({ orgId }).whereIn('harness', harnesses).orderBy(['createdAt', 'id']);
  const builtin = builtinAgents.filter(({ harness }) => harnesses.includes(harness));
  const candidates = [
    ...owned.map((agent): RunAgent => ({ ...agent, agentId: agent.id })),
    ...builtin.map(
      ({ sandboxTemplateKey, skillRepos, ...agent }): RunAgent => ({
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

/** Gives a run back that the runtime can't go on with: another one may have it after a short rest. */
export const handBackRun = (caller: Caller, input: { runId: string; leaseId: string; reason: string }): Promise<void> =>
  transaction(async (trx) => {
    const { id, status } = await heldRun(trx, caller, input);
    // Canceled meanwhile: there is nothing to give back.
    if (status !== 'running') return;
    const at = now();
    await Run.query(trx)
      .findById(id)
      .patch({
        ...released,
        status: 'dispatching',
        leaseUntil: at + lease.rest,
        missionActivity: `Handed back: ${input.reason}`,
        // A polite end is not a loss.
        claims: raw('claims - 1'),
        updatedAt: at,
      });
    await announce(trx, id, ...(await endSandboxes(trx, [id], 'failed', 'handed back', at)));
  });

const released = { leaseId: null, claimedBy: null, leaseUntil: null, missionProgress: null } as const;

export interface Finish {
  runId: string;
  leaseId: string;
  status: 'completed' | 'failed';
  error?: string | null | undefined;
  costIncomplete?: boolean | undefined;
}

/** Ends a run, with those of its sandboxes that still run. Said again it changes nothing; a canceled run stays canceled. */
export const finishRun = (caller: Caller, input: Finish): Promise<void> =>
  transaction(async (trx) => {
    const { runId, leaseId, status } = input;
    const at = now();
    const finished = await Run.query(trx)
      .where({ id: runId, leaseId, status: 'running', ...own(caller) })
      .patch({
        status,
        finishedAt: at,
        leaseUntil: null,
        lastError: input.error ?? null,
        ...(status === 'completed' && { missionProgress: 100 }),
        ...(input.costIncomplete && { missionCostIncomplete: true }),
        updatedAt: at,
      });
    if (finished === 0) return finishedBefore(trx, caller, input);
    const ended = await endSandboxes(trx, [runId], status, 'the run has ended', at);
    await enqueue(trx, 'finish issue', { runId });
    await announce(trx, runId, ...ended);
  });

async function finishedBefore(trx: Transaction, caller: Caller, { runId, leaseId, status }: Finish): Promise<void> {
  const run = (await Run.query(trx).findOne({ id: runId, ...own(caller) })) ?? missing('run');
  if (run.leaseId !== leaseId || ![status, 'canceled'].includes(run.status)) throw lost();
}

/** Gives the ids of those that were still running. */
async function endSandboxes(
  trx: Transaction,
  runIds: readonly string[],
  status: 'completed' | 'failed',
  terminationReason: string,
  at: number,
): Promise<string[]> {
  const ended: { id: string }[] = await trx(Sandbox.tableName)
    .whereIn('runId', runIds)
    .where({ status: 'running' })
    .update({ status, terminationReason, destroyedAt: at })
    .returning('id');
  return ended.map(({ id }) => id);
}

const lapsing = `with lapsed as (
    select id from runs where status = 'running' and lease_until <= $1 order by lease_until limit 100 for update skip locked
  )
  update runs r set status = case when claims < $2 then 'dispatching' else 'failed' end,
    finished_at = case when claims < $2 then null else $1::bigint end,
    last_error = 'The runtime ' || coalesce(claimed_by, '') || ' was not heard of any more.',
    lease_id = null, lease_until = null, claimed_by = null, mission_progress = null, mission_activity = null, updated_at = $1
  from lapsed where r.id = lapsed.id returning r.id, r.status`;

/** Takes runs back whose runtime is silent, for another one to claim; the few that lose every runtime have failed. */
export const takeBackRuns = (): Promise<void> =>
  transaction(async (trx) => {
    const at = now();
    const taken = await sql<Pick<Run, 'id' | 'status'>>(lapsing, [at, lease.claims], trx);
    const ids = taken.map(({ id }) => id);
    const ended = await endSandboxes(trx, ids, 'failed', 'the runtime was lost', at);
    for (const { id, status } of taken) if (status === 'failed') await enqueue(trx, 'finish issue', { runId: id });
    await announce(trx, ...ids, ...ended);
  });

/** Ends sandboxes that have outlived their time; their runtime stops them at its next heartbeat. */
export async function endTimedOutSandboxes(): Promise<void> {
  const at = now();
  await transaction(async (trx) => {
    const ended: { id: string }[] = await trx(Sandbox.tableName)
      .where({ status: 'running' })
      .where('timeoutAt', '<=', at)
      .update({ status: 'destroyed', terminationReason: 'timeout', destroyedAt: at })
      .returning('id');
    await announce(trx, ...ended.map(({ id }) => id));
  });
}
