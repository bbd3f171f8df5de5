// The commands with which a script reports its progress, one per line, in the syntax of CI workflow commands:
//   ::thought TEXT   ::response TEXT   ::error TEXT   ::action NAME [PARAMETER]   ::plan STEP | STEP | …
//   ::step STEP   ::progress PERCENT [ACTIVITY]   ::cost USD   ::preview FOLDER
import type { Fragment } from '../contract.ts';
import { clip } from '../text.ts';
import { limits } from './fragments.ts';

export type ScriptCommand =
  | { fragment: Fragment }
  | { step: string }
  | { progress: number; activity: string | undefined }
  | { cost: number }
  | { preview: string };

/** Maximum of one cost in US dollars, as on the platform. */
const maxUsd = 10_000;

/** The command in a line; null for an ordinary line, and for a malformed command. */
export function parseCommand(line: string): ScriptCommand | null {
  const [, command, text = ''] = /^::(\w+) (.*)$/s.exec(line) ?? [];
  const rest = text.trim();
  if (!rest) return null;
  const [, first = '', others] = /^(\S+)\s*(.*)$/s.exec(rest) ?? [];
  const number = Number(first);
  switch (command) {
    case 'thought':
    case 'response':
    case 'error':
      return { fragment: { kind: command, body: clip(rest, limits.body) } };
    case 'action': {
      const parameter = others ? { parameter: clip(others, limits.body) } : {};
      return { fragment: { kind: command, action: clip(first, limits.name), ...parameter } };
    }
    case 'plan': {
      const steps = rest.split('|').map((step) => clip(step.trim(), limits.step));
      const items = steps.filter(Boolean).map((content) => ({ content, status: 'pending' }));
      return items.length > 0 ? { fragment: { kind: command, items: items.slice(0, limits.steps) } } : null;
    }
    case 'step':
      return { step: clip(rest, limits.step) };
    case 'progress':
      return Number.isInteger(number) && number >= 0 && number <= 100
        ? { progress: number, activity: others ? clip(others, limits.activity) : undefined }
        : null;
    case 'cost':
      return number >= 0 && number <= maxUsd ? { cost: number } : null;
    case 'preview':
      return { preview: rest };
    default:
      return null;
  }
}
