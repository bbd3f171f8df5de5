// Model calls in progress, each with its maximum price. They count against all limits until their usage is reported.
import { now } from '#foundation/clock.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { attemptIds } from '../runs/attempts.ts';
import { isRunOf } from '../runs/cost.ts';
import type { TokenPrice } from './prices.ts';

export interface ModelCall {
  runId: string;
  /** The id that the runtime chose for the call. */
  callId: string;
  orgId: string;
  /** Price of the call, millionths of a US dollar. */
  amount: number;
  outputTokens: number;
  /** The price when the call was reserved, at which its usage is charged; null for calls that an earlier release reserved. */
  price: TokenPrice | null;
}

const reservedSql = `select coalesce(sum(amount), 0)::bigint as reserved, coalesce(sum(output_tokens), 0)::bigint as tokens,
  count(*)::int as calls from model_calls where run_id = $1`;

export interface ReservedCalls {
  /** Reserved amount in millionths of a US dollar. */
  reserved: number;
  /** Maximum output tokens of the reserved calls. */
  tokens: number;
  calls: number;
}

/** Sums over the run's model calls in progress. */
export const readReservedCalls = async (trx: Transaction, runId: string): Promise<ReservedCalls> =>
  (await sql<ReservedCalls>(reservedSql, [runId], trx))[0]!;

const reservedByAttemptsSql = `select coalesce(sum(amount), 0)::bigint as reserved from model_calls
  where run_id in ${attemptIds('$1')}`;

/** The amount, in millionths of a US dollar, that is reserved for model calls in progress, in all attempts at a task together. */
export const readReservedByAttempts = async (trx: Transaction, groupId: string): Promise<number> =>
  (await sql<{ reserved: number }>(reservedByAttemptsSql, [groupId], trx))[0]!.reserved;

/**
 * SQL expression: reserved amount of the organization's calls in progress; limited to the project and the person in the columns of `owner`,
 * if any.
 */
export const reservedCalls = (orgId: string, owner: string): string =>
  `(select coalesce(sum(c.amount), 0)::bigint from model_calls c where c.org_id = ${orgId}
    and (${owner}.project_id is null and ${owner}.user_id is null or ${isRunOf('c.run_id', owner)}))`;

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

const insertSql = `insert into model_calls (run_id, call_id, org_id, amount, output_tokens, created_at, price)
  values ($1, $2, $3, $4, $5, $6, $7::jsonb)`;

export async function insertModelCall(
  trx: Transaction,
  { runId, callId, orgId, amount, outputTokens, price }: ModelCall,
): Promise<void> {
  await sql(insertSql, [runId, callId, orgId, amount, outputTokens, now(), JSON.stringify(price)], trx);
}

/** Ends a reserved call; returns its price and the time of its reservation, or undefined when the call is not in progress. */
export const endModelCall = async (
  trx: Transaction,
  runId: string,
  callId: string,
): Promise<(Pick<ModelCall, 'price'> & { createdAt: number }) | undefined> =>
  (
    await sql<Pick<ModelCall, 'price'> & { createdAt: number }>(
      'delete from model_calls where run_id = $1 and call_id = $2 returning price, created_at',
      [runId, callId],
      trx,
    )
  )[0];

/**
 * Deletes the model calls in progress of a run that has ended, because the end of these calls is no longer reported. Returns whether there were any.
 */
export const dropModelCalls = async (trx: Transaction, runId: string): Promise<boolean> =>
  (await sql('delete from model_calls where run_id = $1 returning run_id', [runId], trx)).length > 0;

const allSql = 'select count(*)::int as calls, coalesce(sum(amount), 0)::bigint as amount from model_calls';

/** Calls in progress of all organizations, and their maximum price in millionths of a US dollar. */
export const countModelCalls = async (): Promise<{ calls: number; amount: number }> =>
  (await sql<{ calls: number; amount: number }>(allSql))[0]!;
