// Console sessions: opened at sign-in, found by the digest of the cookie's secret, ended by the person or after 14 days without use. A
// session acts as its person, with all scopes of the person's role (principalType `cookie`).
import type { Caller } from '#access/principal.ts';
import { ownOrganization, ownPerson } from '#access/reach.ts';
import type { OrgRole } from '#access/roles.ts';
import { type Scope, scopesOfRole } from '#access/scopes.ts';
import { now } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { findCredential, sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { columnsOf } from '#foundation/postgres/reads.ts';
import type { Bookmark } from '#foundation/postgres/replica.ts';
import { forbidden, notFound } from '#foundation/problem.ts';
import { digest, newSecret } from '#foundation/secrets/secrets.ts';
import { lifetimesMs } from '#limits.ts';
import { isMemberSql, joinOneMembershipSql, unreachedOrgIdsSql } from '../../organization/memberships/join.ts';
import type { PersonIn } from '../../organization/memberships/model.ts';
import { joinEnabledPersonSql } from '../../organization/people/join.ts';
import { Person } from '../../organization/people/model.ts';
import { lastUsedIntervalMs } from '../credentials/last-used.ts';
import { isReachedSql } from '../identity-providers/reach.ts';
import { Session } from './model.ts';

/** The place of a sign-in, as shown in the list of sessions. */
export interface Device {
  userAgent: string | null;
  address: string | null;
}

const userAgentKept = 300;

/** The sign-in through an identity provider that opens a session. */
export interface ProviderProof {
  orgId: Id<'organization'>;
  /** When the sign-in stops counting. */
  until: number;
  /** Whether nobody but the provider vouches for the person, so that the session reaches only its organization. */
  isOnly: boolean;
}

/**
 * Opens a session. Its secret is sent to the browser and stored as a digest. The person is locked, so that no session is opened while the
 * account is being disabled. @throws 403 for a disabled account
 */
export async function openSession(
  personId: Id<'person'>,
  device: Device,
  proof?: ProviderProof,
): Promise<{ id: Id<'session'>; secret: string }> {
  const secret = newSecret('');
  const id = newId('session');
  const createdAt = now();
  await transaction(async (trx) => {
    if (!(await Person.query(trx).select('id').findOne({ id: personId, disabledAt: null }).forShare())) {
      throw forbidden('This account is disabled.');
    }
    await Session.insert(trx, {
      id,
      digest: digest(secret),
      personId,
      userAgent: device.userAgent?.slice(0, userAgentKept) ?? null,
      address: device.address,
      orgId: proof?.orgId ?? null,
      ssoOrgId: proof?.orgId ?? null,
      ssoUntil: proof?.until ?? null,
      orgOnly: proof?.isOnly ?? false,
      createdAt,
      lastUsedAt: createdAt,
      expiresAt: proof?.isOnly ? proof.until : createdAt + lifetimesMs.consoleSession,
    });
  });
  return { id, secret };
}

export interface SessionInUse {
  id: Id<'session'>;
  person: { id: Id<'person'>; email: string; name: string };
  /** Whether the expiry was just extended, so that the browser's cookie must be renewed too. */
  renewed: boolean;
}

interface FoundSession {
  id: Id<'session'>;
  personId: Id<'person'>;
  email: string;
  name: string;
  lastUsedAt: number;
  orgId: Id<'organization'> | null;
  role: OrgRole | null;
  closedAt: number | null;
  orgOnly: boolean;
  hiddenOrgIds: string[];
  bookmark?: Bookmark | undefined;
}

const findSessionSql = `select s.id, s.person_id, p.email, p.name, s.last_used_at, m.org_id, m.role, m.closed_at, s.org_only,
    ${unreachedOrgIdsSql('s.person_id', isReachedSql('$2'))} as hidden_org_ids
  from sessions s
  ${joinEnabledPersonSql('s.person_id')}
  ${joinOneMembershipSql('s.person_id', { requested: '$3', preferred: 's.org_id', reached: isReachedSql('$2') })}
  where s.digest = $1 and s.ended_at is null and s.expires_at > $2`;

/** A person without an organization may create one, and list their organizations. */
const withoutOrganization: ReadonlySet<Scope> = new Set(['organizations:read', 'organizations:write']);
const none: ReadonlySet<Scope> = new Set();

/**
 * The caller of a session cookie, in one statement; null when the session is unknown or has ended. The organization is the requested one
 * (404 unless the person belongs to it), or the one last chosen, or the first joined, or none.
 */
export async function callerOfSession(
  secret: string,
  requestedOrgId: string | null,
): Promise<{ caller: Caller; session: SessionInUse } | null> {
  const at = now();
  const row = await findCredential<FoundSession>(findSessionSql, [digest(secret), at, requestedOrgId]);
  if (!row) return null;
  if (requestedOrgId !== null && row.orgId === null) throw notFound('organization');
  // The membership has ended, and the session reaches no other organization.
  if (row.orgOnly && row.orgId === null) return null;
  const renewed = row.lastUsedAt <= at - lastUsedIntervalMs;
  if (renewed) await renew(row.id, at);
  return {
    caller: callerBehind(row),
    session: { id: row.id, person: { id: row.personId, email: row.email, name: row.name }, renewed },
  };
}

/**
 * The current caller of a session in one organization, read without renewing the session or changing its organization. Null when the
 * session has ended.
 */
export async function recheckSession(secret: string, orgId: Id<'organization'> | null): Promise<Caller | null> {
  const row = await findCredential<FoundSession>(findSessionSql, [digest(secret), now(), orgId]);
  return row ? callerBehind(row) : null;
}

const callerBehind = ({
  id,
  personId,
  orgId,
  role,
  closedAt,
  orgOnly,
  hiddenOrgIds,
  bookmark,
}: FoundSession): Caller => ({
  principalType: 'cookie',
  credentialId: id,
  userId: personId,
  orgId,
  role,
  isOrgClosed: closedAt !== null,
  scopes: role ? scopesOfRole(role) : orgOnly ? none : withoutOrganization,
  projectId: null,
  hiddenOrgIds,
  isOrgOnly: orgOnly,
  bookmark,
});

const renewSessionSql = `update sessions set last_used_at = $2, expires_at = case when org_only then expires_at else $3 end
  where id = $1 and ended_at is null and last_used_at <= $4`;

/** Extends the session. Of concurrent requests only one changes the row. */
const renew = (id: Id<'session'>, at: number) =>
  sql(renewSessionSql, [id, at, at + lifetimesMs.consoleSession, at - lastUsedIntervalMs]);

const chooseOrganizationSql = `update sessions s set org_id = $2
  where s.id = $1 and s.ended_at is null and ${isMemberSql('s.person_id', '$2')} returning s.id`;

/** Makes this the organization of the caller's session, unless a request names another. @throws 404 for an organization of other owners */
export async function chooseOrganization({ credentialId, hiddenOrgIds }: Caller, orgId: string): Promise<void> {
  if (hiddenOrgIds?.includes(orgId)) throw notFound('organization');
  if ((await sql(chooseOrganizationSql, [credentialId, orgId])).length === 0) throw notFound('organization');
}

/**
 * Makes the person's sessions in the organization fall back to the organization that the person joined first, and ends those that its
 * identity provider has opened.
 */
export const leaveOrganization = async (trx: Transaction, { userId, orgId }: Required<PersonIn>): Promise<void> => {
  await Session.patch(trx, { personId: userId, ssoOrgId: orgId, orgOnly: true, endedAt: null }, { endedAt: now() });
  await Session.patch(trx, { personId: userId, orgId }, { orgId: null });
};

/** Makes all sessions in the organization, except the named one, fall back to the organization that their person joined first. */
export const leaveClosedOrganization = async (trx: Transaction, orgId: string, exceptId: string): Promise<void> => {
  await Session.query(trx)
    .where({ orgId: orgId as Id<'organization'> })
    .whereNot({ id: exceptId })
    .patch({ orgId: null });
};

const openSessionsSql = (
  condition = '',
) => `from sessions where person_id = $1 and ended_at is null and expires_at > $2 ${condition}
  order by last_used_at desc, id desc`;
const listSessionsSql = `select ${columnsOf(Session)} ${openSessionsSql('and ($3::text is null or org_only and sso_org_id = $3)')}`;
const listSessionsOfSql = `select id, user_agent, address, created_at, last_used_at, expires_at ${openSessionsSql()} limit $3`;

/** Conditions on the sessions that the caller can see. A session that reaches one organization sees only such sessions of the same organization. */
const seenBy = (caller: Caller) => ({
  personId: ownPerson(caller),
  ...(caller.isOrgOnly && { orgOnly: true, ssoOrgId: ownOrganization(caller) }),
});

/** The caller's open sessions, last used first. */
export const listSessions = (caller: Caller): Promise<Session[]> =>
  sql<Session>(listSessionsSql, [ownPerson(caller), now(), seenBy(caller).ssoOrgId ?? null]);

/** The operator's list of a person's open sessions, last used first. */
export const listSessionsOf = (personId: Id<'person'>, limit: number): Promise<object[]> =>
  sql(listSessionsOfSql, [personId, now(), limit]);

/** Ends one of the caller's sessions at once; ending it again changes nothing. @throws 404 */
export async function endSession(caller: Caller, sessionId: string): Promise<void> {
  const known = await Session.patch(
    undefined,
    { id: sessionId, ...seenBy(caller) },
    { endedAt: Session.raw('coalesce(ended_at, ?)', now()) },
  );
  if (known === 0) Session.refuse();
}

/** Ends all of the caller's sessions except the one in use. Returns their number. */
export async function endOtherSessions(caller: Caller): Promise<number> {
  return Session.query()
    .where({ ...seenBy(caller), endedAt: null })
    .where('expiresAt', '>', now())
    .whereNot({ id: caller.credentialId })
    .patch({ endedAt: now() });
}

/** Records that the person of a session has also signed in through the provider of an organization. */
export const addProof = async (sessionId: string, { orgId, until }: Omit<ProviderProof, 'isOnly'>): Promise<void> => {
  await Session.patch(undefined, { id: sessionId, orgOnly: false }, { ssoOrgId: orgId, ssoUntil: until });
};

/** Ends all open sessions of a person, or one of them. Returns their number. */
export const endSessionsOf = async (trx: Transaction, personId: string, sessionId?: string): Promise<number> =>
  Session.query(trx)
    .where({ personId, endedAt: null, ...(sessionId !== undefined && { id: sessionId }) })
    .where('expiresAt', '>', now())
    .patch({ endedAt: now() });

/** Deletes the sessions that have expired or were ended. */
export async function sweepSessions(): Promise<void> {
  await Session.query().delete().where('expiresAt', '<=', now()).orWhereNotNull('endedAt');
}
