// The destination of an organization's audit log, with the position up to which the log has been delivered.
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';

export class AuditStream extends table('audit_streams', {
  orgId: column<Id<'organization'>>(),
  /** An https URL, or `s3://bucket/prefix` (foundation/storage/s3.ts). */
  address: column<string>(),
  /** The number of the last entry that the destination has accepted. */
  lastNumber: column<number>(),
  deliveredAt: column<number | null>(),
  failingSince: column<number | null>(),
  /** Number of consecutive failed attempts. */
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
