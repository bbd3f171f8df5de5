// The destination of the audit log of an organization, with the position up to which it has the log.
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';

export class AuditStream extends table('audit_streams', {
  orgId: column<Id<'organization'>>(),
  /** An https address, or `s3://bucket/prefix` (foundation/storage/s3.ts). */
  address: column<string>(),
  /** The number of the last entry that the destination has accepted. */
  lastNumber: column<number>(),
  deliveredAt: column<number | null>(),
  failingSince: column<number | null>(),
  /** Failed attempts in sequence. */
  failures: column<number>(),
  lastError: column<string | null>(),
  /** When the next delivery may begin. */
  dueAt: column<number>(),
  createdAt: column<number>(),
  updatedAt: column<number>(),
}) {
  static override noun = 'audit stream';
  static override idColumn = 'orgId';
  static visibleTo = withinReach;
}
