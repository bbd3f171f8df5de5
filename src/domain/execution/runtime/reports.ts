// Reports of a runtime that works on a run: costs, sandboxes, their sessions, logs and live fragments. A report may be repeated, because
// its response can get lost; the repetition changes nothing.
import type { Caller } from '#access/principal.ts';
import { derivedId, type Id } from '#foundation/ids.ts';
import { modelCalls } from '#foundation/metrics.ts';
import { announce, announceCommitted } from '#foundation/postgres/changes.ts';
import { transaction } from '#foundation/postgres/database.ts';
import type { AgentRole, HarnessId } from '../../projects/agents/model.ts';
import type { InstanceTypeId } from '../../projects/instance-types/model.ts';
import { withdrawArtifacts } from '../../work/artifacts/operations.ts';
import { countCost, type ReportedCost } from '../../work/mission-costs/count.ts';
import { endModelCall } from '../../work/mission-costs/model-calls.ts';
import { costOfTokens } from '../../work/mission-costs/prices.ts';
import { addRunCall } from '../../work/run-calls/record.ts';
import { markCostIncomplete } from '../../work/runs/cost.ts';
import { countModelCall } from '../../work/runs/decisions.ts';
import { lockHeldRun } from '../../work/runs/lock.ts';
import { recordCall } from '../../work/runs/spans.ts';
import type { Tokens } from '../../work/runs/step-model.ts';
import { addStepUsage, isScript, placeStep } from '../../work/runs/steps.ts';
import { appendLogPiece, type Fragment, insertFragments, type LogPiece } from '../../work/sandboxes/append.ts';
import { appendNextFragments, appendNextPiece } from '../../work/sandboxes/append-next.ts';
import { endRunningSandbox } from '../../work/sandboxes/end.ts';
import type { Sandbox } from '../../work/sandboxes/model.ts';
import { insertSandbox, recordSession, type SessionKey } from '../../work/sandboxes/register.ts';
import { isReported, lockHeldSandbox } from './lease.ts';
import { priceOfCall } from './models.ts';

/** Counts a cost once: for the run, for its session, and for the organization's day. */
export const reportCost = (caller: Caller, cost: ReportedCost & { runId: string; leaseId: string }): Promise<void> =>
  transaction(async (trx) => {
    const run = await lockHeldRun(trx, caller, cost);
    if (cost.incomplete) await markCostIncomplete(trx, run.id);
    const isClaim = await isScript(trx, run.id);
    if (await countCost(trx, run, { ...cost, isClaim })) await addStepUsage(trx, run.id, null, cost.usd);
  });

interface ModelAnswer {
  vendor: string;
  status: number;
  /** Digests of the bodies that the runtime's gateway sent and received; absent if the runtime computes none. */
  requestSha256?: string | null | undefined;
  responseSha256?: string | null | undefined;
}

export interface Usage extends Tokens {
  runId: string;
  leaseId: string;
  /** Id that the runtime has chosen: a repeated report counts once. */
  usageId: string;
  stepId: string;
  sandboxId?: string | null | undefined;
  role?: AgentRole | null | undefined;
  sessionId?: string | null | undefined;
  model: string;
  /** Id of the reservation for the reported call. */
  callId?: string | null | undefined;
  /** The vendor's response; status 0 means that no response arrived. */
  answer?: ModelAnswer | null | undefined;
}

/** Counts the tokens of a step, and their cost. */
export async function reportUsage(caller: Caller, usage: Usage): Promise<void> {
  const beganAt = await transaction(async (trx) => {
    const run = await lockHeldRun(trx, caller, usage);
    await addRunCall(trx, run, 'model', usage.usageId, modelFacts(usage));
    const reserved = usage.callId ? await endModelCall(trx, run.id, usage.callId) : undefined;
    if (isNothing(usage)) {
      if (reserved) await countModelCall(trx, run.id, -1);
      return reserved?.createdAt;
    }
    const price = reserved?.price ?? (await priceOfCall(trx, run, usage.model));
    const usd = price ? costOfTokens(usage, price) : 0;
    const isNew = await countCost(trx, run, { ...usage, costId: `usage ${usage.usageId}`, usd });
    if (isNew && !price) await markCostIncomplete(trx, run.id);
    if (isNew && !usage.callId) await countModelCall(trx, run.id);
    if (isNew) await addStepUsage(trx, run.id, usage.stepId, usd, usage, usage.sessionId ?? null);
    return reserved?.createdAt;
  });
  if (!usage.answer) return;
  const { vendor, status } = usage.answer;
  const { runId, stepId, callId, model } = usage;
  if (callId && beganAt) recordCall({ runId, stepId, callId, model, vendor, status, tokens: usage, beganAt });
  modelCalls.inc({ vendor, status: status === 0 ? 'none' : `${Math.floor(status / 100)}xx` });
}

