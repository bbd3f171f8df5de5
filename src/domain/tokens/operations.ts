// What can be done with personal access tokens: make, list, revoke one's own; and who stands behind one that is shown.
import { narrowedText, refusedScopes, requireFewScopes } from '#access/authority.ts';
import type { Caller } from '#access/principal.ts';
import { ownOrganization, ownPerson } from '#access/reach.ts';
import type { OrgRole } from '#access/roles.ts';
import { days, now } from '#foundation/clock.ts';
import { sql, type Transaction, transaction } from '#foundation/database.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { conflict, missingScopes, notFound } from '#foundation/problem.ts';
import { find, readAll } from '#foundation/record.ts';
import { digest, newSecret } from '#foundation/secrets.ts';
import { tokens } from '#limits.ts';
import type { PersonIn } from '../memberships/model.ts';
import { holdOwnMembership } from '../memberships/operations.ts';
import { Project } from '../projects/model.ts';
import { noteUse } from './last-used.ts';
import { Token } from './model.ts';

export interface NewToken {
  name: string;
  scopes: readonly string[];
  expiresInDays: number;
  projectId?: string | undefined;
}

/** The record and, this once, the raw bearer value. */
export type CreatedToken = Token & { token: string };

/**
 * Creates a token that can do no more than the caller.
 * @throws 403 naming each scope beyond that, 400 for too many scopes, 404 for an unknown project or another organization's
 */
export async function createToken(caller: Caller, input: NewToken): Promise<CreatedToken> {
  const [orgId, userId] = [ownOrganization(caller), ownPerson(caller)];
  const scopes = [...new Set(input.scopes)];
  const refused = refusedScopes(scopes, caller);
  if (refused.length > 0) throw missingScopes(refused);
  requireFewScopes(scopes);
  const secret = newSecret('pat_');
  const createdAt = now();
  const record = {
    id: newId('token'),
    orgId,
    userId,
    projectId: (input.projectId ?? null) as Id<'project'> | null,
    name: input.name,
    scopes,
    createdAt,
    expiresAt: createdAt + days(input.expiresInDays),
    lastUsedAt: null,
    revokedAt: null,
  };
  await transaction(async (trx) => {
    await refuseBeyondQuota(trx, userId);
    await holdOwnMembership(trx, caller);
    // Held until the token stands: a project that is deleted meanwhile takes the token with it.
    if (record.projectId && !(await Project.query(trx).findOne({ id: record.projectId, orgId }).forKeyShare())) {
      throw notFound('project');
    }
    await Token.query(trx).insert({ ...record, digest: digest(secret) });
  });
  return { ...record, token: secret } as CreatedToken;
}

let perPerson: number = tokens.perPerson;
/** How many live tokens a person may have, over all organizations. */
export function bindTokenQuota(quota: number): void {
  perPerson = quota;
}

const liveTokensSql =
  'select count(*)::int as live from tokens where user_id = $1 and expires_at > $2 and revoked_at is null';

/**
 * The row of the person is locked until `trx` ends, so that any number of concurrent calls is counted exactly. Before any weaker
 * lock of that row: concurrent upgrades would be a deadlock.
 */
async function refuseBeyondQuota(trx: Transaction, userId: Id<'person'>): Promise<void> {
  await sql('select id from people where id = $1 for no key update', [userId], trx);
  const [row] = await sql<{ live: number }>(liveTokensSql, [userId, now()], trx);
  if (row!.live >= perPerson) {
    throw conflict(`A person may have ${perPerson} live tokens, in all organizations together; revoke one first.`);
  }
}

/** The person's own tokens in this organization, also those that ended; newest first. */
export const listTokens = (caller: Caller): Promise<Token[]> =>
  readAll<Token>(Token, { userId: ownPerson(caller), orgId: ownOrganization(caller) }, 'created_at desc, id desc');

export const revocationKinds = ['revoked', 'already-revoked'] as const;

export interface RevokedToken {
  kind: (typeof revocationKinds)[number];
  tokenId: string;
  revokedAt: number;
}

/** Ends one of the person's own tokens at once. Ending it twice is no fault and changes nothing. */
export async function revokeToken(caller: Caller, tokenId: string): Promise<RevokedToken> {
  const own = { id: tokenId, userId: ownPerson(caller), orgId: ownOrganization(caller) };
  const revokedAt = now();
  const revoked = await Token.query()
    .where({ ...own, revokedAt: null })
    .patch({ revokedAt });
  if (revoked > 0) return { kind: 'revoked', tokenId, revokedAt };
  const token = await find<Token>(Token, 'token', own);
  return { kind: 'already-revoked', tokenId, revokedAt: token.revokedAt! };
}

/** Revokes every token of a person. */
export const revokeTokensOf = async (trx: Transaction, person: PersonIn): Promise<number> =>
  Token.query(trx)
    .where({ ...person, revokedAt: null })
    .patch({ revokedAt: now() });

interface Bearer {
  id: Id<'token'>;
  userId: Id<'person'>;
  orgId: Id<'organization'>;
  projectId: Id<'project'> | null;
  granted: string;
  lastUsedAt: number | null;
  role: OrgRole;
}

const lookUp = `select t.id, t.user_id, t.org_id, t.project_id, array_to_string(t.scopes, ' ') as granted, t.last_used_at, m.role
  from tokens t join memberships m on m.org_id = t.org_id and m.user_id = t.user_id
  where t.digest = $1 and t.expires_at > $2 and t.revoked_at is null`;

/**
 * Who stands behind a `pat_` secret, in one statement; null when it is unknown, expired or revoked, or its person has left the
 * organization. Asked on every request and never kept, so that a revocation and a changed role act on the next one.
 */
export async function callerOfToken(secret: string): Promise<Caller | null> {
  const [row] = await sql<Bearer>(lookUp, [digest(secret), now()]);
  if (!row) return null;
  noteUse('tokens', row.id, row.lastUsedAt);
  return {
    principalType: 'user',
    credentialId: row.id,
    userId: row.userId,
    orgId: row.orgId,
    role: row.role,
    scopes: narrowedText(row.granted, row.role),
    projectId: row.projectId,
  };
}
