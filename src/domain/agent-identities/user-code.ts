// The six digits that the agent shows and the person types: ten minutes, five tries (specification, Limits). A bare digest of so
// short a code would be guessed at once, so it is keyed, and bound to its attempt.
import type { Transaction } from '#foundation/database.ts';
import type { Id } from '#foundation/ids.ts';
import { codeDigest, sameBytes } from '#foundation/secrets.ts';
import { tries } from '#limits.ts';
import { ClaimAttempt } from './model.ts';

export const userCodeDigest = (attemptId: Id<'claimAttempt'>, code: string): Buffer =>
  codeDigest('claim', `${attemptId}:${code}`);

/** As typed or pasted, with or without blanks and hyphens. */
const digitsOf = (typed: string): string => typed.replace(/[\s-]/g, '');

/**
 * Whether the code is the right one. The try is counted, in a statement that knows the limit, before anything is compared: as
 * many at once as may come, five are looked at. A right one takes its own count back.
 */
export async function tryUserCode(trx: Transaction, attempt: ClaimAttempt, typed: string): Promise<boolean> {
  const counted = await ClaimAttempt.query(trx)
    .findById(attempt.id)
    .where('wrongCount', '<', tries.wrongUserCodes)
    .patch({ wrongCount: ClaimAttempt.raw('wrong_count + 1') as never });
  if (counted === 0 || !sameBytes(attempt.codeDigest, userCodeDigest(attempt.id, digitsOf(typed)))) return false;
  await ClaimAttempt.query(trx).findById(attempt.id).patch({ wrongCount: attempt.wrongCount });
  return true;
}
