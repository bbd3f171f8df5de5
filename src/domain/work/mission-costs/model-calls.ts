// Model calls in progress, each with its maximum price. They count against all limits until their usage is reported.
import { now } from '#foundation/clock.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';

export interface ModelCall {
  runId: string;
  /** The id that the runtime chose for the call. */
  callId: string;
  orgId: string;
  /** Millionths of a US dollar. */
  amount: number;
  outputTokens: number;
}

const reservedSql = `select coalesce(sum(amount) filter (where run_id = $1), 0)::bigint as of_run,
    coalesce(sum(amount), 0)::bigint as of_organization, count(*) filter (where run_id = $1)::int as calls
  from model_calls where org_id = $2`;

/** Reserved amounts of the run and of its organization, and the calls of the run in progress. */
export const readReservedCalls = async (
  trx: Transaction,
  { id, orgId }: { id: string; orgId: string },
): Promise<{ ofRun: number; ofOrganization: number; calls: number }> =>
  (await sql<{ ofRun: number; ofOrganization: number; calls: number }>(reservedSql, [id, orgId], trx))[0]!;

export const findModelCall = async (
  trx: Transaction,
  runId: string,
  callId: string,
): Promise<Pick<ModelCall, 'outputTokens'> | undefined> =>
  (
    await sql<Pick<ModelCall, 'outputTokens'>>(
      'select output_tokens from model_calls where run_id = $1 and call_id = $2',
      [runId, callId],
      trx,
    )
  )[0];

const insertSql = `insert into model_calls (run_id, call_id, org_id, amount, output_tokens, created_at)
  values ($1, $2, $3, $4, $5, $6)`;

export async function insertModelCall(
  trx: Transaction,
  { runId, callId, orgId, amount, outputTokens }: ModelCall,
): Promise<void> {
  await sql(insertSql, [runId, callId, orgId, amount, outputTokens, now()], trx);
}

export async function endModelCall(trx: Transaction, runId: string, callId: string): Promise<void> {
  await sql('delete from model_calls where run_id = $1 and call_id = $2', [runId, callId], trx);
}

/** Deletes the calls of an ended run, which are no longer reported. Returns whether there were any. */
export const dropModelCalls = async (trx: Transaction, runId: string): Promise<boolean> =>
  (await sql('delete from model_calls where run_id = $1 returning run_id', [runId], trx)).length > 0;
