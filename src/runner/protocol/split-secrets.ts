// Finds secrets that a stream of server-sent events contains in pieces: a model that repeats a secret sends it in several deltas.
import type { Mask } from '../text.ts';

/**
 * Whether the texts of successive events together contain a secret. Events that are nested too deeply to be read count as containing one.
 */
export function hasSplitSecret(body: string, mask: Mask): boolean {
  const joined = new Map<string, string[]>();
  try {
    for (const data of dataOf(body)) {
      for (const { place, text } of textsOf(parsed(data), '')) {
        const texts = joined.get(place);
        if (texts) texts.push(text);
        else joined.set(place, [text]);
      }
    }
  } catch {
    return true;
  }
  return [...joined.values()].some((texts) => {
    const text = texts.join('');
    return mask(text) !== text;
  });
}

/** Yields the data of each server-sent event; yields nothing for a body that is not an event stream. */
function* dataOf(body: string): Generator<string> {
  let lines: string[] = [];
  for (const line of [...body.split(/\r\n|\r|\n/), '']) {
    if (line.startsWith('data:')) lines.push(line.slice(5));
    if (line !== '' || lines.length === 0) continue;
    yield lines.join('\n');
    lines = [];
  }
}

export interface PlacedText {
  /** The path of the text in its event: texts with the same path in successive events belong together. */
  place: string;
  text: string;
  /** The object or list that contains the text, and the text's key in it. */
  holder: Record<string, unknown>;
  key: string;
}

/**
 * Yields the texts of an event. Events may contain deltas of several outputs in turn; the path of a text therefore includes the index of
 * its output, so that texts of different outputs are not joined.
 */
export function* textsOf(value: unknown, place: string, holder = {}, key = ''): Generator<PlacedText> {
  if (typeof value === 'string') yield { place, text: value, holder, key };
  else if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value);
    const isList = Array.isArray(value);
    const indexes = members.filter(([name, one]) => /index$/.test(name) && typeof one === 'number');
    const within = isList ? place : `${place}${JSON.stringify(indexes)}`;
    for (const [name, one] of members) yield* textsOf(one, isList ? place : `${within}.${name}`, value, name);
  }
}

/** The parsed JSON; a text that is not JSON is returned as text. */
function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return data.trim();
  }
}
