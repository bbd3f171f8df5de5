// HTTP caching: entity tags and If-None-Match of responses (RFC 9110 §8.8.3, §13.1.2), and the lifetime of cached responses of other
// services (RFC 9111 §5.2.2).
import { hash } from 'node:crypto';
import { seconds } from '../clock.ts';
import type { Exchange } from './http.ts';

/** A strong validator of the exact bytes. */
export const etagOf = (body: string): string => `"${hash('sha1', body, 'base64url')}"`;

const opaque = (etag: string): string => etag.trim().replace(/^W\//, '');

/** Whether the client already has the tagged content, by weak comparison as If-None-Match requires. */
export function isNotModified({ req }: Exchange, etag: string): boolean {
  const known = req.headers['if-none-match'];
  if (known === undefined) return false;
  return known.trim() === '*' || known.split(',').some((one) => opaque(one) === opaque(etag));
}

/**
 * Milliseconds for which a response may be cached: its `max-age`, but at least `min` and at most `max`. A response without a `max-age`, or
 * with `no-store` or `no-cache`, is cached for `min`.
 */
export function freshnessMs(cacheControl = '', { min, max }: { min: number; max: number }): number {
  const maxAge = /(?:^|[\s,])max-age="?(\d{1,9})/i.exec(cacheControl)?.[1];
  if (maxAge === undefined || /\bno-(?:store|cache)\b/i.test(cacheControl)) return min;
  return Math.min(Math.max(seconds(Number(maxAge)), min), max);
}
