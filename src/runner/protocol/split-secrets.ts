// Finds secrets that a stream of server-sent events has in pieces: a model that repeats a secret sends it in several deltas.
import type { Mask } from '../text.ts';

/** Whether the texts of successive events have a secret together. Events that are too deep to be read count as one that has. */
export function hasSplitSecret(body: string, mask: Mask): boolean {
  const joined = new Map<string, string[]>();
  try {
    for (const data of dataOf(body)) collect(parsed(data), '', joined);
  } catch {
    return true;
  }
  return [...joined.values()].some((texts) => {
    const text = texts.join('');
    return mask(text) !== text;
  });
}

/** The data of each event; none for a body of another kind. */
function* dataOf(body: string): Generator<string> {
  let lines: string[] = [];
  for (const line of [...body.split(/\r\n|\r|\n/), '']) {
    if (line.startsWith('data:')) lines.push(line.slice(5));
    if (line !== '' || lines.length === 0) continue;
    yield lines.join('\n');
    lines = [];
  }
}

/** Adds each text to those in the same place of other events. Deltas of several outputs may alternate: an index is part of the place. */
function collect(value: unknown, place: string, joined: Map<string, string[]>): void {
  if (typeof value === 'string') {
    const texts = joined.get(place);
    if (texts) texts.push(value);
    else joined.set(place, [value]);
  } else if (Array.isArray(value)) for (const one of value) collect(one, place, joined);
  else if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value);
    const indexes = members.filter(([name, one]) => /index$/.test(name) && typeof one === 'number');
    const within = `${place}${JSON.stringify(indexes)}`;
    for (const [name, one] of members) collect(one, `${within}.${name}`, joined);
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
