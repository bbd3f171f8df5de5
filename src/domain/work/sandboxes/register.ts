// Writes the reports of runtimes about sandboxes and their sessions. The caller holds the lease of the run; a repeated report changes
// nothing.
import { now } from '#foundation/clock.ts';
import type { Key } from '#foundation/postgres/base-model.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import type { AgentRole } from '../../projects/agents/model.ts';
import { Sandbox, SandboxSession } from './model.ts';

export type NewSandbox = Pick<
  Sandbox,
  'id' | 'orgId' | 'projectId' | 'issueId' | 'runId' | 'leaseId' | 'role' | 'harness' | 'instanceType'
> & {
  harnessVersion?: string | null | undefined;
  timeoutAt?: number | null | undefined;
};

/** Registers a sandbox. `isCanceled`: the run was canceled, so the response to the first heartbeat of the sandbox tells it to stop. */
export async function insertSandbox(trx: Transaction, sandbox: NewSandbox, isCanceled: boolean): Promise<void> {
  const at = now();
  await Sandbox.insertNew(trx, {
    ...sandbox,
    status: 'running',
    createdAt: at,
    lastHeartbeatAt: at,
    ...(isCanceled && { status: 'destroyed' as const, terminationReason: 'canceled', destroyedAt: at }),
  });
}

/** The id of a sandbox that belongs to the run. @throws 404 for a sandbox of another run */
export async function sandboxOfRun(trx: Transaction, runId: string, id: string): Promise<Sandbox['id']> {
  const sandbox = await Sandbox.query(trx).select('id').findOne({ id, runId });
  return sandbox?.id ?? Sandbox.refuse();
}

export interface SessionKey {
  sandboxId: string;
  role: AgentRole;
  sessionId: string;
}

const recordSessionSql = `insert into sandbox_sessions as s (sandbox_id, role, session_id, started_at, outcome)
  values ($1, $2, $3, $4, $5)
  on conflict (sandbox_id, role, session_id) do update set outcome = coalesce(excluded.outcome, s.outcome)`;

/** Opens the session, or records its outcome. */
export async function recordSession(
  trx: Transaction,
  { sandboxId, role, sessionId }: SessionKey,
  outcome: string | null,
): Promise<void> {
  await sql(recordSessionSql, [sandboxId, role, sessionId, now(), outcome], trx);
}

export async function addSessionCost(
  trx: Transaction,
  { sandboxId, role, sessionId }: SessionKey,
  usd: number,
): Promise<void> {
  const session: Key<SandboxSession> = { sandboxId, role, sessionId };
  await SandboxSession.query(trx).where(session).increment('totalCostUsd', usd);
}
