// Verifies signatures of events over the raw body: HMAC-SHA256 and Standard Webhooks.
import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { now, seconds } from '#foundation/clock.ts';
import { type Problem, unauthenticated } from '#foundation/problem.ts';
import { digest, sameBytes } from '#foundation/secrets/secrets.ts';
import { signatureAgeMs } from './bounds.ts';

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
  unauthenticated.field(name, isAbsent ? 'must be sent' : 'does not match the body and the secret of this hook');

/** Verifies the HMAC-SHA256 of the body, as hex or base64, optionally after `sha256=`. @throws 401 that names the header */
export function verifyHmac(name: string, secret: string, headers: IncomingHttpHeaders, body: Buffer): void {
  const sent = headerOf(headers, name).replace(/^sha256=/i, '');
  if (!matches(sent, hmac(secret, body))) throw signatureRefused(name, sent === '');
}

/** Compares two secrets in constant time. */
export const sameText = (one: string, other: string): boolean => sameBytes(digest(one), digest(other));

/** Standard Webhooks: the key is the base64 after `whsec_`; senders without that prefix sign with the secret as it is. */
const standardKey = (secret: string): string | Buffer =>
  secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : secret;

/** Verifies a signature of Standard Webhooks. @throws 401 that names the header */
export function verifyStandard(secret: string, headers: IncomingHttpHeaders, body: Buffer): void {
  const [id, time, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(headers, name),
  ) as [string, string, string];
  if (!id) throw unauthenticated.field('webhook-id', 'must be sent');
  const age = Math.abs(now() - seconds(Number(time)));
  if (!/^\d{1,15}$/.test(time) || age > signatureAgeMs) {
    throw unauthenticated.field('webhook-timestamp', 'must be the present time in seconds, at most 5 minutes off');
  }
  const expected = hmac(standardKey(secret), `${id}.${time}.`, body);
  const sent = signatures.split(' ').filter((part) => part.startsWith('v1,'));
  if (!sent.some((part) => matches(part.slice(3), expected)))
    throw signatureRefused('webhook-signature', signatures === '');
}
