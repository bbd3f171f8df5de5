// Fragments within the bounds of the platform.
import { clip, type Fragment } from '../journal.ts';

/** What the platform takes: characters, and steps of a plan. */
export const most = { body: 16_384, name: 200, step: 500, steps: 50, activity: 500 };

/** Text that was said; a list, because it may be empty. */
export const words = (kind: 'thought' | 'response' | 'error' | 'elicitation', body: string): Fragment[] =>
  body.trim() ? [{ kind, body: clip(body, most.body) }] : [];

/** The use of a tool with its input, of which the telling part is shown: a command, a file, a pattern. */
export function action(name: string, input?: unknown): Fragment {
  const members = (input ?? {}) as Record<string, unknown>;
  const telling =
    typeof input === 'string' ? input : (members.command ?? members.file_path ?? members.filePath ?? members.pattern);
  const parameter = typeof telling === 'string' ? telling : JSON.stringify(input ?? '');
  return { kind: 'action', action: clip(name, most.name), ...(parameter && { parameter: clip(parameter, most.body) }) };
}

export function plan(items: readonly { content: string; status: string }[]): Fragment[] {
  const steps = items.map(({ content, status }) => ({
    content: clip(content, most.step),
    status: clip(status, most.name),
  }));
  const validSteps = steps.filter(({ content, status }) => content && status).slice(0, most.steps);
  return validSteps.length > 0 ? [{ kind: 'plan', items: validSteps }] : [];
}

/** An event as a line of the log, shortened: events may hold whole files. */
export const logLine = (event: unknown): string =>
  `${clip(typeof event === 'string' ? event.trimEnd() : JSON.stringify(event), most.body)}\n`;

/** What another program says: its drivers know which fields there are. */
// biome-ignore lint/suspicious/noExplicitAny: the shapes are those of another program.
export type Json = Record<string, any>;

/** Null for what is no JSON object. */
export function parsed(line: string): Json | null {
  try {
    const value = JSON.parse(line);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
