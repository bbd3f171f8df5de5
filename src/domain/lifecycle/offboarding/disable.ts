// Disabling an account: the operator's act against a lost device, a leaver, an abuser. What it ends stays ended.

import { now } from '#foundation/clock.ts';
import type { Row } from '#foundation/postgres/base-model.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { endSessionsOf } from '../../identity/sessions/operations.ts';
import { Person } from '../../organization/people/model.ts';
import { endAuthority } from './authority.ts';

/** Ends the person's sessions, and in every organization all that acts for them. A second time ends nothing more. */
export const disablePerson = (person: Row<Person>): Promise<Row<Person>> =>
  transaction(async (trx) => {
    const disabledAt = person.disabledAt ?? now();
    // First: who creates a session or a credential at this moment holds the person, or waits here and is refused.
    await Person.patch(trx, { id: person.id }, { disabledAt });
    await endSessionsOf(trx, person.id);
    await endAuthority(trx, { userId: person.id });
    return { ...person, disabledAt };
  });

/** Lets the person sign in again; revoked credentials stay revoked. */
export const enablePerson = (person: Row<Person>): Promise<Row<Person>> =>
  transaction(async (trx) => {
    await Person.patch(trx, { id: person.id }, { disabledAt: null });
    return { ...person, disabledAt: null };
  });
