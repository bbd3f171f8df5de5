// The addresses under which contents are downloaded and uploaded: signed, so that they need no credential and can be handed to
// a browser or a tool. Whoever has one may do that one thing until it expires.
import { addresses } from '#foundation/addresses.ts';
import { now } from '#foundation/clock.ts';
import { sameBytes, signature } from '#foundation/secrets.ts';
import { artifactAddress, artifactUpload } from '#limits.ts';

/** What an address is for: of an artifact the download, of a content the upload. */
type Purpose = 'artifact' | 'upload';

const sign = (purpose: Purpose, id: string, expires: number): Buffer => signature(purpose, `${id}\n${expires}`);

const signed = (purpose: Purpose, id: string, path: string, expires: number): string =>
  `${addresses().baseHost}${path}?expires=${expires}&signature=${sign(purpose, id, expires).toString('base64url')}`;

/** Good for about an hour; the same for a while, so that a record that is read again has not changed and a browser knows the picture. */
export function contentAddress(artifactId: string): string {
  const at = now();
  const expires = at - (at % artifactAddress.step) + artifactAddress.step + artifactAddress.lifetime;
  return signed('artifact', artifactId, `/artifacts/${artifactId}/content`, expires);
}

/** Where a content is sent with PUT, and until when, in epoch milliseconds. */
export function createUploadAddress(contentKey: string): { uploadUrl: string; expiresAt: number } {
  const expiresAt = now() + artifactUpload.lifetime;
  return { uploadUrl: signed('upload', contentKey, `/artifacts/uploads/${contentKey}`, expiresAt), expiresAt };
}

/** Until when an address of ours is good, epoch milliseconds; null when it is not, or was never ours. */
export function addressExpiry(purpose: Purpose, id: string, query: URLSearchParams): number | null {
  const expires = Number(query.get('expires'));
  const given = Buffer.from(query.get('signature') ?? '', 'base64url');
  return Number.isSafeInteger(expires) && sameBytes(given, sign(purpose, id, expires)) && expires > now()
    ? expires
    : null;
}
