// A link that shows one run to people without an account (docs/decisions/0059-shared-missions-are-masked-when-read.md).
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import type { Run } from '../runs/model.ts';

export class RunShare extends table('run_shares', {
  id: column<Id<'runShare'>>(),
  orgId: column<Id<'organization'>>(),
  projectId: column<Id<'project'>>(),
  runId: column<Run['id']>(),
  /** The person's name at the time when the link was created. */
  createdBy: column<string>(),
  createdAt: column<number>(),
  expiresAt: column<number>(),
  revokedAt: column<number | null>(),
  revokedBy: column<string | null>(),
  /** Number of times that the page was read. */
  uses: column<number>(),
  lastUsedAt: column<number | null>(),
}) {
  static override noun = 'link';
  static override order = '"created_at", "id"';
  static visibleTo = withinReach;

  declare tokenHash: Buffer;
}
