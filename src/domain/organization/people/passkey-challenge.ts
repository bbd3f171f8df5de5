// Challenges of WebAuthn ceremonies (Web Authentication Level 3, §13.4.3). A challenge contains its expiry and a keyed digest that binds it
// to one browser and one purpose, so that creating a challenge stores nothing. Only the digest of a used challenge is stored.
import { now } from '#foundation/clock.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { unauthenticated } from '#foundation/problem.ts';
import { digest, newSecret, sameBytes, signature } from '#foundation/secrets/secrets.ts';
import { lifetimesMs } from '#limits.ts';

export interface Ceremony {
  purpose: 'create' | 'sign-in';
  /** The secret in the browser's cookie, or the id of the browser's session. */
  browser: string;
}

const macOf = (head: string, { purpose, browser }: Ceremony): string =>
  signature('passkey challenge', `${head} ${purpose} ${browser}`).toString('base64url');

/** Creates a challenge that is valid for five minutes. The bytes of the returned text are the challenge. */
export function newChallenge(ceremony: Ceremony): string {
  const head = `${newSecret('')}.${now() + lifetimesMs.passkeyChallenge}`;
  return `${head}.${macOf(head, ceremony)}`;
}

/** Whether a challenge was created for this ceremony and has not expired. @param encoded The challenge in base64url, as in the client data */
export function isChallenge(encoded: string, ceremony: Ceremony): boolean {
  const [secret, expiresAt, mac = ''] = textOf(encoded).split('.');
  const isOurs = sameBytes(Buffer.from(mac), Buffer.from(macOf(`${secret}.${expiresAt}`, ceremony)));
  return isOurs && Number(expiresAt) > now();
}

const useChallengeSql = `insert into used_passkey_challenges (digest, expires_at) values ($1, $2)
  on conflict do nothing returning digest`;

/** Consumes a challenge that `isChallenge` accepted. @throws 401 for a challenge that was already used */
export async function useChallenge(trx: Transaction, encoded: string): Promise<void> {
  const text = textOf(encoded);
  const used = await sql(useChallengeSql, [digest(text), Number(text.split('.')[1])], trx);
  if (used.length === 0) throw refusedPasskey();
}

const textOf = (encoded: string): string => Buffer.from(encoded, 'base64url').toString();

export const refusedPasskey = () =>
  unauthenticated('The passkey could not be verified, or the page is older than five minutes. Try again.');

export async function sweepChallenges(): Promise<void> {
  await sql('delete from used_passkey_challenges where expires_at <= $1', [now()]);
}
