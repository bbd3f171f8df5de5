// Erasures of people by organizations: the erased person, and the audit log's last event number at that time.
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { isMemberSql } from '../memberships/join.ts';

export interface Erasure {
  subject: string;
  /** The audit log's last event number at the time of the erasure. */
  number: number;
  createdAt: number;
}

const recordSql = `insert into person_erasures (org_id, subject, number, created_at) select $1, s, $3, $4 from unnest($2::text[]) s
  on conflict (org_id, subject) do update set number = excluded.number, created_at = excluded.created_at`;

/** Replaces earlier erasures of the same subjects. */
export const recordErasure = async (
  trx: Transaction,
  orgId: string,
  { subjects, number, at }: { subjects: readonly string[]; number: number; at: number },
): Promise<void> => void (await sql(recordSql, [orgId, subjects, number, at], trx));

const findSql =
  'select subject, number, created_at from person_erasures where org_id = $1 and subject = any($2) order by created_at desc';

/** The erasures of the subjects, newest first. */
export const findErasures = (orgId: string, subjects: readonly string[], trx?: Transaction): Promise<Erasure[]> =>
  sql<Erasure>(findSql, [orgId, subjects], trx);

const namelessSql = `select e.subject, e.number, ${isMemberSql('e.subject', '$1')} as is_member
  from person_erasures e where e.org_id = $1 and e.subject = any($2)`;

/**
 * Returns a function that tells whether the event with a given number must not show a person's name. If an erased person has become a
 * member again, events after the erasure show the name.
 */
export async function namelessIn(
  orgId: string,
  people: readonly string[],
  trx?: Transaction,
): Promise<(person: string, number: number) => boolean> {
  if (people.length === 0) return () => false;
  const found = await sql<{ subject: string; number: number; isMember: boolean }>(namelessSql, [orgId, people], trx);
  const erased = new Map(found.map(({ subject, ...erasure }) => [subject, erasure]));
  return (person, number) => {
    const erasure = erased.get(person);
    return erasure !== undefined && (!erasure.isMember || number <= erasure.number);
  };
}

/** Whether any of the people was erased and has not become a member again. */
export async function isAnyErased(trx: Transaction, orgId: string, people: readonly string[]): Promise<boolean> {
  const isNameless = await namelessIn(orgId, people, trx);
  return people.some((person) => isNameless(person, Number.MAX_SAFE_INTEGER));
}
