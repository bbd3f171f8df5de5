// A person who signs in to the console. Other records refer to the id as `userId`.

import type { Id } from '#foundation/ids.ts';
import { BaseModel } from '#foundation/postgres/base-model.ts';

export class Person extends BaseModel {
  static override tableName = 'people';
  static override noun = 'person';
  static override columns = ['id', 'email', 'name', 'createdAt', 'disabledAt'];

  /** A caller who can read a record can read the person that it names. */
  static visibleTo = () => ({});

  declare id: Id<'person'>;
  /** Lower case; the only claim that a person proves at sign-in. */
  declare email: string;
  declare name: string;
  declare createdAt: number;
  /** When the operator disabled the account; null: it may sign in. */
  declare disabledAt: number | null;
}