function modelFacts({ stepId: step, model, answer, ...used }: Usage) {
  const { vendor = null, status = null, requestSha256: request = null, responseSha256: response = null } = answer ?? {};
  const { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens } = used;
  const tokens = { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens };
  return { step, vendor, model, status, request, response, ...tokens };
}

/** Whether no tokens were used: the vendor refused the call and charges nothing. */
const isNothing = ({ inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens }: Tokens): boolean =>
  inputTokens + cachedInputTokens + cacheWriteTokens + outputTokens === 0;

export interface SandboxRegistration {
  runId: string;
  leaseId: string;
  /** Id that the runtime has chosen: a repeated registration returns the same sandbox. */
  key: string;
  role: AgentRole;
  harness: HarnessId;
  harnessVersion?: string | null | undefined;
  instanceType: InstanceTypeId;
  timeoutAt?: number | null | undefined;
}

export const registerSandbox = (caller: Caller, input: SandboxRegistration): Promise<{ sandboxId: Id<'sandbox'> }> =>
  transaction(async (trx) => {
    const run = await lockHeldRun(trx, caller, input);
    const { key, leaseId: _, ...described } = input;
    // The id is derived from the lease. If another runtime claims the run later, it gets another lease, so its sandboxes have other ids even
    // when it chooses the same keys.
    const id = derivedId('sandbox', input.leaseId, key);
    const { orgId, projectId, issueId, leaseId } = run;
    const isCanceled = run.status === 'canceled';
    await insertSandbox(trx, { id, orgId, projectId, issueId, leaseId, ...described }, isCanceled);
    const before = await placeStep(trx, run.id, input.leaseId, id);
    // A script that is executed again starts from the beginning and creates its artifacts once more, so the artifacts of its earlier
    // sandbox are withdrawn.
    if (before?.sandboxId && before.harness === 'shell') await withdrawArtifacts(trx, before.sandboxId);
    await announce(trx, run.id, id);
    return { sandboxId: id };
  });

export interface SandboxOutcome {
  sandboxId: string;
  leaseId: string;
  status: 'completed' | 'failed';
  terminationReason?: string | null | undefined;
}

/** Records the outcome of a sandbox. The status of a destroyed sandbox does not change. */
export const finishSandbox = (caller: Caller, input: SandboxOutcome): Promise<void> =>
  transaction(async (trx) => {
    const { id, runId } = await lockHeldSandbox(trx, caller, input);
    const { status, terminationReason = null } = input;
    if (await endRunningSandbox(trx, id, { status, terminationReason })) await announce(trx, id, runId!);
  });

type SessionReport = SessionKey & { leaseId: string };

/** Creates a session, or records its outcome. */
export const reportSession = (
  caller: Caller,
  input: SessionReport & { outcome?: string | null | undefined },
): Promise<void> =>
  transaction(async (trx) => {
    const { id } = await lockHeldSandbox(trx, caller, input);
    await recordSession(trx, input, input.outcome ?? null);
    await announce(trx, id);
  });

/** Appends a piece of a log. @throws 409 for a gap, or for a sequence number stored with different content */
export async function appendLog(caller: Caller, input: SessionReport & LogPiece): Promise<{ nextSeq: number }> {
  if (await appendNextPiece(caller, input, input, isReported)) {
    announceCommitted(input.sandboxId);
    return { nextSeq: input.seq + 1 };
  }
  const { id, nextSeq } = await transaction(async (trx) => {
    const locked = lockHeldSandbox(trx, caller, input);
    const nextSeq = await appendLogPiece(trx, locked, input, input);
    return { id: (await locked).id, nextSeq };
  });
  announceCommitted(id);
  return { nextSeq };
}

export interface FragmentsReport {
  sandboxId: string;
  leaseId: string;
  /** Number of the first fragment; further fragments follow without a gap. */
  seq: number;
  fragments: Fragment[];
}

/** Appends thoughts, actions and messages of an agent. @throws 409 for a gap, or for a sequence number stored with different content */
export async function appendFragments(caller: Caller, input: FragmentsReport): Promise<{ nextSeq: number }> {
  const { sandboxId, seq, fragments } = input;
  if (await appendNextFragments(caller, input, isReported)) {
    announceCommitted(sandboxId);
    return { nextSeq: seq + fragments.length };
  }
  const { nextSeq, added } = await transaction(async (trx) => {
    const locked = lockHeldSandbox(trx, caller, input);
    const inserted = await insertFragments(trx, locked, sandboxId as Sandbox['id'], seq, fragments);
    const { runId } = await locked;
    const asks = fragments.some(({ kind }) => kind === 'elicitation');
    // When the agent waits for an answer, subscribers of the run are notified too.
    if (inserted.added > 0 && asks && runId) await announce(trx, runId);
    return inserted;
  });
  if (added > 0) announceCommitted(sandboxId);
  return { nextSeq };
}
