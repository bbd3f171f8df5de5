// Functions that the event readers of several vendors share.
import type { ZodType } from 'zod';
import type { EventSource, InboundEvent, UnusedEvent } from './event.ts';

export type ReadPayload = (payload: unknown) => InboundEvent | UnusedEvent;

/** Returns a function that validates a payload with the shape and converts it to an event. */
export const readerOf =
  <T>(shape: ZodType<T>, read: (event: T) => Omit<InboundEvent, 'payload'> | UnusedEvent): ReadPayload =>
  (payload) => {
    const { success, data, error } = shape.safeParse(payload);
    if (!success) return { reason: `The payload lacks ${error.issues[0]!.path.join('.') || 'its members'}.` };
    const event = read(data);
    return 'kind' in event ? { ...event, payload } : event;
  };

type ReadableEvents = Pick<EventSource, 'isReadable' | 'read'>;

/** The members of an `EventSource` that follow from its readers. @param readers Readers by the name of the event */
export const readableBy = (readers: Readonly<Record<string, ReadPayload>>): ReadableEvents => ({
  isReadable: (name) => Object.hasOwn(readers, name),
  read: (name, payload) =>
    Object.hasOwn(readers, name) ? readers[name]!(payload) : { reason: `No trigger uses the event ${name}.` },
});

/** The value if it can be part of an event's name; null otherwise. */
export const wordIn = (value: unknown): string | null =>
  typeof value === 'string' && /^[\w.:/-]{1,100}$/.test(value) ? value : null;

/** Default values of the members that most events do not have. */
export const noDetails = {
  labels: [],
  assignees: [],
  words: '',
  branch: null,
  remark: null,
  number: null,
  reactsTo: null,
  reverts: null,
  ciRun: null,
} as const;

/** The mentions in a text that were not in the earlier text. */
export function newMentions(text: string, before: string): string {
  const mentioned = new Set(mentionsIn(before));
  return mentionsIn(text)
    .filter((one) => !mentioned.has(one))
    .join(' ');
}
const mentionsIn = (text: string): string[] =>
  (text.match(/(?<![\w`-])@[\w-]+/g) ?? []).map((one) => one.toLowerCase());

/** Maximum number of characters of all logs of one event together. */
const maxLogCharacters = 10_000;

/** The end of a log, which shows why a check failed. @param of Number of logs that share the maximum length */
export function endOfLog(log: string, of = 1): string {
  const most = Math.floor(maxLogCharacters / of);
  return (log.length > most ? `… ${log.slice(-most).toWellFormed()}` : log).replaceAll('\0', '');
}

/** A failed check as text for the agent. */
export const textOfCheck = (title: string, url: string | null | undefined, log: string): string =>
  [title, url, endOfLog(log)].filter(Boolean).join('\n\n');
