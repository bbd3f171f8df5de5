// A person who signs in to the console. The id is what every record calls `userId`.
import type { Id } from '#foundation/ids.ts';
import { Stored } from '#foundation/record.ts';

export class Person extends Stored {
  static override tableName = 'people';
  static override columns = ['id', 'email', 'name', 'createdAt', 'disabledAt'];

  declare id: Id<'person'>;
  /** Lower case; the only thing a person proves at sign-in. */
  declare email: string;
  declare name: string;
  declare createdAt: number;
  /** When the operator disabled the account; null: it may sign in. */
  declare disabledAt: number | null;
}
