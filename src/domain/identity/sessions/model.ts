// A console session of a person: one browser in which they have signed in (docs/decisions/0032-sign-in-without-passwords.md).

import type { Id } from '#foundation/ids.ts';
import { BaseModel } from '#foundation/postgres/base-model.ts';

export class Session extends BaseModel {
  static override tableName = 'sessions';
  static override noun = 'session';
  static override columns = ['id', 'personId', 'orgId', 'userAgent', 'address', 'createdAt', 'lastUsedAt', 'expiresAt'];

  declare id: Id<'session'>;
  declare digest: Buffer;
  declare personId: Id<'person'>;
  /** The organization that the person last chose. */
  declare orgId: Id<'organization'> | null;
  declare userAgent: string | null;
  /** The client's address at sign-in. */
  declare address: string | null;
  declare createdAt: number;
  declare lastUsedAt: number;
  declare expiresAt: number;
  declare endedAt: number | null;
}
