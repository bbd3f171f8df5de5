// The limits of model calls and tokens of a mission, checked before each model call. The number of input tokens is known only after a call,
// so the last call may exceed the token limit by its input.
import type { Transaction } from '#foundation/postgres/database.ts';
import { conflict } from '#foundation/problem.ts';
import { limitOf } from '../../projects/sandbox-templates/mission-limits.ts';
import { readReservedCalls } from '../../work/mission-costs/model-calls.ts';
import { minOutputTokens } from '../../work/runs/bounds.ts';
import type { ParkingLimit, Run } from '../../work/runs/model.ts';
import { tokensOfRun } from '../../work/runs/steps.ts';

const maxCallsAtOnce = 1_000;

/** The limit that prevents the next call, and an explanation for people. */
export interface LimitReached {
  parkedBy: ParkingLimit;
  reason: string;
}

const count = (value: number): string => value.toLocaleString('en-US');

/** Number of output tokens that the limits allow for a call that requests `outputTokens`. @throws 409 for too many concurrent calls */
export async function readCallLimit(
  trx: Transaction,
  run: Run,
  outputTokens: number,
): Promise<{ outputTokens: number } | LimitReached> {
  const { calls, tokens: reserved } = await readReservedCalls(trx, run.id);
  if (calls >= maxCallsAtOnce)
    throw conflict(`The run has ${maxCallsAtOnce} model calls in progress, which is the maximum.`);
  const maxCalls = limitOf(run, 'maxModelCalls');
  if (run.modelCalls >= maxCalls) {
    const reason = `The mission has made ${count(run.modelCalls)} of at most ${count(maxCalls)} model calls.`;
    return { parkedBy: 'model_calls', reason };
  }
  const maxTokens = limitOf(run, 'maxTokens');
  const used = await tokensOfRun(trx, run.id);
  const left = maxTokens - used - reserved;
  if (left >= Math.min(outputTokens, minOutputTokens)) return { outputTokens: Math.min(outputTokens, left) };
  const inProgress = reserved > 0 ? `, in addition to ${count(reserved)} of calls in progress` : '';
  return {
    parkedBy: 'tokens',
    reason: `The mission has used ${count(used)} of at most ${count(maxTokens)} tokens${inProgress}.`,
  };
}
