// In the recorded responses of models, replaces each folder and each id of the recorded mission with the folder or id of the mission that
// replays it. Models repeat folders and ids in tool calls, and a stream usually splits them over several deltas.
import { type PlacedText, textsOf } from './split-secrets.ts';

type Replacement = readonly [from: string, to: string];

const inOne = (text: string, replacements: readonly Replacement[]): string =>
  replacements.reduce((result, [from, to]) => result.replaceAll(from, to), text);

/** The body with the replacements. @param replacements Longer texts come first, because one may be within another. */
export function translated(body: string, replacements: readonly Replacement[]): string {
  if (!/^(data|event|id|:)/.test(body)) return inOne(body, replacements);
  const events = body.split(/((?:\r\n|\r|\n){2})/).map(readEvent);
  const joined = new Map<string, PlacedText[]>();
  for (const { value } of events) {
    for (const one of textsOf(value, '')) joined.set(one.place, [...(joined.get(one.place) ?? []), one]);
  }
  for (const texts of joined.values()) replaceIn(texts, replacements);
  return events
    .map(({ text, value, write }) => (write ? write(JSON.stringify(value)) : inOne(text, replacements)))
    .join('');
}

interface StreamedEvent {
  text: string;
  /** The data of the event; undefined when it is not JSON in one line. */
  value?: { data: unknown };
  write?: (data: string) => string;
}

function readEvent(text: string): StreamedEvent {
  const [, before, data, after] = /^((?:(?!data:).*(?:\r\n|\r|\n))*data:)(.*)([\s\S]*)$/.exec(text) ?? [];
  if (data === undefined || /(\r|\n)data:/.test(after!)) return { text };
  try {
    const value = { data: JSON.parse(data) };
    return { text, value, write: (json) => `${before} ${json.slice('{"data":'.length, -1)}${after}` };
  } catch {
    return { text };
  }
}

/**
 * Applies the replacements to the texts of successive events. When a replaced text is split over several events, its replacement is put
 * into the first of them.
 */
function replaceIn(texts: readonly PlacedText[], replacements: readonly Replacement[]): void {
  for (const [from, to] of replacements) {
    const pieces = texts.map(({ text }) => text);
    const all = pieces.join('');
    for (let at = all.lastIndexOf(from); at >= 0; at = at === 0 ? -1 : all.lastIndexOf(from, at - 1))
      replaceAt(pieces, at, from.length, to);
    for (const [i, one] of texts.entries()) {
      if (one.text === pieces[i]) continue;
      one.text = pieces[i]!;
      one.holder[one.key] = one.text;
    }
  }
}

/**
 * Replaces `length` characters from position `at` of the joined pieces. Later positions change, so the caller replaces the last occurrence
 * first.
 */
function replaceAt(pieces: string[], at: number, length: number, to: string): void {
  let [start, left, isFirst] = [at, length, true];
  for (let i = 0; i < pieces.length && left > 0; i++) {
    const piece = pieces[i]!;
    if (start >= piece.length) {
      start -= piece.length;
      continue;
    }
    const taken = Math.min(left, piece.length - start);
    pieces[i] = piece.slice(0, start) + (isFirst ? to : '') + piece.slice(start + taken);
    [left, start, isFirst] = [left - taken, 0, false];
  }
}
