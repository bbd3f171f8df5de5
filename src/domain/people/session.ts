// Console sessions: opened at sign-in, known by the digest of the cookie's secret, ended by the person or after 14 days
// without use. A session acts as its person with the full present role (principalType `cookie`).
import type { Caller } from '#access/principal.ts';
import { ownPerson } from '#access/reach.ts';
import type { OrgRole } from '#access/roles.ts';
import { type Scope, scopesOfRole } from '#access/scopes.ts';
import { now } from '#foundation/clock.ts';
import { sql, type Transaction, transaction } from '#foundation/database.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { forbidden, notFound } from '#foundation/problem.ts';
import { Stored, selection } from '#foundation/record.ts';
import { digest, newSecret } from '#foundation/secrets.ts';
import { lifetimes } from '#limits.ts';
import { Person } from './model.ts';

export class Session extends Stored {
  static override tableName = 'sessions';
  static override columns = ['id', 'personId', 'orgId', 'userAgent', 'address', 'createdAt', 'lastUsedAt', 'expiresAt'];

  declare id: Id<'session'>;
  declare digest: Buffer;
  declare personId: Id<'person'>;
  /** The organization that the person last chose. */
  declare orgId: Id<'organization'> | null;
  declare userAgent: string | null;
  /** The client's address at sign-in. */
  declare address: string | null;
  declare createdAt: number;
  declare lastUsedAt: number;
  declare expiresAt: number;
  declare endedAt: number | null;
}

/** What the person is shown of the place they signed in from. */
export interface Device {
  userAgent: string | null;
  address: string | null;
}

const userAgentKept = 300;

/**
 * A new session and its secret, which is shown to the browser alone and kept as a digest. The person is locked, so that no
 * session is opened while the account is being disabled. @throws 403 for a disabled account
 */
export async function openSession(
  personId: Id<'person'>,
  device: Device,
): Promise<{ id: Id<'session'>; secret: string }> {
  const secret = newSecret('');
  const id = newId('session');
  const createdAt = now();
  await transaction(async (trx) => {
    if (!(await Person.query(trx).select('id').findOne({ id: personId, disabledAt: null }).forShare())) {
      throw forbidden('This account is disabled.');
    }
    await Session.query(trx).insert({
      id,
      digest: digest(secret),
      personId,
      userAgent: device.userAgent?.slice(0, userAgentKept) ?? null,
      address: device.address,
      createdAt,
      lastUsedAt: createdAt,
      expiresAt: createdAt + lifetimes.consoleSession,
    });
  });
  return { id, secret };
}

export interface SessionInUse {
  id: Id<'session'>;
  person: { id: Id<'person'>; email: string; name: string };
  /** Its end was just moved on: the browser's cookie has to learn of it. */
  renewed: boolean;
}

interface Row {
  id: Id<'session'>;
  personId: Id<'person'>;
  email: string;
  name: string;
  lastUsedAt: number;
  orgId: Id<'organization'> | null;
  role: OrgRole | null;
}

const lookUp = `select s.id, s.person_id, p.email, p.name, s.last_used_at, m.org_id, m.role
  from sessions s
  join people p on p.id = s.person_id and p.disabled_at is null
  left join lateral (
    select org_id, role from memberships
    where user_id = s.person_id and ($3::text is null or org_id = $3)
    order by org_id = s.org_id desc nulls last, created_at, org_id limit 1
  ) m on true
  where s.digest = $1 and s.ended_at is null and s.expires_at > $2`;

/** A person without an organization may create one, and see which they are in: none. */
const withoutOrganization: ReadonlySet<Scope> = new Set(['organizations:read', 'organizations:write']);

/**
 * Who is behind a session cookie, in one statement; null for a secret that opens nothing. The organization is the wanted one
 * (404 unless the person belongs to it), else the one last chosen, else the first joined, else none.
 */
export async function callerOfSession(
  secret: string,
  wantedOrgId: string | null,
): Promise<{ caller: Caller; session: SessionInUse } | null> {
  const at = now();
  const [row] = await sql<Row>(lookUp, [digest(secret), at, wantedOrgId]);
  if (!row) return null;
  if (wantedOrgId !== null && row.orgId === null) throw notFound('organization');
  const renewed = row.lastUsedAt <= at - lifetimes.lastUsedStep;
  if (renewed) await renew(row.id, at);
  return {
    caller: callerBehind(row),
    session: { id: row.id, person: { id: row.personId, email: row.email, name: row.name }, renewed },
  };
}

/**
 * The caller as it is now, of a session that is under way in one organization. Looking leaves no trace: the session gets no
 * older and no younger by it, and stays where the person last worked. Null when it has ended.
 */
export async function callerStillBehind(secret: string, orgId: Id<'organization'> | null): Promise<Caller | null> {
  const [row] = await sql<Row>(lookUp, [digest(secret), now(), orgId]);
  return row ? callerBehind(row) : null;
}

const callerBehind = ({ id, personId, orgId, role }: Row): Caller => ({
  principalType: 'cookie',
  credentialId: id,
  userId: personId,
  orgId,
  role,
  scopes: role ? scopesOfRole(role) : withoutOrganization,
  projectId: null,
});

/** Many requests at once write once: the others find the step already taken. */
const renew = (id: Id<'session'>, at: number) =>
  sql(
    `update sessions set last_used_at = $2, expires_at = $3
      where id = $1 and ended_at is null and last_used_at <= $4`,
    [id, at, at + lifetimes.consoleSession, at - lifetimes.lastUsedStep],
  );

const chooseSql = `update sessions s set org_id = m.org_id from memberships m
  where s.id = $1 and s.ended_at is null and m.user_id = s.person_id and m.org_id = $2 returning s.id`;

/** From now on the caller's session works in this organization unless a request names another. @throws 404 for a foreign one */
export async function chooseOrganization({ credentialId }: Caller, orgId: string): Promise<void> {
  if ((await sql(chooseSql, [credentialId, orgId])).length === 0) throw notFound('organization');
}

/** The caller's sessions that are still good, last used first. */
export const listSessions = (caller: Caller): Promise<Session[]> =>
  sql<Session>(
    `${selection(Session)} where person_id = $1 and ended_at is null and expires_at > $2 order by last_used_at desc, id desc`,
    [ownPerson(caller), now()],
  );

/** Ends one of the caller's sessions; its cookie stops working at once. Ending it twice is no fault. */
export async function endSession(caller: Caller, sessionId: string): Promise<void> {
  const known = await Session.query()
    .where({ id: sessionId, personId: ownPerson(caller) })
    .patch({ endedAt: Session.raw('coalesce(ended_at, ?)', now()) as never });
  if (known === 0) throw notFound('session');
}

/** Ends all of the caller's sessions but the one in use; gives how many. */
export async function endOtherSessions(caller: Caller): Promise<number> {
  return Session.query()
    .where({ personId: ownPerson(caller), endedAt: null })
    .where('expiresAt', '>', now())
    .whereNot({ id: caller.credentialId })
    .patch({ endedAt: now() });
}

/** Ends all open sessions of a person, or one of them; returns how many. */
export const endSessionsOf = async (trx: Transaction, personId: string, sessionId?: string): Promise<number> =>
  Session.query(trx)
    .where({ personId, endedAt: null, ...(sessionId !== undefined && { id: sessionId }) })
    .where('expiresAt', '>', now())
    .patch({ endedAt: now() });

/** Deletes the sessions that ended, by themselves or by hand. */
export async function sweepSessions(): Promise<void> {
  await Session.query().delete().where('expiresAt', '<=', now()).orWhereNotNull('endedAt');
}
