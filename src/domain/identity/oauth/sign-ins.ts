// The sign-in of a person to an OAuth client, created by one authorization code. Its refresh tokens are a family: each is used once and
// replaced by the next; a token that is presented again was copied, and ends the sign-in with all its tokens (RFC 9700 §4.14.2).
import type { Caller } from '#access/principal.ts';
import { ownOrganization, ownPerson } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { columnsOf, reference } from '#foundation/postgres/reads.ts';
import { digest, newSecret } from '#foundation/secrets/secrets.ts';
import type { PersonIn } from '../../organization/memberships/model.ts';
import { lentColumns } from '../credentials/model.ts';
import { revokeAccessTokens } from './access-tokens.ts';
import { offlineAccess } from './authorization-request.ts';
import type { Resource } from './resources.ts';

export class SignIn extends table('sign_ins', {
  id: column<Id<'signIn'>>(),
  clientId: column<string>(),
  /** The client's name when the person consented. */
  clientName: column<string | null>(),
  /** The scopes include `offline_access` if the sign-in has refresh tokens. */
  ...lentColumns,
  resource: column<Resource>(),
  createdAt: column<number>(),
  /** When the sign-in expires. Refreshing its tokens does not extend it. */
  expiresAt: column<number>(),
  revokedAt: column<number | null>(),
}) {
  static override noun = 'sign-in';
}

export class RefreshToken extends table('refresh_tokens', {
  digest: column<Buffer>(),
  signInId: column<Id<'signIn'>>(),
  createdAt: column<number>(),
  usedAt: column<number | null>(),
}) {
  static override idColumn = 'digest';
}

/** Creates the next token of the family; its secret is returned only here. */
export async function issueRefreshToken(trx: Transaction, signInId: Id<'signIn'>): Promise<string> {
  const secret = newSecret('ort_');
  await RefreshToken.insert(trx, { digest: digest(secret), signInId, createdAt: now() });
  return secret;
}

/** Consumes a refresh token; returns true for only one of several concurrent presentations. */
export async function useRefreshToken(trx: Transaction, secret: string): Promise<boolean> {
  const used = await RefreshToken.patch(trx, { digest: digest(secret), usedAt: null }, { usedAt: now() });
  return used > 0;
}

/** Locks the sign-in, so that nobody can end it before the transaction ends; returns false when it has already ended. */
export const lockSignIn = async (trx: Transaction, id: Id<'signIn'>): Promise<boolean> =>
  (await SignIn.query(trx).select('id').findOne({ id, revokedAt: null }).forShare()) !== undefined;

/** Ends a sign-in with all its tokens. Returns the number of live access tokens. A repeated call changes nothing. */
export async function endSignIn(trx: Transaction, id: Id<'signIn'>): Promise<number> {
  await SignIn.patch(trx, { id, revokedAt: null }, { revokedAt: now() });
  return revokeAccessTokens(trx, { signInId: id });
}

/** Ends every sign-in of a person, and its access and refresh tokens. */
export const endSignInsOf = async (trx: Transaction, person: PersonIn): Promise<number> =>
  SignIn.patch(trx, { ...person, revokedAt: null }, { revokedAt: now() });

/** A sign-in as lists show it: with its scopes except `offline_access`, and the last use of its tokens. */
export type ListedSignIn = SignIn & { lastUsedAt: number | null };

const listSignInsSql = `select ${columnsOf(SignIn, 's')},
    (select max(a.last_used_at) from access_tokens a where a.sign_in_id = ${reference('s.id')}) as last_used_at
  from sign_ins s where s.user_id = $1 and s.org_id = $2 order by s.created_at desc, s.id desc`;

/** The person's own sign-ins in this organization, including ended ones; newest first. */
export async function listSignIns(caller: Caller): Promise<ListedSignIn[]> {
  const signIns = await sql<ListedSignIn>(listSignInsSql, [ownPerson(caller), ownOrganization(caller)]);
  return signIns.map((signIn) => ({ ...signIn, scopes: signIn.scopes.filter((scope) => scope !== offlineAccess) }));
}

export interface RevokedSignIn {
  kind: 'revoked' | 'already-revoked';
  revokedAt: number;
  /** Number of access tokens that were still valid when they were revoked. */
  revokedTokens: number;
}

/** Ends one of the person's own sign-ins. @throws 404 for a sign-in of another person */
export function revokeSignIn(caller: Caller, id: string): Promise<RevokedSignIn> {
  const filter = { id: id as Id<'signIn'>, userId: ownPerson(caller), orgId: ownOrganization(caller) };
  return transaction(async (trx) => {
    const signIn = await SignIn.query(trx).findOne(filter).forNoKeyUpdate();
    if (!signIn) return SignIn.refuse();
    const revokedTokens = await endSignIn(trx, signIn.id);
    if (signIn.revokedAt !== null) return { kind: 'already-revoked', revokedAt: signIn.revokedAt, revokedTokens };
    return { kind: 'revoked', revokedAt: now(), revokedTokens };
  });
}
