// Converts recorded changes to audit events: the action, the changed record, and the values before and after.
import { actorTypes, type ChangeOrigin } from '#foundation/postgres/origin.ts';
import { camel } from '#foundation/postgres/statement.ts';
import type { RecordedChange } from '../../organization/audit-changes/changes.ts';
import type { AuditChange, AuditEvent, PlainEvent } from './model.ts';
import { type NewEvent, separatePersonal } from './personal.ts';
import { type AuditSource, sourceOf } from './sources.ts';

type Values = Readonly<Record<string, unknown>>;

/** Columns that are never listed as changed: the event has fields of its own for them, or they change with every write. */
const silent: ReadonlySet<string> = new Set(['id', 'org_id', 'created_at', 'updated_at', 'last_used_at']);
/** Tables whose records belong to a run but have their own page and history. */
const ownHistory: ReadonlySet<string> = new Set(['outside_effects', 'issues']);
const secret = /^sealed(_|$)|(^|_)(digest|hash)$/;
/** Maximum length of one value as JSON, in characters. */
export const maxValueLength = 1_000;

/** The audit event for a recorded change; null for a change that is not logged. */
export function eventOf(orgId: AuditEvent['orgId'], change: RecordedChange, at: number): NewEvent | null {
  const { before, after } = change;
  const source = sourceOf(change.source);
  const row = after ?? before;
  if (!source || !row) return null;
  const changes = changesOf(source, before, after);
  if (before && after && changes.length === 0) return null;
  const origin = originOf(change, source, row, at);
  const targetId = source.key.map((column) => row[column]).join(':');
  const event: PlainEvent = {
    orgId,
    occurredAt: origin.at,
    action: `${source.noun}.${verbOf(source, before, after)}`,
    actorType: origin.actorType,
    actorId: origin.actorId,
    onBehalfOf: textOrNull(origin.given.onBehalfOf),
    credentialId: textOrNull(origin.given.credentialId),
    surface: textOrNull(origin.given.surface),
    operation: textOrNull(origin.given.operation),
    requestId: textOrNull(origin.given.requestId),
    traceId: textOrNull(origin.given.traceId),
    sourceAddress: textOrNull(origin.given.address),
    projectId: change.source === 'projects' ? targetId : textOrNull(row.project_id),
    targetType: source.noun,
    targetId,
    targetName: clipped(textOrNull(row[source.name]), 200),
    subjectId: ownHistory.has(change.source) ? targetId : (textOrNull(row.run_id) ?? targetId),
    changes,
  };
  return separatePersonal(event, source, row);
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** The beginning of a text, never cut within a surrogate pair: the database would refuse a lone surrogate, which would stop the log. */
const clipped = <T extends string | null>(text: T, length: number): T =>
  (text && text.length > length ? text.slice(0, length).toWellFormed() : text) as T;

function verbOf({ created, deleted, state, ends }: AuditSource, before: Values | null, after: Values | null): string {
  if (!before) return created;
  if (!after) return deleted;
  const ended = Object.keys(ends).find((column) => before[column] == null && after[column] != null);
  if (ended) return ends[ended]!;
  return state && before[state] !== after[state] ? String(after[state]) : 'updated';
}

type Shown = 'plain' | 'masked' | 'never';
const columnsBySource = new WeakMap<AuditSource, Map<string, { path: string; shown: Shown }>>();

/** Whether and how the audit log shows a column of the table `source`. The result is stored, because it never changes. */
function showingOf(source: AuditSource, name: string): { path: string; shown: Shown } {
  const columns = columnsBySource.get(source) ?? new Map<string, { path: string; shown: Shown }>();
  columnsBySource.set(source, columns);
  const known = columns.get(name);
  if (known) return known;
  const path = camel(name);
  const isShown = !silent.has(name) && source.columns.includes(path);
  const isMasked = !silent.has(name) && secret.test(name);
  const found = { path, shown: isShown ? 'plain' : isMasked ? 'masked' : 'never' } as const;
  columns.set(name, found);
  return found;
}

function changesOf(source: AuditSource, before: Values | null, after: Values | null): AuditChange[] {
  const changes: AuditChange[] = [];
  for (const name of Object.keys(after ?? before ?? {})) {
    const [was, is] = [before?.[name] ?? null, after?.[name] ?? null];
    if (same(was, is)) continue;
    const { path, shown } = showingOf(source, name);
    if (shown === 'plain') changes.push({ path, before: bounded(was), after: bounded(is) });
    else if (shown === 'masked') changes.push({ path, before: masked(was), after: masked(is) });
  }
  return changes;
}

const same = (one: unknown, other: unknown): boolean =>
  one === other || (typeof one === 'object' && JSON.stringify(one) === JSON.stringify(other));

const masked = (value: unknown): string | null => (value === null ? null : '[secret]');

function bounded(value: unknown): unknown {
  if (typeof value !== 'string' && typeof value !== 'object') return value;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > maxValueLength ? `${clipped(text, maxValueLength)}…` : value;
}

type Given = Partial<ChangeOrigin & { at: number }>;
interface OriginOfEvent extends Pick<PlainEvent, 'actorType' | 'actorId'> {
  at: number;
  given: Given;
}

function originOf({ origin }: RecordedChange, { person }: AuditSource, row: Values, at: number): OriginOfEvent {
  const given = (origin === null ? {} : JSON.parse(origin)) as Given;
  const actorType = actorTypes.find((type) => type === given.actorType) ?? 'unknown';
  // The person who signs in is not known in advance; the record that the sign-in creates names the person.
  const signedIn = actorType === 'unknown' && origin !== null && person ? textOrNull(row[person]) : null;
  return {
    at: given.at ?? at,
    actorType: signedIn ? 'person' : actorType,
    actorId: signedIn ?? textOrNull(given.actorId),
    given,
  };
}
