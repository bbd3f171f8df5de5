// The audit log of an organization: one event for each change of a record, numbered without gaps.
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import type { ChangeOrigin } from '#foundation/postgres/origin.ts';

export interface AuditChange {
  path: string;
  before: unknown;
  after: unknown;
}

export class AuditEvent extends table('audit_events', {
  orgId: column<Id<'organization'>>(),
  /** Number of the event within its organization: 1, 2, 3 … in the order of `recordedAt`. */
  number: column<number>(),
  occurredAt: column<number>(),
  /** Resource and past participle, such as `run.completed`. */
  action: column<string>(),
  actorType: column<ChangeOrigin['actorType']>(),
  actorId: column<string | null>(),
  onBehalfOf: column<string | null>(),
  credentialId: column<string | null>(),
  surface: column<string | null>(),
  operation: column<string | null>(),
  requestId: column<string | null>(),
  traceId: column<string | null>(),
  sourceAddress: column<string | null>(),
  projectId: column<string | null>(),
  targetType: column<string>(),
  targetId: column<string>(),
  targetName: column<string | null>(),
  /** The run to which the changed record belongs, or else the record itself. */
  subjectId: column<string>(),
  changes: column<AuditChange[]>(),
  /** When the event was numbered, at most a few seconds after the change. */
  createdAt: column<number>(),
}) {
  static override noun = 'event';
  static override idColumn = ['orgId', 'number', 'createdAt'];
  static override order = '"number"';
  static visibleTo = withinReach;
}

/** An event without its number. */
export type PlainEvent = Omit<AuditEvent, 'number' | 'createdAt'>;
