// Creates the live fragments that show the work of an agent; their texts and lists are cut to the maximum that the platform accepts.
import type { Fragment } from '../contract.ts';
import { clip } from '../text.ts';

/** Bounds that the platform sets: characters of a text, and steps of a plan. */
export const limits = { body: 16_384, name: 200, step: 500, steps: 50, activity: 500 };

/** Fragments for a text of the agent: none for an empty text. */
export const words = (kind: 'thought' | 'response' | 'error', body: string): Fragment[] =>
  body.trim() ? [{ kind, body: clip(body, limits.body) }] : [];

/** The fragment of a tool call. It shows the most informative part of the input, such as a command, a file or a pattern. */
export function action(name: string, input?: unknown, toolUseId?: string): Fragment {
  const members = (input ?? {}) as Record<string, unknown>;
  const telling =
    typeof input === 'string' ? input : (members.command ?? members.file_path ?? members.filePath ?? members.pattern);
  const parameter = typeof telling === 'string' ? telling : JSON.stringify(input ?? '');
  return {
    ...used(name, toolUseId),
    ...(parameter && { parameter: clip(parameter, limits.body) }),
  };
}

/** The end of a tool call, in a second fragment with the same id. `exitCode`: for a command, if known. */
export const result = (
  name: string,
  toolUseId: string,
  output: string,
  { failed, exitCode }: { failed: boolean; exitCode?: number | null | undefined },
): Fragment => ({
  ...used(name, toolUseId),
  result: shorten(output.trimEnd(), limits.body),
  failed: failed || (exitCode ?? 0) !== 0,
  ...(exitCode != null && { exitCode }),
});

const used = (name: string, toolUseId?: string): Fragment => ({
  kind: 'action',
  action: clip(name, limits.name),
  ...(toolUseId && { toolUseId: clip(toolUseId, limits.name) }),
});

/** The beginning and the end of a long text: an error tends to be at the end. */
function shorten(text: string, length: number): string {
  if (text.length <= length) return text.toWellFormed();
  const note = `\n… ${text.length - length} characters left out …\n`;
  const half = Math.floor((length - note.length) / 2);
  return `${text.slice(0, half)}${note}${text.slice(-half)}`.toWellFormed();
}

export function plan(items: readonly { content: string; status: string }[]): Fragment[] {
  const steps = items.map(({ content, status }) => ({
    content: clip(content, limits.step),
    status: clip(status, limits.name),
  }));
  const validSteps = steps.filter(({ content, status }) => content && status).slice(0, limits.steps);
  return validSteps.length > 0 ? [{ kind: 'plan', items: validSteps }] : [];
}

/** An event as a line of the log, shortened: events may hold whole files. */
export const logLine = (event: unknown): string =>
  `${clip(typeof event === 'string' ? event.trimEnd() : JSON.stringify(event), limits.body)}\n`;

/** Members of an event that contain no information for a reader. */
const unsaid = /^(type|subtype|uuid|id|.*(Id|_id|Ids|_ids)|timestamp|emittedAtMs)$/;
const maxEventCharacters = 300;

/** An event unknown to the driver, as one short line: its name, and its text and numbers. */
export function eventLine(name: string, event: Json): string {
  const said = Object.entries(event ?? {}).flatMap(([key, value]) =>
    unsaid.test(key) || !['string', 'number', 'boolean'].includes(typeof value) ? [] : `${key}=${value}`,
  );
  return `${clip([`[${name}]`, ...said].join(' ').replace(/\s+/g, ' '), maxEventCharacters)}\n`;
}

/** JSON data from another program. The driver of the program knows the fields. */
// biome-ignore lint/suspicious/noExplicitAny: the shapes are those of another program.
export type Json = Record<string, any>;

/** The parsed line; null for text that is not a JSON object. */
export function parsed(line: string): Json | null {
  try {
    const value = JSON.parse(line);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
