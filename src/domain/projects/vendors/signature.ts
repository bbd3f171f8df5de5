// Signatures of events over the raw body: HMAC-SHA256 and Standard Webhooks. A signature is computed while the body arrives, so that the
// sender is verified even if the body is too large to store.
import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { now, seconds } from '#foundation/clock.ts';
import { type Problem, unauthenticated } from '#foundation/problem.ts';
import { digest, sameBytes } from '#foundation/secrets/secrets.ts';
import { signatureAgeMs } from './bounds.ts';

/** The value of a header that was sent exactly once; empty otherwise. */
export const headerOf = (headers: IncomingHttpHeaders, name: string): string => {
  const value = headers[name.toLowerCase()];
  return typeof value === 'string' ? value : '';
};

export interface BodySignature {
  /** Adds the next chunk of the body. */
  update(part: Buffer): void;
  /** Compares the signature after the whole body was added. @throws 401 that names the header */
  verify(): void;
  /** Checks the time in a payload that contains one. @throws 401 for an old time, because another sender may repeat the payload */
  verifyPayload?(payload: Record<string, unknown>): void;
}

/**
 * Computes the HMAC-SHA256 of a body. @param prefix Text that is signed before the body. @param check Compares the result with the
 * signature. @throws as `check`
 */
export function hmacSignature(key: string | Buffer, prefix: string, check: (mac: Buffer) => void): BodySignature {
  const mac = createHmac('sha256', key).update(prefix);
  return { update: (part) => void mac.update(part), verify: () => check(mac.digest()) };
}

/** Whether a text contains these bytes in hex or base64. */
export const matches = (sent: string, expected: Buffer): boolean =>
  sameBytes(Buffer.from(sent, /^[0-9a-f]{64}$/i.test(sent) ? 'hex' : 'base64'), expected);

export const signatureRefused = (name: string, isAbsent: boolean): Problem =>
  unauthenticated.field(name, isAbsent ? 'must be sent' : 'does not match the body and the secret of this hook');

/** The HMAC-SHA256 of the body in a header, as hex or base64, optionally after `sha256=`. */
export function signatureInHeader(name: string, secret: string, headers: IncomingHttpHeaders): BodySignature {
  const sent = headerOf(headers, name).replace(/^sha256=/i, '');
  return hmacSignature(secret, '', (expected) => {
    if (!matches(sent, expected)) throw signatureRefused(name, sent === '');
  });
}

/** Compares two secrets in constant time. */
export const sameText = (one: string, other: string): boolean => sameBytes(digest(one), digest(other));

/** Standard Webhooks: the key is the base64 after `whsec_`; senders without that prefix sign with the secret unchanged. */
const standardKey = (secret: string): string | Buffer =>
  secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : secret;

/** The signature of Standard Webhooks. @throws 401 that names the header, when the id or the time is not valid */
export function standardSignature(secret: string, headers: IncomingHttpHeaders): BodySignature {
  const [id, time, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(headers, name),
  ) as [string, string, string];
  if (!id) throw unauthenticated.field('webhook-id', 'must be sent');
  const age = Math.abs(now() - seconds(Number(time)));
  if (!/^\d{1,15}$/.test(time) || age > signatureAgeMs) {
    throw unauthenticated.field('webhook-timestamp', 'must be the current time in seconds, at most 5 minutes off');
  }
  const sent = signatures.split(' ').filter((part) => part.startsWith('v1,'));
  return hmacSignature(standardKey(secret), `${id}.${time}.`, (expected) => {
    if (!sent.some((part) => matches(part.slice(3), expected)))
      throw signatureRefused('webhook-signature', signatures === '');
  });
}
