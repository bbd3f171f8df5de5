// A personal access token: what a program carries to act for a person (specification, Credentials and identity). Its secret
// is shown once and kept as a digest, which no read brings back.
import type { Id } from '#foundation/ids.ts';
import { Stored } from '#foundation/record.ts';

export class Token extends Stored {
  static override tableName = 'tokens';
  static override columns = [
    'id',
    'orgId',
    'userId',
    'projectId',
    'name',
    'scopes',
    'createdAt',
    'expiresAt',
    'lastUsedAt',
    'revokedAt',
  ];

  declare id: Id<'token'>;
  declare digest: Buffer;
  declare orgId: Id<'organization'>;
  declare userId: Id<'person'>;
  /** Null: good for the whole organization. */
  declare projectId: Id<'project'> | null;
  /** A label for people, not an identifier. */
  declare name: string;
  /** As granted; what of it the person's role still holds is asked at each use. */
  declare scopes: string[];
  declare createdAt: number;
  declare expiresAt: number;
  /** To the minute. */
  declare lastUsedAt: number | null;
  declare revokedAt: number | null;
}
