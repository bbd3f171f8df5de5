// The six digits that the agent shows and the person types. They are valid for ten minutes, and the person can type them five times
// (docs/contract.md#limits). A plain digest of so short a code could be reversed, so the digest is computed with a key and with the id of
// the claim attempt.

import type { Id } from '#foundation/ids.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { codeDigest, sameBytes } from '#foundation/secrets/secrets.ts';
import { tries } from '#limits.ts';
import { ClaimAttempt } from './model.ts';

export const userCodeDigest = (attemptId: Id<'claimAttempt'>, code: string): Buffer =>
  codeDigest('claim', `${attemptId}:${code}`);

/** The typed or pasted digits without spaces or hyphens. */
const digitsOf = (typed: string): string => typed.replace(/[\s-]/g, '');

/**
 * Whether the code is right. One statement counts the attempt and checks the limit before the comparison, so that at most five of any
 * number of concurrent attempts are compared. A right code resets the count.
 */
export async function tryUserCode(trx: Transaction, attempt: ClaimAttempt, typed: string): Promise<boolean> {
  const counted = await ClaimAttempt.query(trx)
    .findById(attempt.id)
    .where('wrongCount', '<', tries.wrongUserCodes)
    .patch({ wrongCount: ClaimAttempt.raw('wrong_count + 1') as never });
  if (counted === 0 || !sameBytes(attempt.codeDigest, userCodeDigest(attempt.id, digitsOf(typed)))) return false;
  await ClaimAttempt.patch(trx, { id: attempt.id }, { wrongCount: attempt.wrongCount });
  return true;
}
