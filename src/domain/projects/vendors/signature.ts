// Parts of signatures of events: HMAC-SHA256 over the raw body, and the refusals.
import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type Problem, unauthenticated } from '#foundation/problem.ts';
import { sameBytes } from '#foundation/secrets/secrets.ts';

/** The value of a header that is sent once; empty otherwise. */
export const headerOf = (headers: IncomingHttpHeaders, name: string): string => {
  const value = headers[name.toLowerCase()];
  return typeof value === 'string' ? value : '';
};

export const hmac = (key: string | Buffer, ...parts: (string | Buffer)[]): Buffer => {
  const mac = createHmac('sha256', key);
  for (const part of parts) mac.update(part);
  return mac.digest();
};

/** Whether a text is these bytes as hex or base64. */
export const matches = (sent: string, expected: Buffer): boolean =>
  sameBytes(Buffer.from(sent, /^[0-9a-f]{64}$/i.test(sent) ? 'hex' : 'base64'), expected);

export const signatureRefused = (name: string, isAbsent: boolean): Problem =>
  unauthenticated.field(name, isAbsent ? 'must be sent' : 'does not fit the body and the secret of this hook');

/** Verifies the HMAC-SHA256 of the body, as hex or base64, also behind `sha256=`. @throws 401 that names the header */
export function verifyHmac(name: string, secret: string, headers: IncomingHttpHeaders, body: Buffer): void {
  const sent = headerOf(headers, name).replace(/^sha256=/i, '');
  if (!matches(sent, hmac(secret, body))) throw signatureRefused(name, sent === '');
}
