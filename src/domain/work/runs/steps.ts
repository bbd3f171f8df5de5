// Writes the steps of runs. The next step is decided in domain/execution/mission-steps, not by the runtime.
import { now, nowAfter } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import type { Key } from '#foundation/postgres/base-model.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { providerNeeded } from '../../projects/agents/catalog.ts';
import type { HarnessId } from '../../projects/agents/model.ts';
import type { Sandbox } from '../sandboxes/model.ts';
import { lockRun } from './lock.ts';
import { Run } from './model.ts';
import { recordEnds } from './spans.ts';
import { openStepStatuses, RunStep, type StepStatus, type Tokens } from './step-model.ts';

export const stepsOf = async (trx: Transaction, runId: string): Promise<RunStep[]> =>
  RunStep.query(trx).where('runId', runId).orderBy('seq');

export const latestStepOf = async (trx: Transaction, runId: string): Promise<RunStep | undefined> =>
  RunStep.query(trx).where('runId', runId).orderBy('seq', 'desc').first();

/** Locks the run until the end of the transaction, and returns it with its steps. @throws 404 */
export async function lockSteps(trx: Transaction, where: Key<Run>): Promise<{ run: Run; steps: RunStep[] }> {
  const run = (await lockRun(trx, where)) ?? Run.refuse();
  return { run, steps: await stepsOf(trx, run.id) };
}

export type NewStep = Pick<RunStep, 'agent' | 'round' | 'prompt' | 'hasSchema' | 'isRepeated' | 'resumeSessionId'>;

const lastSql = `select coalesce(max(seq), -1)::int as seq, coalesce(max(created_at), 0) as at from run_steps
  where run_id = $1`;

/**
 * Appends a step to the locked run as its current one; the step waits until a runtime begins it.
 * @param decided Decisions about the run that are written with the step.
 */
export async function appendStep(
  trx: Transaction,
  { id: runId, orgId, projectId, sandboxTemplateId }: Pick<Run, 'id' | 'orgId' | 'projectId' | 'sandboxTemplateId'>,
  step: NewStep,
  decided: Partial<Pick<Run, 'team' | 'isReplaying'>> | null = null,
): Promise<RunStep> {
  const { role, harness, model } = step.agent;
  const [before] = await sql<{ seq: number; at: number }>(lastSql, [runId], trx);
  const next = { agentRole: role, nextHarness: harness, nextVendor: providerNeeded(step.agent) };
  const nextTemplateId = sandboxTemplateId ?? step.agent.sandboxTemplateId;
  await Run.patch(trx, { id: runId }, { ...next, nextTemplateId, updatedAt: now(), ...decided });
  return RunStep.query(trx).insertAndFetch({
    id: newId('runStep'),
    runId,
    orgId,
    projectId,
    seq: before!.seq + 1,
    // A later step gets a later time, so that positions and times give the same order.
    createdAt: nowAfter(before!.at),
    role,
    harness,
    model,
    status: 'waiting',
    ...step,
  } as Partial<RunStep>);
}

/** Marks the step as running, and links it to this lease. The step may be one that another runtime has begun and abandoned. */
export async function beginStep(trx: Transaction, { id }: RunStep, leaseId: RunStep['leaseId']): Promise<RunStep> {
  const begun = {
    status: 'running' as const,
    leaseId,
    startedAt: now(),
    finishedAt: null,
    outcome: null,
    output: null,
  };
  return RunStep.query(trx).patchAndFetchById(id, { ...begun, error: null } as Partial<RunStep>);
}

/** Begins the next step for the runtime that has finished the previous one, as if the runtime had claimed the run again. */
export async function beginNextStep(trx: Transaction, { id, leaseId }: Run, step: RunStep): Promise<RunStep> {
  await Run.patch(trx, { id }, { claims: 1 });
  return beginStep(trx, step, leaseId);
}

export type EndedStep = Pick<RunStep, 'status' | 'error' | 'output' | 'sessionId' | 'turns' | 'finishedAt' | 'outcome'>;

/** Records how the step has ended. */
export const endStep = async (trx: Transaction, id: RunStep['id'], ended: EndedStep): Promise<void> => {
  await RunStep.patch(trx, { id }, ended);
  recordEnds(trx, [], [id]);
};

/** Returns the run's step to the status `waiting`, because its runtime no longer works on it. */
export const leaveStepOf = async (trx: Transaction, runId: string): Promise<void> => {
  await RunStep.patch(trx, { runId, status: 'running' }, { status: 'waiting' });
};

const endSql = `update run_steps set status = $2, finished_at = $3, error = coalesce(error, $4)
  where run_id = any($1) and status in ('${openStepStatuses.join("', '")}') returning id`;

/** Ends the open steps of these ended runs. */
export async function endStepsOf(
  trx: Transaction,
  runIds: readonly string[],
  status: Extract<StepStatus, 'completed' | 'failed' | 'canceled'>,
  error: string | null = null,
): Promise<void> {
  if (runIds.length === 0) return;
  const ended = await sql<Pick<RunStep, 'id'>>(endSql, [[...runIds], status, now(), error], trx);
  recordEnds(
    trx,
    [],
    ended.map(({ id }) => id),
  );
}

const placeSql = `update run_steps s set sandbox_id = $3 from run_steps before
  where s.run_id = $1 and s.lease_id = $2 and s.status = 'running' and before.id = s.id
    and s.sandbox_id is distinct from $3 returning before.sandbox_id, s.harness`;

interface Placed {
  /** The sandbox of the previous attempt at the step; null when there was none. */
  sandboxId: Sandbox['id'] | null;
  harness: HarnessId;
}

/** Records in which sandbox the running step of this lease is executed. Returns undefined when that was already recorded. */
export const placeStep = async (
  trx: Transaction,
  runId: string,
  leaseId: string,
  sandboxId: string,
): Promise<Placed | undefined> => (await sql<Placed>(placeSql, [runId, leaseId, sandboxId], trx))[0];

const noTokens: Tokens = { inputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0 };

const addUsageSql = `update run_steps set cost_usd = cost_usd + $3, input_tokens = input_tokens + $4,
    cached_input_tokens = cached_input_tokens + $5, cache_write_tokens = cache_write_tokens + $6,
    output_tokens = output_tokens + $7, session_id = coalesce(session_id, $8)
  where run_id = $1 and id = coalesce($2, (select id from run_steps where run_id = $1 order by seq desc limit 1))`;

const tokensSql = `select coalesce(sum(input_tokens + cached_input_tokens + cache_write_tokens + output_tokens), 0)::bigint as tokens
  from run_steps where run_id = $1`;

/** Input and output tokens of the run's reported model calls. */
export const tokensOfRun = async (trx: Transaction, runId: Run['id']): Promise<number> =>
  (await sql<{ tokens: number }>(tokensSql, [runId], trx))[0]!.tokens;

const isScriptSql = `select harness = 'shell' as is_script from run_steps where run_id = $1 order by seq desc limit 1`;

/** Whether the latest step of the run is a script. */
export async function isScript(trx: Transaction, runId: Run['id']): Promise<boolean> {
  const [step] = await sql<{ isScript: boolean }>(isScriptSql, [runId], trx);
  return step?.isScript ?? false;
}

/** Adds a cost and its tokens to the step or, without a step, to the latest one of the run. */
export async function addStepUsage(
  trx: Transaction,
  runId: Run['id'],
  stepId: string | null,
  usd: number,
  { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens } = noTokens,
  sessionId: string | null = null,
): Promise<void> {
  const tokens = [inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens];
  await sql(addUsageSql, [runId, stepId, usd, ...tokens, sessionId], trx);
}
