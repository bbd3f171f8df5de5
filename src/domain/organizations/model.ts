// An organization: what owns projects, credentials and credits (specification, Organization).

import { orgWide } from '#access/reach.ts';
import { BaseModel } from '#foundation/base-model.ts';
import type { Id } from '#foundation/ids.ts';

export class Organization extends BaseModel {
  static override tableName = 'organizations';
  static override noun = 'organization';
  static override columns = ['id', 'name', 'slug', 'createdByUserId', 'createdAt', 'namePending'];

  static visibleTo = orgWide;

  declare id: Id<'organization'>;
  declare name: string;
  /** Unique over the whole service: it stands in console addresses. */
  declare slug: string;
  declare createdByUserId: Id<'person'>;
  declare createdAt: number;
  /** True until a person has chosen the name: sign-up makes one up. */
  declare namePending: boolean;
}
