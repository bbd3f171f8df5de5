// The address under which a content is downloaded: signed, so that it needs no credential and can be handed to a browser, and
// good for about an hour.
import { addresses } from '#foundation/addresses.ts';
import { now } from '#foundation/clock.ts';
import { sameBytes, signature } from '#foundation/secrets.ts';
import { artifactAddress } from '#limits.ts';

const sign = (artifactId: string, expires: number): Buffer => signature('artifact', `${artifactId}\n${expires}`);

/** The same for a while, so that a record that is read again has not changed and a browser knows the picture already. */
export function contentAddress(artifactId: string): string {
  const at = now();
  const expires = at - (at % artifactAddress.step) + artifactAddress.step + artifactAddress.lifetime;
  const signed = sign(artifactId, expires).toString('base64url');
  return `${addresses().baseHost}/artifacts/${artifactId}/content?expires=${expires}&signature=${signed}`;
}

/** Until when an address of ours is good, epoch milliseconds; null when it is not, or was never ours. */
export function addressExpiry(artifactId: string, query: URLSearchParams): number | null {
  const expires = Number(query.get('expires'));
  const given = Buffer.from(query.get('signature') ?? '', 'base64url');
  return Number.isSafeInteger(expires) && sameBytes(given, sign(artifactId, expires)) && expires > now()
    ? expires
    : null;
}
