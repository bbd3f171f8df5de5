// Half a surrogate pair is not Unicode text (RFC 8259 §8.2): neither UTF-8 nor PostgreSQL can represent it.
import { invalid } from './problem.ts';

/** UTF-8 has no surrogates, so only an escape can contain one. */
const surrogateEscape = /\\u[dD][89a-fA-F]/;

/** Rejects a JSON text whose parsed value contains a lone surrogate. @throws 400 naming its position */
export function refuseLoneSurrogates(text: string, value: unknown): void {
  if (!surrogateEscape.test(text)) return;
  // The search is iterative, because a body may be nested too deeply for recursion.
  const open: [path: string, value: unknown][] = [['', value]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [path, one] = next;
    if (typeof one === 'string' && !one.isWellFormed()) refuse(path);
    if (one === null || typeof one !== 'object') continue;
    for (const [name, member] of Object.entries(one)) {
      if (!name.isWellFormed()) refuse(path);
      open.push([path === '' ? name : `${path}.${name}`, member]);
    }
  }
}

function refuse(path: string): never {
  const message = 'contains a lone surrogate, which is not Unicode text';
  throw path ? invalid.field(path, message) : invalid(`The body ${message}.`);
}
