// Compares the calls of a replay with those of its recording, ignoring what differs in every run: folders, ids, dates and the hashes of
// commits.
import { createHash } from 'node:crypto';
import type { Json } from '../harness/fragments.ts';

/** Folders of the mission by their names. */
export type Folders = Record<string, string>;

/** The beginning of a word in a JSON string. The letter of an escaped line break, such as `\n`, may come directly before it. */
const begin = String.raw`(?:(?<=\\[nrt])|(?<!\w))`;

/**
 * Patterns of values that differ in every run. If a recorded response contains a value whose pattern has `isNamed`, the replay's own value
 * replaces the recorded one. A shortened hash may consist of digits only, so the pattern of hashes also matches numbers. Numbers of the
 * JSON document itself must not match; therefore the pattern excludes a value directly after a colon, a comma or a bracket.
 */
const changing = [
  { pattern: /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, name: '{uuid}', isNamed: true },
  {
    pattern: new RegExp(String.raw`${begin}\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z?)?\b`, 'g'),
    ...{ name: '{date}', isNamed: false },
  },
  { pattern: /\b(?:127\.0\.0\.1|localhost):\d+/g, name: '{address}', isNamed: true },
  {
    pattern: new RegExp(String.raw`${begin}(?<![:,[])[0-9a-f]{7,64}(?!\w)`, 'g'),
    ...{ name: '{hash}', isNamed: true },
  },
];

interface Normalized {
  body: string;
  /** The values in the body that were replaced and that responses may repeat, in the order in which they were found. */
  named: string[];
}

/** Longer folders come first, because one may be within another. */
export function normalized(text: string, folders: Folders): Normalized {
  const named: string[] = [];
  let body = text;
  const byLength = Object.entries(folders).sort(([, a], [, b]) => b.length - a.length);
  for (const [name, folder] of byLength) body = body.replaceAll(folder, `{${name}}`);
  for (const { pattern, name, isNamed } of changing) {
    if (isNamed) named.push(...(body.match(pattern) ?? []));
    body = body.replace(pattern, name);
  }
  return { body, named };
}

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'absent';
  return text.length > 200 ? `${text.slice(0, 200).toWellFormed()}...` : text;
};

/** Number of characters that are shown before and after the first difference between two texts. */
const around = { before: 40, after: 80 };

function describeTexts(before: string, now: string, path: string): string {
  let at = 0;
  while (before[at] === now[at]) at++;
  const part = (text: string) => shown(text.slice(Math.max(0, at - around.before), at + around.after).toWellFormed());
  return `${path} has ${part(now)} around character ${at + 1}; the recording has ${part(before)}`;
}

/** The first member in which two values differ; null when they are equal. */
function firstDifference(before: unknown, now: unknown, path: string): string | null {
  if (typeof before === 'object' && typeof now === 'object' && before && now) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(now)])) {
      const member = Array.isArray(before) ? `${path}[${name}]` : path ? `${path}.${name}` : name;
      const found = firstDifference((before as Json)[name], (now as Json)[name], member);
      if (found) return found;
    }
    return null;
  }
  if (typeof before === 'string' && typeof now === 'string' && before !== now)
    return describeTexts(before, now, path || 'the body');
  return before === now ? null : `${path || 'the body'} is ${shown(now)}; the recording has ${shown(before)}`;
}

/** Describes the first difference between two normalized bodies. @param before The recorded body */
export function describeDifference(before: string, now: string): string {
  try {
    return firstDifference(JSON.parse(before), JSON.parse(now), '') ?? 'the bodies have another form';
  } catch {
    return firstDifference(before, now, '') ?? 'the bodies are equal';
  }
}
