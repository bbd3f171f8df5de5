// ETag and If-None-Match on GET by id (RFC 9110 §8.8.3, §13.1.2): a poller that has the record pays no body.
import { hash } from 'node:crypto';

/** A strong validator of the exact bytes. */
export const etagOf = (body: string): string => `"${hash('sha1', body, 'base64url')}"`;

/** Weak comparison, as If-None-Match asks for. */
export function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((one) => one.trim().replace(/^W\//, '') === etag);
}
