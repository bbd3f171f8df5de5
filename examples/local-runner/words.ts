// The few words with which a script tells what it is at, a line each, in the manner of CI workflow commands:
//   ::thought TEXT   ::response TEXT   ::error TEXT   ::action NAME [PARAMETER]   ::plan STEP | STEP | …
//   ::progress PERCENT [ACTIVITY]   ::cost USD   ::preview FOLDER
import type { Fragment } from './journal.ts';

export type Word =
  | { fragment: Fragment }
  | { progress: number; activity: string | undefined }
  | { cost: number }
  | { preview: string };

/** Null: a line like any other. */
export function wordOf(line: string): Word | null {
  const [, word, rest = ''] = /^::(\w+)(?: (.*))?$/.exec(line) ?? [];
  const [, first = '', others] = /^(\S*)(?: (.*))?$/.exec(rest) ?? [];
  switch (word) {
    case 'thought':
    case 'response':
    case 'error':
      return { fragment: { kind: word, body: rest } };
    case 'action':
      return { fragment: { kind: 'action', action: first, ...(others && { parameter: others }) } };
    case 'plan': {
      const items = rest.split('|').map((step) => ({ content: step.trim(), status: 'pending' }));
      return { fragment: { kind: 'plan', items } };
    }
    case 'progress':
      return Number.isInteger(Number(first)) && Number(first) >= 0 && Number(first) <= 100
        ? { progress: Number(first), activity: others }
        : null;
    case 'cost':
      return Number(first) >= 0 && first !== '' ? { cost: Number(first) } : null;
    case 'preview':
      return rest ? { preview: rest } : null;
    default:
      return null;
  }
}
