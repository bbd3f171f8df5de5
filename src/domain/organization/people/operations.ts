// Operations on people: find or create the account of an email address, lock an account, change one's own name.
import type { Caller } from '#access/principal.ts';
import { ownPerson, wholePerson } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { selectionOf } from '#foundation/postgres/reads.ts';
import { text } from '#limits.ts';
import { normalizeEmail } from './email.ts';
import { Person } from './model.ts';

/** The account of an email address. If there is none, it is created with the given name or the part before the `@`. */
export const findOrCreatePerson = (address: string, name?: string): Promise<Person> =>
  transaction((trx) => ensurePerson(trx, address, name));

/** Finds or creates a person like `findOrCreatePerson`, within a transaction. */
export async function ensurePerson(trx: Transaction, address: string, name?: string): Promise<Person> {
  const email = normalizeEmail(address);
  const person = await Person.find({ email }, trx);
  if (person) return person;
  const defaultName = email.slice(0, email.indexOf('@')).slice(0, text.personName.max);
  // Only one of several concurrent first sign-ins inserts a row; the other sign-ins wait here for the commit and then find the row.
  await Person.query(trx)
    .insert({ id: newId('person'), email, name: name ?? defaultName, createdAt: now() })
    .onConflict('email')
    .ignore();
  return (await Person.find({ email }, trx))!;
}

export const findPersonByAddress = (address: string): Promise<Person | undefined> =>
  Person.find({ email: normalizeEmail(address) });

/** The people with these ids; unknown ids are left out. */
export const peopleOf = (ids: readonly string[]): Promise<Person[]> => Person.findByKeys('id', ids);

const listSql = `${selectionOf(Person)} where $1::text[] is null or id = any($1) order by created_at desc, id desc limit $2`;

/** The newest accounts, or the accounts with the given ids. */
export const listPeople = (ids: readonly string[] | null, limit: number): Promise<Person[]> =>
  sql(listSql, [ids, limit]);

export const updateOwnName = async (caller: Caller, name: string): Promise<void> => {
  wholePerson(caller);
  await Person.patch(undefined, { id: ownPerson(caller) }, { name });
};

/** Locks the person's row until the transaction ends, so that counts per person are exact. */
export const lockPerson = async (trx: Transaction, id: Id<'person'>): Promise<void> => {
  await Person.query(trx).select('id').findById(id).forNoKeyUpdate();
};
