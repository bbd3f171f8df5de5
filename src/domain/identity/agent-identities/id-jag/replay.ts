// Replay protection: until a provider's signed message expires, its `jti` is accepted only once, even by several processes. Ids are stored
// by
// issuer, so that no provider can use up the ids of another.
import { now } from '#foundation/clock.ts';
import { database, type Transaction } from '#foundation/postgres/database.ts';

/**
 * Records a use of the id, and returns whether it is the first; true for only one of concurrent uses. Without `trx`, the record is
 * committed at once.
 */
export async function useJti(
  kind: 'assertion' | 'event' | 'saml',
  { issuer, jti, expiresAt }: { issuer: string; jti: string; expiresAt: number },
  trx?: Transaction,
): Promise<boolean> {
  const used = await (trx ?? database())('used_jtis')
    .insert({ kind, issuer, jti, expiresAt })
    .onConflict(['kind', 'issuer', 'jti'])
    .ignore()
    .returning('jti');
  return used.length > 0;
}

/** Deletes the ids of messages that have expired. */
export const sweepJtis = async (): Promise<void> => {
  await database()('used_jtis').where('expiresAt', '<=', now()).delete();
};
