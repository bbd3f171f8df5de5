// An organization: what owns projects, credentials and credits (specification, Organization).
import type { Id } from '#foundation/ids.ts';
import { Stored } from '#foundation/record.ts';

export class Organization extends Stored {
  static override tableName = 'organizations';
  static override columns = ['id', 'name', 'slug', 'createdByUserId', 'createdAt', 'namePending'];

  declare id: Id<'organization'>;
  declare name: string;
  /** Unique over the whole service: it stands in console addresses. */
  declare slug: string;
  declare createdByUserId: Id<'person'>;
  declare createdAt: number;
  /** True until a person has chosen the name: sign-up makes one up. */
  declare namePending: boolean;
}
