// Authorization codes: made when a person agrees, good for one minute, one use and the client they were made for. What a code
// leads to was settled by the person; presenting it a second time undoes it all (RFC 6749 §4.1.2; specification, Authentication 8).
import { narrowed, requireFewScopes } from '#access/authority.ts';
import { days, now } from '#foundation/clock.ts';
import { sql, type Transaction, transaction } from '#foundation/database.ts';
import type { Id } from '#foundation/ids.ts';
import { invalid, notFound } from '#foundation/problem.ts';
import { Stored } from '#foundation/record.ts';
import { digest, newSecret } from '#foundation/secrets.ts';
import { lifetimes } from '#limits.ts';
import type { PersonIn } from '../memberships/model.ts';
import { holdMembership } from '../memberships/operations.ts';
import { Project } from '../projects/model.ts';
import { type AuthorizationRequest, offlineAccess } from './authorization-request.ts';
import type { Resource } from './resources.ts';

export class AuthorizationCode extends Stored {
  static override tableName = 'authorization_codes';
  static override idColumn = 'digest';
  static override columns = [
    'digest',
    'clientId',
    'clientName',
    'redirectUri',
    'codeChallenge',
    'userId',
    'orgId',
    'projectId',
    'resource',
    'scopes',
    'accessExpiresAt',
    'createdAt',
    'expiresAt',
    'usedAt',
    'signInId',
  ];

  declare digest: Buffer;
  declare clientId: string;
  declare clientName: string | null;
  /** As in the request, with the port of a program on the person's machine. */
  declare redirectUri: string;
  declare codeChallenge: string;
  declare userId: Id<'person'>;
  declare orgId: Id<'organization'>;
  declare projectId: Id<'project'> | null;
  declare resource: Resource;
  declare scopes: string[];
  /** The end of the access, as the person chose it. */
  declare accessExpiresAt: number;
  declare createdAt: number;
  declare expiresAt: number;
  declare usedAt: number | null;
  declare signInId: Id<'signIn'> | null;
}

/** What the person chose on the page. */
export interface Approval {
  userId: Id<'person'>;
  orgId: string;
  projectId: string | null;
  scopes: readonly string[];
  expiresInDays: number;
}

/**
 * Makes the code of an authorization request that a person agreed to. It grants what the client asked for, the person chose and
 * their role in the organization holds. 404 for an organization or a project of others; 400 when nothing of it is left, or
 * more than one credential may hold.
 */
export function approve(request: AuthorizationRequest, approval: Approval): Promise<string> {
  return transaction(async (trx) => {
    const { userId, orgId, projectId } = approval;
    const membership = await holdMembership(trx, orgId, userId);
    if (!membership) throw notFound('organization');
    // Held until the code stands: a project that is deleted meanwhile takes the code with it.
    if (projectId && !(await Project.query(trx).select('id').findOne({ id: projectId, orgId }).forKeyShare())) {
      throw notFound('project');
    }
    const chosen = request.scopes.filter((scope) => approval.scopes.includes(scope));
    const scopes: string[] = [...narrowed(chosen, membership.role)];
    if (scopes.length === 0) throw invalid('Choose at least one kind of access that your role holds, or deny.');
    requireFewScopes(scopes);
    const code = newSecret('oac_');
    const createdAt = now();
    await AuthorizationCode.query(trx).insert({
      digest: digest(code),
      clientId: request.client.id,
      clientName: request.client.name,
      redirectUri: request.redirectUri,
      codeChallenge: request.codeChallenge,
      userId,
      orgId: membership.orgId,
      projectId: projectId as Id<'project'> | null,
      resource: request.resource,
      scopes: request.isOffline ? [...scopes, offlineAccess] : scopes,
      accessExpiresAt: createdAt + days(approval.expiresInDays),
      createdAt,
      expiresAt: createdAt + lifetimes.authorizationCode,
    });
    return code;
  });
}

/** The code, for one of however many that present it at a time; used up whatever becomes of it. */
export async function useCode(trx: Transaction, secret: string): Promise<AuthorizationCode | undefined> {
  const [code] = await AuthorizationCode.query(trx)
    .where({ digest: digest(secret), usedAt: null })
    .patch({ usedAt: now() })
    .returning([...AuthorizationCode.columns] as never);
  return code;
}

/** The sign-in that came of a code that was used before. */
export async function signInOfCode(trx: Transaction, secret: string): Promise<Id<'signIn'> | null> {
  const code = await AuthorizationCode.query(trx).select('signInId').findById(digest(secret));
  return code?.signInId ?? null;
}

/** Remembers what came of a code. */
export async function bindCode(trx: Transaction, code: AuthorizationCode, signInId: Id<'signIn'>): Promise<void> {
  await AuthorizationCode.query(trx).findById(code.digest).patch({ signInId });
}

const spendCodesSql = (where: string) => `update authorization_codes set used_at = $2 where digest in (
  select digest from authorization_codes where ${where} and used_at is null for update skip locked)`;

/**
 * Uses up every code of a person, whose membership or account the caller has locked. A code that is locked is being redeemed:
 * that waits for the membership, and is refused.
 */
export async function spendCodesOf(trx: Transaction, { userId, orgId }: PersonIn): Promise<void> {
  if (orgId) await sql(spendCodesSql('user_id = $1 and org_id = $3'), [userId, now(), orgId], trx);
  else await sql(spendCodesSql('user_id = $1'), [userId, now()], trx);
}
