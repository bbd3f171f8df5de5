// A data key for each organization and person, sealed with the service key. The key seals personal values that are kept after the person
// has left the organization; once it is destroyed, nothing sealed with it can be read
// (docs/decisions/0073-personal-values-are-sealed-per-person.md).
import { randomBytes } from 'node:crypto';
import { days } from '#foundation/clock.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { seal, signature, unseal } from '#foundation/secrets/secrets.ts';
import { hasInviteSql } from '../invites/join.ts';
import { isMemberSql } from '../memberships/join.ts';
import { normalizeEmail } from '../people/email.ts';
import { joinErasureSql } from './join.ts';

/** The person whom a value is about. */
export interface Subject {
  /** The id of the person, or a keyed digest of an email address that may have no account. */
  id: string;
  /** The email address; null if the subject is a person's id. */
  address: string | null;
}

export const subjectOfPerson = (id: string): Subject => ({ id, address: null });

/** The subject for an email address. Its id differs in each organization, and reveals the address only to a holder of the service key. */
export function subjectOfAddress(orgId: string, address: string): Subject {
  const email = normalizeEmail(address);
  return { id: `adr_${signature('address of a person', `${orgId} ${email}`).toString('base64url')}`, address: email };
}

export interface PersonKey {
  /** A random name. */
  id: string;
  key: Buffer;
}

export const personKeyPurpose = (orgId: string) => `person in ${orgId}`;
/** Minimum time between two updates of a key's last use. */
const usedMs = days(1);

// An erased subject counts as present again when the person is a member again, or the address has a new invite.
const findSql = `select s.id as subject, k.id, k.sealed_key, k.used_at, e.subject is not null
    and not ${isMemberSql('s.id', '$1')} and not ${hasInviteSql('$1', 's.address')} as is_erased
  from unnest($2::text[], $3::text[]) s (id, address)
  left join person_keys k on k.org_id = $1 and k.subject = s.id ${joinErasureSql('$1', 's.id')}`;
const createSql = `insert into person_keys (org_id, subject, id, sealed_key, used_at)
  select $1, n.subject, n.id, n.sealed_key, $5 from unnest($2::text[], $3::text[], $4::text[]) n (subject, id, sealed_key)`;
const useSql = 'update person_keys set used_at = $3 where org_id = $1 and id = any($2)';

type Found = { subject: string; isErased: boolean } & (
  | { id: string; sealedKey: string; usedAt: number }
  | { id: null; sealedKey: null; usedAt: null }
);

/**
 * Keys by the id of the subject. Missing keys are created; null for an erased person who has not become a member again. The counter of the
 * organization's log must be locked, so that no key is created or destroyed at the same time.
 */
export async function keysOf(
  trx: Transaction,
  orgId: string,
  { subjects, at }: { subjects: readonly Subject[]; at: number },
): Promise<Map<string, PersonKey | null>> {
  if (subjects.length === 0) return new Map();
  const values = [orgId, subjects.map(({ id }) => id), subjects.map(({ address }) => address)];
  const keys = new Map<string, PersonKey | null>();
  const created: { subject: string; id: string; sealed: string }[] = [];
  const used: string[] = [];
  for (const { subject, id, sealedKey, usedAt, isErased } of await sql<Found>(findSql, values, trx)) {
    if (isErased) keys.set(subject, null);
    else if (id !== null) {
      keys.set(subject, { id, key: openKey(orgId, sealedKey) });
      if (usedAt <= at - usedMs) used.push(id);
    } else {
      const key = { id: randomBytes(12).toString('base64url'), key: randomBytes(32) };
      keys.set(subject, key);
      created.push({ subject, id: key.id, sealed: seal(personKeyPurpose(orgId), key.key.toString('base64')) });
    }
  }
  if (created.length > 0) {
    const columns = [created.map(({ subject }) => subject), created.map(({ id }) => id)];
    await sql(createSql, [orgId, ...columns, created.map(({ sealed }) => sealed), at], trx);
  }
  if (used.length > 0) await sql(useSql, [orgId, used, at], trx);
  return keys;
}

const openKey = (orgId: string, sealed: string): Buffer =>
  Buffer.from(unseal(personKeyPurpose(orgId), sealed), 'base64');

const byIdSql = 'select id, sealed_key from person_keys where org_id = $1 and id = any($2)';

/** The named keys that still exist, by name; null for a key that was not sealed with the service key. */
export async function keysNamed(
  orgId: string,
  ids: readonly string[],
  trx?: Transaction,
): Promise<Map<string, Buffer | null>> {
  if (ids.length === 0) return new Map();
  const found = await sql<{ id: string; sealedKey: string }>(byIdSql, [orgId, ids], trx);
  return new Map(found.map(({ id, sealedKey }) => [id, openedKey(orgId, sealedKey)]));
}

function openedKey(orgId: string, sealed: string): Buffer | null {
  try {
    return openKey(orgId, sealed);
  } catch {
    return null;
  }
}

/** Destroys the keys of the subjects; returns the number of destroyed keys. */
export const destroyKeys = async (trx: Transaction, orgId: string, subjects: readonly string[]): Promise<number> =>
  (await sql('delete from person_keys where org_id = $1 and subject = any($2) returning id', [orgId, subjects], trx))
    .length;

const hasUnusedSql = `select exists (select from person_keys where org_id = $1 and used_at <= $2)
  or exists (select from person_erasures where org_id = $1 and created_at <= $2) as found`;

export const hasUnusedKeys = async (orgId: string, before: number): Promise<boolean> =>
  (await sql<{ found: boolean }>(hasUnusedSql, [orgId, before - usedMs]))[0]!.found;

const deleteUnusedSql = 'delete from person_keys where org_id = $1 and used_at <= $2';
const deleteErasuresSql = 'delete from person_erasures where org_id = $1 and number < $2';

/**
 * Deletes keys with which nothing was sealed since `before`. Deletes the record of an erasure once every event from before the erasure is
 * deleted. The counter of the log must be locked.
 * @param firstNumber The oldest event that still exists
 */
export async function deleteUnusedKeys(
  trx: Transaction,
  orgId: string,
  { before, firstNumber }: { before: number; firstNumber: number },
): Promise<void> {
  await sql(deleteUnusedSql, [orgId, before - usedMs], trx);
  await sql(deleteErasuresSql, [orgId, firstNumber], trx);
}
