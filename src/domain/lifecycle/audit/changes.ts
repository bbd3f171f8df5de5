// Converts recorded changes to events of the audit log: their action, their record, and the values before and after.
import { actorTypes, type ChangeOrigin } from '#foundation/postgres/origin.ts';
import { camel } from '#foundation/postgres/statement.ts';
import type { RecordedChange } from '../../organization/audit-changes/changes.ts';
import type { AuditChange, AuditEvent, PlainEvent } from './model.ts';
import { type NewEvent, separatePersonal } from './personal.ts';
import { type AuditSource, sourceOf } from './sources.ts';

type Values = Readonly<Record<string, unknown>>;

/** Columns that are never listed as changed: the event has fields of its own for them, or they change with every write. */
const silent: ReadonlySet<string> = new Set(['id', 'org_id', 'created_at', 'updated_at', 'last_used_at']);
/** Tables whose records belong to a run, but have a page and a history of their own. */
const ownHistory: ReadonlySet<string> = new Set(['outside_effects', 'issues']);
const secret = /^sealed(_|$)|(^|_)(digest|hash)$/;
/** Maximum length of one value as JSON, in characters. */
export const maxValueLength = 1_000;

/** The event of a recorded change; null for a change that the log does not show. */
export function eventOf(orgId: AuditEvent['orgId'], change: RecordedChange, at: number): NewEvent | null {
  const { before, after } = change;
  const source = sourceOf(change.source);
  const row = after ?? before;
  if (!source || !row) return null;
  const changes = changesOf(source, before, after);
  if (before && after && changes.length === 0) return null;
  const { at: occurredAt, ...origin } = originOf(change, source, row, at);
  const targetId = source.key.map((column) => row[column]).join(':');
  const event: PlainEvent = {
    ...{ orgId, occurredAt, action: `${source.noun}.${verbOf(source, before, after)}` },
    ...origin,
    ...{ projectId: change.source === 'projects' ? targetId : textOrNull(row.project_id) },
    ...{ targetType: source.noun, targetId, targetName: textOrNull(row[source.name])?.slice(0, 200) ?? null },
    ...{ subjectId: ownHistory.has(change.source) ? targetId : (textOrNull(row.run_id) ?? targetId), changes },
  };
  return separatePersonal(event, source, row);
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

function verbOf({ created, deleted, state, ends }: AuditSource, before: Values | null, after: Values | null): string {
  if (!before) return created;
  if (!after) return deleted;
  const ended = Object.keys(ends).find((column) => before[column] == null && after[column] != null);
  if (ended) return ends[ended]!;
  return state && before[state] !== after[state] ? String(after[state]) : 'updated';
}

function changesOf({ columns }: AuditSource, before: Values | null, after: Values | null): AuditChange[] {
  const shown = new Set(columns);
  return Object.keys(after ?? before ?? {}).flatMap((name) => {
    const [was, is] = [before?.[name] ?? null, after?.[name] ?? null];
    if (silent.has(name) || same(was, is)) return [];
    const path = camel(name);
    if (shown.has(path)) return [{ path, before: bounded(was), after: bounded(is) }];
    return secret.test(name) ? [{ path, before: masked(was), after: masked(is) }] : [];
  });
}

const same = (one: unknown, other: unknown): boolean =>
  one === other || (typeof one === 'object' && JSON.stringify(one) === JSON.stringify(other));

const masked = (value: unknown): string | null => (value === null ? null : '[secret]');

function bounded(value: unknown): unknown {
  if (typeof value !== 'string' && typeof value !== 'object') return value;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > maxValueLength ? `${text.slice(0, maxValueLength)}…` : value;
}

interface OriginOfEvent {
  at: number;
  actorType: ChangeOrigin['actorType'];
  actorId: string | null;
  onBehalfOf: string | null;
  credentialId: string | null;
  surface: string | null;
  operation: string | null;
  requestId: string | null;
  traceId: string | null;
  sourceAddress: string | null;
}

function originOf({ origin }: RecordedChange, { person }: AuditSource, row: Values, at: number): OriginOfEvent {
  const given = (origin === null ? {} : JSON.parse(origin)) as Partial<ChangeOrigin & { at: number }>;
  const text = (name: keyof ChangeOrigin): string | null => textOrNull(given[name]);
  const actorType = actorTypes.find((type) => type === given.actorType) ?? 'unknown';
  // At a sign-in the person is not known in advance: the record that the sign-in creates names the person.
  const signedIn = actorType === 'unknown' && origin !== null && person ? textOrNull(row[person]) : null;
  return {
    ...{ at: given.at ?? at, actorType: signedIn ? 'person' : actorType, actorId: signedIn ?? text('actorId') },
    ...{ onBehalfOf: text('onBehalfOf'), credentialId: text('credentialId'), surface: text('surface') },
    ...{ operation: text('operation'), requestId: text('requestId'), traceId: text('traceId') },
    sourceAddress: text('address'),
  };
}
