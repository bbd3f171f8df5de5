// Signed checkpoints of an organization's audit log: one per hour, even for hours without entries.
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';

export class AuditCheckpoint extends table('audit_checkpoints', {
  id: column<Id<'auditCheckpoint'>>(),
  orgId: column<Id<'organization'>>(),
  size: column<number>(),
  rootHash: column<string>(),
  algorithm: column<string>(),
  keyId: column<string>(),
  note: column<string>(),
  createdAt: column<number>(),
}) {
  static override noun = 'checkpoint';
  static visibleTo = withinReach;
}
