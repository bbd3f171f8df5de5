// A personal access token, with which a program acts for a person (docs/contract.md#personal-access-tokens). Its secret is returned once
// and stored as a digest, which no read returns.

import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { Project } from '../../projects/projects/model.ts';
import { lentColumns } from '../credentials/model.ts';

export class Token extends table('tokens', {
  id: column<Id<'token'>>(),
  ...lentColumns,
  /** A label for people, not an identifier. */
  name: column<string>(),
  createdAt: column<number>(),
  expiresAt: column<number>(),
  /** Time of the last use, accurate to the minute. */
  lastUsedAt: column<number | null>(),
  revokedAt: column<number | null>(),
}) {
  static override noun = 'token';
  static override order = '"created_at" desc, "id" desc';

  static {
    this.belongsTo('project', Project, 'projectId');
  }

  declare digest: Buffer;
}
