// Console sessions: opened at sign-in, found by the digest of the cookie's secret (caller.ts), ended by the person or after 14 days without
// use. A session acts as the person who signed in, with all scopes of that person's role (principalType `cookie`).
import type { Caller } from '#access/principal.ts';
import { ownOrganization, ownPerson } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { columnsOf } from '#foundation/postgres/reads.ts';
import { forbidden, notFound } from '#foundation/problem.ts';
import { digest, newSecret } from '#foundation/secrets/secrets.ts';
import { lifetimesMs } from '#limits.ts';
import { isMemberSql } from '../../organization/memberships/join.ts';
import type { PersonIn } from '../../organization/memberships/model.ts';
import { Person } from '../../organization/people/model.ts';
import { Session } from './model.ts';

/** The browser and network of a sign-in, as shown in the list of sessions. */
export interface Device {
  userAgent: string | null;
  address: string | null;
}

const userAgentKept = 300;

/** The sign-in through an identity provider that opens a session. */
export interface ProviderProof {
  orgId: Id<'organization'>;
  /** When the sign-in through the provider stops giving access. */
  until: number;
  /** Whether only the provider vouches for the person, so that the session reaches only the provider's organization. */
  isOnly: boolean;
}

/**
 * Opens a session. Its secret is sent to the browser and stored as a digest. The row of the person is locked, so that no session is opened
 * while the account is being disabled. @throws 403 for a disabled account
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

const chooseOrganizationSql = `update sessions s set org_id = $2
  where s.id = $1 and s.ended_at is null and ${isMemberSql('s.person_id', '$2')} returning s.id`;

/** Makes this organization the default of the caller's session. @throws 404 for an organization that the caller cannot access */
export async function chooseOrganization({ credentialId, hiddenOrgIds }: Caller, orgId: string): Promise<void> {
  if (hiddenOrgIds?.includes(orgId)) throw notFound('organization');
  if ((await sql(chooseOrganizationSql, [credentialId, orgId])).length === 0) throw notFound('organization');
}

/**
 * Ends the person's sessions that the organization's identity provider has opened. The person's other sessions in the organization fall
 * back to the organization that the person joined first.
 */
export const leaveOrganization = async (trx: Transaction, { userId, orgId }: Required<PersonIn>): Promise<void> => {
  await Session.patch(trx, { personId: userId, ssoOrgId: orgId, orgOnly: true, endedAt: null }, { endedAt: now() });
  await Session.patch(trx, { personId: userId, orgId }, { orgId: null });
};

/** Makes all sessions in the organization, except the named session, fall back to the organization that their person joined first. */
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

/**
 * Conditions on the sessions that the caller can see. A session that reaches only one organization sees only sessions that also reach only
 * that organization.
 */
const seenBy = (caller: Caller) => ({
  personId: ownPerson(caller),
  ...(caller.isOrgOnly && { orgOnly: true, ssoOrgId: ownOrganization(caller) }),
});

/** The caller's open sessions, last used first. */
export const listSessions = (caller: Caller): Promise<Session[]> =>
  sql<Session>(listSessionsSql, [ownPerson(caller), now(), seenBy(caller).ssoOrgId ?? null]);

/** Lists a person's open sessions for a command of the operator. The most recently used session comes first. */
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

/**
 * Stores in an open session that its person has now also signed in through the identity provider of an organization, and until when this
 * second sign-in counts.
 */
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
