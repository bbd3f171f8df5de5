// Disables an account, as an operator does after a lost device, a departure or abuse. Revoked access stays revoked.

import { now } from '#foundation/clock.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { endSessionsOf } from '../../identity/sessions/operations.ts';
import { Person } from '../../organization/people/model.ts';
import { endAuthority } from './authority.ts';

/** Ends the person's sessions, and all credentials that act for them in any organization. A repeated call changes nothing. */
export const disablePerson = (person: Person): Promise<Person> =>
  transaction(async (trx) => {
    const disabledAt = person.disabledAt ?? now();
    // `disabledAt` is written first, which locks the person. A session or credential that is being created is either committed before this
    // lock is granted, and then ended below, or waits for this transaction and is then refused.
    await Person.patch(trx, { id: person.id }, { disabledAt });
    await endSessionsOf(trx, person.id);
    await endAuthority(trx, { userId: person.id });
    return { ...person, disabledAt };
  });

/** Lets the person sign in again; revoked credentials stay revoked. */
export const enablePerson = (person: Person): Promise<Person> =>
  transaction(async (trx) => {
    await Person.patch(trx, { id: person.id }, { disabledAt: null });
    return { ...person, disabledAt: null };
  });
