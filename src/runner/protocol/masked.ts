// Wraps the connection to the platform, so that the reports of a mission do not disclose its secrets: in texts that people read, each secret
// is masked. Ids, and values that the platform interprets, are not masked, because a secret could equal one of them.
import { createMask, type Mask } from '../text.ts';
import type { Connection, Platform } from './platform.ts';

/** Fields of reports that contain text from a mission. */
const texts = [
  'content',
  'body',
  'parameter',
  'result',
  'error',
  'lastLines',
  'activity',
  'output',
  'caption',
  'reason',
];
const endings = ['outcome', 'terminationReason'];

export function masked(platform: Connection): Platform {
  const secrets = new Set<string>();
  let maskAll = createMask([]);
  const mask: Mask = (text) => maskAll(text);
  return {
    ...platform,
    mask,
    conceal(values) {
      for (const value of values) secrets.add(value);
      maskAll = createMask([...secrets]);
    },
    mutate: (operation, input, once) => platform.mutate(operation, maskTexts(input, mask), once),
  };
}

function maskTexts<T>(value: T, mask: Mask): T {
  if (Array.isArray(value)) return value.map((one) => maskTexts(one, mask)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, one]) => {
    if (name === 'choices' && Array.isArray(one)) return [name, one.map(mask)];
    if (typeof one !== 'string') return [name, maskTexts(one, mask)];
    // The outcome of a successful step is a fixed value that the platform interprets.
    const isText = texts.includes(name) || (endings.includes(name) && one !== 'completed');
    return [name, isText ? mask(one) : one];
  });
  return Object.fromEntries(entries);
}
