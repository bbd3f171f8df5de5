// A person who signs in to the console. Other records refer to the id as `userId`.

import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';

export class Person extends table('people', {
  id: column<Id<'person'>>(),
  /** The email address in lower case: the only claim that a person proves at sign-in. */
  email: column<string>(),
  name: column<string>(),
  createdAt: column<number>(),
  /** When the operator disabled the account; null means that it may sign in. */
  disabledAt: column<number | null>(),
}) {
  static override noun = 'person';

  /** Reads have no condition, because a caller who can read a record can also read the person to whom the record refers. */
  static visibleTo = () => ({});
}
