// Reports of a runtime that works on a run: costs, sandboxes, their sessions, logs and live fragments. A report may be repeated,
// because its answer can get lost: the second one changes nothing.
import { isDeepStrictEqual } from 'node:util';
import type { Caller } from '#access/principal.ts';
import { announce } from '#foundation/changes.ts';
import { now } from '#foundation/clock.ts';
import { sql, type Transaction, transaction } from '#foundation/database.ts';
import { derivedId, type Id } from '#foundation/ids.ts';
import { conflict } from '#foundation/problem.ts';
import { report } from '#limits.ts';
import type { AgentRole, HarnessId, InstanceTypeId } from '../agents/model.ts';
import { MissionCost } from '../orchestrator/model.ts';
import { addCost, markCostIncomplete } from '../runs/cost.ts';
import {
  type LogPart,
  type PromptScope,
  Sandbox,
  SandboxFragment,
  SandboxLogPart,
  SandboxSession,
} from '../sandboxes/model.ts';
import { lockHeldRun, lockHeldSandbox } from './lease.ts';

export interface Cost {
  runId: string;
  leaseId: string;
  /** The runtime's own id: a repeated cost counts once. */
  costId: string;
  usd: number;
  sandboxId?: string | null | undefined;
  role?: AgentRole | null | undefined;
  sessionId?: string | null | undefined;
  /** Whether costs are known to be missing. */
  incomplete?: boolean | undefined;
}

/** Counts a cost once: for the run, for its session, and against the organization's day. */
export const reportCost = (caller: Caller, cost: Cost): Promise<void> =>
  transaction(async (trx) => {
    const { id: runId, orgId, projectId } = await lockHeldRun(trx, caller, cost);
    const { usd, role, sessionId } = cost;
    const sandboxId = cost.sandboxId ? await sandboxOfRun(trx, runId, cost.sandboxId) : null;
    if (cost.incomplete) await markCostIncomplete(trx, runId);
    const id = derivedId('missionCost', runId, cost.costId);
    const written = await trx(MissionCost.tableName)
      .insert({ id, orgId, projectId, runId, sandboxId, usd, at: now() })
      .onConflict()
      .ignore()
      .returning('id');
    if (written.length === 0) return;
    await addCost(trx, runId, usd);
    if (sandboxId && role && sessionId) {
      await trx(SandboxSession.tableName).where({ sandboxId, role, sessionId }).increment('totalCostUsd', usd);
    }
    await announce(trx, runId, ...(sandboxId ? [sandboxId] : []));
  });

export async function sandboxOfRun(trx: Transaction, runId: string, id: string): Promise<Sandbox['id']> {
  const sandbox = await Sandbox.query(trx).select('id').findOne({ id, runId });
  return sandbox?.id ?? Sandbox.refuse();
}

export interface NewSandbox {
  runId: string;
  leaseId: string;
  /** The runtime's own id: registered again it stays one sandbox. */
  key: string;
  role: AgentRole;
  harness: HarnessId;
  harnessVersion?: string | null | undefined;
  instanceType: InstanceTypeId;
  timeoutAt?: number | null | undefined;
}

export const registerSandbox = (caller: Caller, input: NewSandbox): Promise<{ sandboxId: Id<'sandbox'> }> =>
  transaction(async (trx) => {
    const run = await lockHeldRun(trx, caller, input);
    const { key, runId: _, leaseId, ...described } = input;
    // Derived from the lease: a runtime that claims the run later registers sandboxes of its own.
    const sandboxId = derivedId('sandbox', leaseId, key);
    const at = now();
    const { orgId, projectId, issueId } = run;
    // A canceled run needs no sandbox: the answer to its first heartbeat is to stop.
    const ended = run.status === 'canceled' && { status: 'destroyed', terminationReason: 'canceled', destroyedAt: at };
    await trx(Sandbox.tableName)
      .insert({
        id: sandboxId,
        orgId,
        projectId,
        issueId,
        runId: run.id,
        leaseId,
        ...described,
        status: 'running',
        createdAt: at,
        lastHeartbeatAt: at,
        ...ended,
      })
      .onConflict()
      .ignore();
    await announce(trx, run.id, sandboxId);
    return { sandboxId };
  });

export interface SandboxEnd {
  sandboxId: string;
  leaseId: string;
  status: 'completed' | 'failed';
  terminationReason?: string | null | undefined;
}

/** One that was killed stays destroyed. */
export const finishSandbox = (caller: Caller, input: SandboxEnd): Promise<void> =>
  transaction(async (trx) => {
    const { id, runId } = await lockHeldSandbox(trx, caller, input);
    const { status, terminationReason = null } = input;
    const ended = await Sandbox.query(trx)
      .where({ id, status: 'running' })
      .patch({ status, terminationReason, destroyedAt: now() });
    if (ended > 0) await announce(trx, id, runId!);
  });

