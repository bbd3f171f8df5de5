// Access tokens that a vendor has issued for the credentials of a connector. All processes use the same token.
import { now } from '#foundation/clock.ts';
import { sql } from '#foundation/postgres/database.ts';
import { seal, unseal } from '#foundation/secrets/secrets.ts';
import type { Integration } from './model.ts';

export const accessTokenPurpose = (id: string) => `access token of integration:${id}`;

const tokenSql = 'select sealed_token as sealed from integrations where id = $1 and token_until > $2';

/** The stored token; null when there is none, it has expired, or it was encrypted with another key. */
export async function findAccessToken({ id }: Integration): Promise<string | null> {
  const [row] = await sql<{ sealed: string | null }>(tokenSql, [id, now()]);
  try {
    return row?.sealed ? unseal(accessTokenPurpose(id), row.sealed) : null;
  } catch {
    return null;
  }
}

// `updated_at` is compared, because the credentials may have been replaced since the token was requested.
const storeSql = 'update integrations set sealed_token = $3, token_until = $4 where id = $1 and updated_at = $2';

export const storeAccessToken = async (
  { id, updatedAt }: Integration,
  { token, until }: { token: string; until: number },
): Promise<void> => {
  await sql(storeSql, [id, updatedAt, seal(accessTokenPurpose(id), token), until]);
};
