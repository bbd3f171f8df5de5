// Signatures of inbound events, over the raw body: as their vendor signs, Standard Webhooks (standardwebhooks.com), or a header of the
// sender's choice with HMAC-SHA256 as hex or base64.
import type { IncomingHttpHeaders } from 'node:http';
import { now, seconds } from '#foundation/clock.ts';
import { unauthenticated } from '#foundation/problem.ts';
import { newSecret } from '#foundation/secrets/secrets.ts';
import { moduleOf } from '../../projects/vendors/registry.ts';
import { headerOf, hmac, matches, signatureRefused, verifyHmac } from '../../projects/vendors/signature.ts';
import { signatureAgeMs } from './bounds.ts';
import type { InboundHook } from './model.ts';

/** Standard Webhooks asks for base64 after its prefix. */
export const newSigningSecret = (): string => `whsec_${Buffer.from(newSecret('', 24)).toString('base64')}`;

/** Standard Webhooks: the key is the base64 behind `whsec_`; senders without that prefix sign with the secret as it is. */
const standardKey = (secret: string): string | Buffer =>
  secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : secret;

type Signed = Pick<InboundHook, 'signature' | 'signatureHeader'>;

/** @throws 401 that names the header */
export function verifySignature(
  { signature, signatureHeader }: Signed,
  secret: string,
  headers: IncomingHttpHeaders,
  body: Buffer,
): void {
  if (signature === 'standard') verifyStandard(secret, headers, body);
  else if (signature === 'header') verifyHmac(signatureHeader!, secret, headers, body);
  else {
    const { events, chat } = moduleOf(signature);
    (events ?? chat)!.verify(secret, headers, body);
  }
}

function verifyStandard(secret: string, headers: IncomingHttpHeaders, body: Buffer): void {
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
