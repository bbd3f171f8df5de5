// Personal values of events: network addresses, email addresses, names and browsers of people. They are sealed with the key of their
// person when the event gets its number, so that the Merkle tree contains only the sealed values
// (docs/decisions/0073-personal-values-are-sealed-per-person.md).
import type { Transaction } from '#foundation/postgres/database.ts';
import { camel } from '#foundation/postgres/statement.ts';
import { sealWith, unsealWith } from '#foundation/secrets/secrets.ts';
import {
  keysNamed,
  keysOf,
  type Subject,
  subjectOfAddress,
  subjectOfPerson,
} from '../../organization/person-keys/keys.ts';
import type { AuditChange, AuditEvent, PlainEvent } from './model.ts';
import type { AuditSource, PersonalOf } from './sources.ts';

/** Values that are not stored in plain text in the event. */
export interface PersonalValues {
  sourceAddress?: string;
  targetName?: string;
  /** Changes whose values were removed from the event. */
  changes?: AuditChange[];
}

export interface PersonalPart {
  subject: Subject;
  values: PersonalValues;
}

/** An event whose personal values have been separated. */
export interface NewEvent {
  event: PlainEvent;
  personal: readonly PersonalPart[];
}

type Row = Readonly<Record<string, unknown>>;

/** Removes values about a known person from the event, and returns them separately. */
export function separatePersonal(plain: PlainEvent, source: AuditSource, row: Row): NewEvent {
  const event = { ...plain };
  const parts = new Map<string, PersonalPart>();
  const valuesOf = (subject: Subject): PersonalValues => {
    const part = parts.get(subject.id) ?? { subject, values: {} };
    parts.set(subject.id, part);
    return part.values;
  };
  const actor = event.actorType === 'person' ? event.actorId : event.onBehalfOf;
  for (const [column, of] of Object.entries(source.personal)) {
    const subject = subjectOf(event.orgId, { of, value: row[column], row, actor });
    if (!subject) continue;
    const change = event.changes.find(({ path }) => path === camel(column));
    if (change) {
      // If a column holds a value about the person who changes it, its former value may be about another person who changed it earlier. The
      // former value is therefore dropped.
      const before = of === 'actor' ? null : change.before;
      const values = valuesOf(subject);
      values.changes = [...(values.changes ?? []), { ...change, before }];
      event.changes = event.changes.map((one) => (one === change ? { ...one, before: null, after: null } : one));
    }
    if (source.name === column && event.targetName !== null) {
      valuesOf(subject).targetName = event.targetName;
      event.targetName = null;
    }
  }
  const owner = actor ?? (source.addressOf ? row[source.addressOf] : null);
  if (event.sourceAddress !== null && typeof owner === 'string') {
    valuesOf(subjectOfPerson(owner)).sourceAddress = event.sourceAddress;
    event.sourceAddress = null;
  }
  return { event, personal: [...parts.values()] };
}

interface Personal {
  of: PersonalOf;
  value: unknown;
  row: Row;
  actor: string | null;
}

/** The person whom a value is about; null when that person is unknown, and the value stays in plain text. */
function subjectOf(orgId: string, { of, value, row, actor }: Personal): Subject | null {
  if (of === 'address') return typeof value === 'string' ? subjectOfAddress(orgId, value) : null;
  const person = of === 'actor' ? actor : row[of.of];
  return typeof person === 'string' ? subjectOfPerson(person) : null;
}

/** Used in place of a key id when values are dropped, because the person whom they are about was already erased. */
const noKey = 'erased';
/** The element of `changes` with the sealed values. A separate column would be missing from the leaves that the previous release computes. */
const sealedPath = 'personalValues';

interface SealedChange extends AuditChange {
  /** For each key id, the JSON text that is encrypted with this key. */
  sealed: Readonly<Record<string, string>>;
}

const boundTo = (orgId: string, number: number): string => `event ${number} of ${orgId}`;

/**
 * Encrypts the personal values of the events; the events are about to get the numbers after `last`. The counter of the log must be locked.
 * Values of an erased person are dropped, unless the person has become a member again.
 */
export async function sealPersonal(
  trx: Transaction,
  events: readonly NewEvent[],
  { orgId, last, at }: { orgId: string; last: number; at: number },
): Promise<PlainEvent[]> {
  const subjects = new Map(events.flatMap(({ personal }) => personal.map(({ subject }) => [subject.id, subject])));
  const keys = await keysOf(trx, orgId, { subjects: [...subjects.values()], at });
  return events.map(({ event, personal }, i) => {
    if (personal.length === 0) return event;
    const sealed = personal.map(({ subject, values }) => {
      const key = keys.get(subject.id);
      return key ? [key.id, sealWith(key.key, boundTo(orgId, last + 1 + i), JSON.stringify(values))] : [noKey, ''];
    });
    const change: SealedChange = { path: sealedPath, before: null, after: null, sealed: Object.fromEntries(sealed) };
    return { ...event, changes: [...event.changes, change] };
  });
}

/** Whether the personal values of an event can be read: `erased` when a key was destroyed, `altered` when a key cannot decrypt its value. */
export type PersonalState = 'readable' | 'erased' | 'altered';

export interface Opened {
  /** The values that can be decrypted. */
  values: PersonalValues;
  state: PersonalState;
}

const isSealed = (change: AuditChange): change is SealedChange =>
  change.path === sealedPath && 'sealed' in change && typeof change.sealed === 'object' && change.sealed !== null;

const sealedIn = ({ changes }: AuditEvent): [keyId: string, text: string][] =>
  Object.entries(changes.find(isSealed)?.sealed ?? {});

/** Decrypts the personal values of the events; the order stays the same. */
export async function openPersonal(orgId: string, events: readonly AuditEvent[], trx?: Transaction): Promise<Opened[]> {
  const names = new Set(events.flatMap((event) => sealedIn(event).map(([id]) => id)));
  names.delete(noKey);
  const keys = await keysNamed(orgId, [...names], trx);
  return events.map((event) => {
    const opened: Opened = { values: {}, state: 'readable' };
    for (const [id, text] of sealedIn(event)) {
      const key = keys.get(id);
      const values = key && open(key, boundTo(orgId, event.number), text);
      if (values) Object.assign(opened.values, values, joined(opened.values, values));
      else if (opened.state !== 'altered') opened.state = key === undefined ? 'erased' : 'altered';
    }
    return opened;
  });
}

const joined = ({ changes: first }: PersonalValues, { changes: second }: PersonalValues): PersonalValues =>
  first || second ? { changes: [...(first ?? []), ...(second ?? [])] } : {};

function open(key: Buffer, bound: string, text: string): PersonalValues | null {
  try {
    return JSON.parse(unsealWith(key, bound, text)) as PersonalValues;
  } catch {
    return null;
  }
}

/** The event with its personal values, as far as they can still be decrypted. */
export function withPersonal(event: AuditEvent, { values }: Opened): AuditEvent {
  const changes = new Map(values.changes?.map((change) => [change.path, change]));
  return {
    ...event,
    sourceAddress: values.sourceAddress ?? event.sourceAddress,
    targetName: values.targetName ?? event.targetName,
    changes: event.changes.filter((change) => !isSealed(change)).map((change) => changes.get(change.path) ?? change),
  };
}
