// Revocation by presenting a token (RFC 7009). An access token is revoked alone; a refresh token, used or not, is revoked together with its
// sign-in (docs/contract.md#revocation). An unknown token is not an error.

import type { Id } from '#foundation/ids.ts';
import { sql, transaction } from '#foundation/postgres/database.ts';
import { digest } from '#foundation/secrets/secrets.ts';
import { revokeAccessTokens } from './access-tokens.ts';
import { OAuthError } from './errors.ts';
import { endSignIn } from './sign-ins.ts';

const findPresentedSql = `select s.client_id, r.sign_in_id from refresh_tokens r join sign_ins s on s.id = r.sign_in_id where r.digest = $1
  union all
  select s.client_id, null from access_tokens a join sign_ins s on s.id = a.sign_in_id where a.digest = $1`;

/** Revokes the presented token. @throws invalid_client if the token was issued to another client (RFC 7009 §2.1) */
export async function revokePresentedToken(secret: string, clientId: string | undefined): Promise<void> {
  const [found] = await sql<{ clientId: string; signInId: Id<'signIn'> | null }>(findPresentedSql, [digest(secret)]);
  if (found && clientId !== undefined && clientId !== found.clientId) {
    throw new OAuthError(400, 'invalid_client', 'client_id: the token was issued to another client.');
  }
  await transaction((trx) => (found?.signInId ? endSignIn(trx, found.signInId) : revokeAccessTokens(trx, { secret })));
}
