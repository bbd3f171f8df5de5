// Authorization codes: created when a person consents, and valid for one minute, one use and one client. A code grants the access that the
// person chose. Presenting it a second time revokes all tokens that were issued for it (RFC 6749 §4.1.2;
// docs/contract.md#authorization-code-flow).

import { days, now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { digest, newSecret } from '#foundation/secrets/secrets.ts';
import { lifetimesMs } from '#limits.ts';
import type { PersonIn } from '../../organization/memberships/model.ts';
import { type Lender, lendChosen } from '../credentials/lend.ts';
import { lentColumns } from '../credentials/model.ts';
import { type AuthorizationRequest, offlineAccess } from './authorization-request.ts';
import type { Resource } from './resources.ts';

export class AuthorizationCode extends table('authorization_codes', {
  digest: column<Buffer>(),
  clientId: column<string>(),
  clientName: column<string | null>(),
  /** The redirect URI of the request, including the port if it leads to a program on the person's machine. */
  redirectUri: column<string>(),
  codeChallenge: column<string>(),
  ...lentColumns,
  resource: column<Resource>(),
  /** When the person's grant to the client ends; the person has chosen this time. */
  accessExpiresAt: column<number>(),
  createdAt: column<number>(),
  expiresAt: column<number>(),
  usedAt: column<number | null>(),
  signInId: column<Id<'signIn'> | null>(),
}) {
  static override idColumn = 'digest';
}

/** The access that the person has chosen on the authorization page. */
export interface Approval extends Lender {
  scopes: readonly string[];
  expiresInDays: number;
}

/**
 * Creates the code for an authorization request that a person consented to. It grants those of the requested scopes that the person chose
 * and that the person's role in the organization includes. @throws as `lendChosen`
 */
export function approve(request: AuthorizationRequest, approval: Approval): Promise<string> {
  return transaction(async (trx) => {
    const chosen = request.scopes.filter((scope) => approval.scopes.includes(scope));
    const lent = await lendChosen(trx, approval, chosen);
    const code = newSecret('oac_');
    const createdAt = now();
    await AuthorizationCode.insert(trx, {
      digest: digest(code),
      clientId: request.client.id,
      clientName: request.client.name,
      redirectUri: request.redirectUri,
      codeChallenge: request.codeChallenge,
      ...lent,
      resource: request.resource,
      scopes: request.isOffline ? [...lent.scopes, offlineAccess] : lent.scopes,
      accessExpiresAt: createdAt + days(approval.expiresInDays),
      createdAt,
      expiresAt: createdAt + lifetimesMs.authorizationCode,
    });
    return code;
  });
}

/** Consumes and returns the code; only one of several concurrent presentations gets it. */
export async function useCode(trx: Transaction, secret: string): Promise<AuthorizationCode | undefined> {
  const [code] = await AuthorizationCode.patchReturning(
    trx,
    { digest: digest(secret), usedAt: null },
    { usedAt: now() },
  );
  return code;
}

/** The sign-in that an already used code created. */
export async function signInOfCode(trx: Transaction, secret: string): Promise<Id<'signIn'> | null> {
  const code = await AuthorizationCode.query(trx).select('signInId').findById(digest(secret));
  return code?.signInId ?? null;
}

/** Stores the sign-in that a code created. */
export async function bindCode(trx: Transaction, code: AuthorizationCode, signInId: Id<'signIn'>): Promise<void> {
  await AuthorizationCode.patch(trx, { digest: code.digest }, { signInId });
}

const spendCodesSql = (where: string) => `update authorization_codes set used_at = $2 where digest in (
  select digest from authorization_codes where ${where} and used_at is null for update skip locked)`;

/**
 * Marks the unused codes of a person as used, so that nobody can redeem them. The caller has locked the person's membership or account. A
 * code whose row is locked is skipped, because a concurrent request is redeeming the code. That request waits for the lock on the
 * membership, and is then refused.
 */
export async function spendCodesOf(trx: Transaction, { userId, orgId }: PersonIn): Promise<void> {
  if (orgId) await sql(spendCodesSql('user_id = $1 and org_id = $3'), [userId, now(), orgId], trx);
  else await sql(spendCodesSql('user_id = $1'), [userId, now()], trx);
}
