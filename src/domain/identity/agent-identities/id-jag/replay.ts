// Replay protection: the `jti` of a provider's signed message is accepted once over all processes, until the message has expired. Keyed
// by issuer, so that no provider can use up the ids of another.
import { now } from '#foundation/clock.ts';
import { database, type Transaction } from '#foundation/postgres/database.ts';

/** Whether this is the first use of the id; true for only one of concurrent uses. Without `trx`, the statement is committed by itself. */
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