export interface SessionKey {
  sandboxId: string;
  leaseId: string;
  role: AgentRole;
  sessionId: string;
}

/** Opens a session, or records its outcome. */
export const reportSession = (
  caller: Caller,
  input: SessionKey & { outcome?: string | null | undefined },
): Promise<void> =>
  transaction(async (trx) => {
    const { id: sandboxId } = await lockHeldSandbox(trx, caller, input);
    const { role, sessionId, outcome = null } = input;
    await sql(
      `insert into sandbox_sessions as s (sandbox_id, role, session_id, started_at, outcome) values ($1, $2, $3, $4, $5)
       on conflict (sandbox_id, role, session_id) do update set outcome = coalesce(excluded.outcome, s.outcome)`,
      [sandboxId, role, sessionId, now(), outcome],
      trx,
    );
    await announce(trx, sandboxId);
  });

export interface LogPiece extends SessionKey {
  part: LogPart;
  /** From 0, without a gap. */
  seq: number;
  content: string;
  /** The span of the prompt; of the part `prompt` only. */
  spanId?: string | null | undefined;
  promptScope?: PromptScope | null | undefined;
}

/** Appends a piece of a log. @throws 409 for a gap, or for a sequence number that is stored with another content */
export const appendLog = (caller: Caller, { content, spanId = null, promptScope = null, seq, ...input }: LogPiece) =>
  transaction(async (trx) => {
    const { id: sandboxId } = await lockHeldSandbox(trx, caller, input);
    const { role, sessionId, part } = input;
    const log = { sandboxId, role, sessionId, part };
    const session = await SandboxSession.query(trx).findById([sandboxId, role, sessionId]);
    if (!session) SandboxSession.refuse();
    const next = await nextSequence(trx, SandboxLogPart.tableName, log);
    if (countNew(seq, 1, next, report.logPieces) === 0) {
      const there = (await SandboxLogPart.query(trx).findById([sandboxId, role, sessionId, part, seq]))!;
      if (there.content !== content || there.spanId !== spanId || there.promptScope !== promptScope)
        throw sequenceConflict(seq);
    } else await SandboxLogPart.query(trx).insert({ ...log, seq, content, spanId, promptScope });
    return { nextSeq: Math.max(next, seq + 1) };
  });

export interface Fragments {
  sandboxId: string;
  leaseId: string;
  /** Of the first fragment; the others follow without a gap. */
  seq: number;
  fragments: Fragment[];
}

export type Fragment = { kind: SandboxFragment['kind']; t: number; items: SandboxFragment['items'] } & {
  [K in 'body' | 'action' | 'parameter' | 'result' | 'toolUseId']?: string | null | undefined;
};

/** Appends what an agent thinks, does and says. Fragments that are stored already are skipped when they are equal. @throws 409 as above */
export const appendFragments = (caller: Caller, { seq: first, fragments, ...input }: Fragments) =>
  transaction(async (trx) => {
    const { id: sandboxId } = await lockHeldSandbox(trx, caller, input);
    const next = await nextSequence(trx, SandboxFragment.tableName, { sandboxId });
    const added = countNew(first, fragments.length, next, report.fragmentsPerSandbox);
    const entries = fragments.map(({ t, kind, items, ...fields }, i) => {
      const { body = null, action = null, parameter = null, result = null, toolUseId = null } = fields;
      return { sandboxId, seq: first + i, kind, at: t, body, action, parameter, result, toolUseId, items };
    });
    const known = entries.slice(0, entries.length - added);
    const there = await SandboxFragment.query(trx)
      .where({ sandboxId })
      .whereBetween('seq', [first, first + known.length - 1])
      .orderBy('seq');
    const differs = known.find((one, i) => !isDeepStrictEqual({ ...one }, { ...there[i] }));
    if (differs) throw sequenceConflict(differs.seq);
    if (added > 0) {
      await SandboxFragment.query(trx).insert(entries.slice(-added));
      await announce(trx, sandboxId);
    }
    return { nextSeq: Math.max(next, first + entries.length) };
  });

/** The sequence number of the next entry. */
async function nextSequence(trx: Transaction, table: string, of: object): Promise<number> {
  const last = await trx(table).where(of).max({ seq: 'seq' }).first<{ seq: number | null }>();
  return (last.seq ?? -1) + 1;
}

/** How many of `count` entries from `seq` on are new. @throws 409 for a gap */
function countNew(seq: number, count: number, next: number, most: number): number {
  if (seq > next) throw conflict(`seq: ${next} comes next; ${seq} would leave a gap.`);
  if (seq + count > most) throw conflict(`seq: at most ${most} entries are kept.`);
  return Math.min(count, Math.max(0, seq + count - next));
}

const sequenceConflict = (seq: number) => conflict(`seq: ${seq} is there already, with another content.`);
