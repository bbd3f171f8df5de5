// A personal access token, with which a program acts for a person (docs/contract.md#personal-access-tokens). Its secret is returned once
// and stored as a digest, which no read returns.

import type { Id } from '#foundation/ids.ts';
import { BaseModel } from '#foundation/postgres/base-model.ts';
import { Project } from '../../projects/projects/model.ts';

export class Token extends BaseModel {
  static override tableName = 'tokens';
  static override noun = 'token';
  static override order = '"created_at" desc, "id" desc';
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

  static {
    this.belongsTo('project', Project, 'projectId');
  }

  declare id: Id<'token'>;
  declare digest: Buffer;
  declare orgId: Id<'organization'>;
  declare userId: Id<'person'>;
  /** The only project that the token reaches; null: the whole organization. */
  declare projectId: Id<'project'> | null;
  /** A label for people, not an identifier. */
  declare name: string;
  /** The granted scopes; each use is limited to those that the person's role still holds. */
  declare scopes: string[];
  declare createdAt: number;
  declare expiresAt: number;
  /** To the minute. */
  declare lastUsedAt: number | null;
  declare revokedAt: number | null;
}
