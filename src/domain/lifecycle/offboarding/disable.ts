// Disables an account, as an operator does after a lost device, a departure or abuse. Access that is revoked here stays revoked even if the
// account is enabled later.

import { now } from '#foundation/clock.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { endSessionsOf } from '../../identity/sessions/operations.ts';
import { Person } from '../../organization/people/model.ts';
import { endAuthority } from './authority.ts';

/** Ends the person's sessions, and all credentials that act for them in any organization. A repeated call changes nothing. */
export const disablePerson = (person: Person): Promise<Person> =>
  transaction(async (trx) => {
    const disabledAt = person.disabledAt ?? now();
    // The update of `disabledAt` comes first, because it locks the row of the person. If a session or credential is being created at this
    // moment, there are two cases. Either it is committed before this transaction gets the lock, and is then ended below; or its
    // transaction waits for this one, and then refuses the disabled account.
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
