// The sign-in of a person to a client: what came of one code. Its refresh tokens are a family: each is used once and gives the
// next; one that comes back after that was copied, and ends the sign-in with all its tokens (RFC 9700 §4.14.2).
import type { Caller } from '#access/principal.ts';
import { ownOrganization, ownPerson } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { sql, type Transaction, transaction } from '#foundation/database.ts';
import type { Id } from '#foundation/ids.ts';
import { notFound } from '#foundation/problem.ts';
import { Stored } from '#foundation/record.ts';
import { digest, newSecret } from '#foundation/secrets.ts';
import type { PersonIn } from '../memberships/model.ts';
import { revokeAccessTokens } from './access-tokens.ts';
import type { Resource } from './resources.ts';

export class SignIn extends Stored {
  static override tableName = 'sign_ins';
  static override columns = [
    'id',
    'clientId',
    'clientName',
    'userId',
    'orgId',
    'projectId',
    'resource',
    'scopes',
    'createdAt',
    'expiresAt',
    'revokedAt',
  ];

  declare id: Id<'signIn'>;
  declare clientId: string;
  /** As it was called when the person agreed. */
  declare clientName: string | null;
  declare userId: Id<'person'>;
  declare orgId: Id<'organization'>;
  declare projectId: Id<'project'> | null;
  declare resource: Resource;
  /** As the person granted them, with `offline_access` where there are refresh tokens. */
  declare scopes: string[];
  declare createdAt: number;
  /** Refreshing does not move it. */
  declare expiresAt: number;
  declare revokedAt: number | null;
}

export class RefreshToken extends Stored {
  static override tableName = 'refresh_tokens';
  static override idColumn = 'digest';

  declare digest: Buffer;
  declare signInId: Id<'signIn'>;
  declare createdAt: number;
  declare usedAt: number | null;
}

/** The next of the family; its secret is shown here and never again. */
export async function issueRefreshToken(trx: Transaction, signInId: Id<'signIn'>): Promise<string> {
  const secret = newSecret('ort_');
  await RefreshToken.query(trx).insert({ digest: digest(secret), signInId, createdAt: now() });
  return secret;
}

/** True once, for one of however many that present it at a time. */
export async function useRefreshToken(trx: Transaction, secret: string): Promise<boolean> {
  const used = await RefreshToken.query(trx)
    .where({ digest: digest(secret), usedAt: null })
    .patch({ usedAt: now() });
  return used > 0;
}

/** Keeps the sign-in alive until the transaction ends; false when it has ended already. */
export const holdSignIn = async (trx: Transaction, id: Id<'signIn'>): Promise<boolean> =>
  (await SignIn.query(trx).select('id').findOne({ id, revokedAt: null }).forShare()) !== undefined;

/** Ends a sign-in with all its tokens at once; gives how many access tokens were alive. A second time changes nothing. */
export async function endSignIn(trx: Transaction, id: Id<'signIn'>): Promise<number> {
  await SignIn.query(trx).where({ id, revokedAt: null }).patch({ revokedAt: now() });
  return revokeAccessTokens(trx, { signInId: id });
}

/** Ends every sign-in of a person; its access and refresh tokens work only with it. */
export const endSignInsOf = async (trx: Transaction, person: PersonIn): Promise<number> =>
  SignIn.query(trx)
    .where({ ...person, revokedAt: null })
    .patch({ revokedAt: now() });

/** A sign-in, and when one of its tokens was last used. */
export type ListedSignIn = SignIn & { lastUsedAt: number | null };

/** The person's own sign-ins in this organization, also those that ended; newest first. */
export const listSignIns = (caller: Caller): Promise<ListedSignIn[]> =>
  sql<ListedSignIn>(
    `select s.id, s.client_id, s.client_name, s.user_id, s.org_id, s.project_id, s.resource,
        array_remove(s.scopes, 'offline_access') as scopes, s.created_at, s.expires_at, s.revoked_at,
        (select max(a.last_used_at) from access_tokens a where a.sign_in_id = s.id) as last_used_at
      from sign_ins s where s.user_id = $1 and s.org_id = $2 order by s.created_at desc, s.id desc`,
    [ownPerson(caller), ownOrganization(caller)],
  );

export interface RevokedSignIn {
  kind: 'revoked' | 'already-revoked';
  revokedAt: number;
  /** Live access tokens that stopped working with it. */
  revokedTokens: number;
}

/** Ends one of the person's own sign-ins; 404 for any other. */
export function revokeSignIn(caller: Caller, id: string): Promise<RevokedSignIn> {
  const own = { id: id as Id<'signIn'>, userId: ownPerson(caller), orgId: ownOrganization(caller) };
  return transaction(async (trx) => {
    const signIn = await SignIn.query(trx).findOne(own).forNoKeyUpdate();
    if (!signIn) throw notFound('sign-in');
    const revokedTokens = await endSignIn(trx, signIn.id);
    if (signIn.revokedAt !== null) return { kind: 'already-revoked', revokedAt: signIn.revokedAt, revokedTokens };
    return { kind: 'revoked', revokedAt: now(), revokedTokens };
  });
}
