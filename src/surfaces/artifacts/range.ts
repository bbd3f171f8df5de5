// The byte range of a request (RFC 9110 §14). One range is served; for several, or an unknown unit, the response is the whole content,
// which is always permitted.
import type { ByteRange } from '#foundation/storage/storage.ts';

/** Returns the requested range: undefined for the whole content, null for a range that contains no byte of the content (status 416). */
export function rangeOf(header: string | undefined, size: number): ByteRange | null | undefined {
  const [, from, to] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.replaceAll(/[ \t]/g, '') ?? '') ?? [];
  if (from === undefined || to === undefined || (from === '' && to === '')) return undefined;
  // A range without a start, such as `-5`, means the last bytes.
  if (from === '')
    return Number(to) === 0 || size === 0 ? null : { first: Math.max(0, size - Number(to)), last: size - 1 };
  if (to !== '' && Number(to) < Number(from)) return undefined;
  if (Number(from) >= size) return null;
  return { first: Number(from), last: to === '' ? size - 1 : Math.min(Number(to), size - 1) };
}
