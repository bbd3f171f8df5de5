// Signatures of inbound events, over the raw body: GitHub's header, Standard Webhooks (standardwebhooks.com), or a header of the
// sender's choice with HMAC-SHA256 as hex or base64.
import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { now, seconds } from '#foundation/clock.ts';
import { unauthenticated } from '#foundation/problem.ts';
import { newSecret, sameBytes } from '#foundation/secrets/secrets.ts';
import { signatureAgeMs } from './bounds.ts';
import type { InboundHook } from './model.ts';

/** Standard Webhooks asks for base64 after its prefix. */
export const newSigningSecret = (): string => `whsec_${Buffer.from(newSecret('', 24)).toString('base64')}`;

const one = (headers: IncomingHttpHeaders, name: string): string => {
  const value = headers[name.toLowerCase()];
  return typeof value === 'string' ? value : '';
};

const hmac = (key: string | Buffer, ...parts: (string | Buffer)[]): Buffer => {
  const mac = createHmac('sha256', key);
  for (const part of parts) mac.update(part);
  return mac.digest();
};

/** Standard Webhooks: the key is the base64 behind `whsec_`; senders without that prefix sign with the secret as it is. */
const standardKey = (secret: string): string | Buffer =>
  secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : secret;

type Signed = Pick<InboundHook, 'signature' | 'signatureHeader'>;

/** @throws 401 that names the header */
export function verifySignature(hook: Signed, secret: string, headers: IncomingHttpHeaders, body: Buffer): void {
  if (hook.signature === 'standard') {
    verifyStandard(secret, headers, body);
    return;
  }
  const name = hook.signature === 'github' ? 'X-Hub-Signature-256' : hook.signatureHeader!;
  const sent = one(headers, name).replace(/^sha256=/i, '');
  if (!matches(sent, hmac(secret, body))) throw refused(name, sent === '');
}

function verifyStandard(secret: string, headers: IncomingHttpHeaders, body: Buffer): void {
  const [id, time, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    one(headers, name),
  ) as [string, string, string];
  if (!id) throw unauthenticated.field('webhook-id', 'must be sent');
  const age = Math.abs(now() - seconds(Number(time)));
  if (!/^\d{1,15}$/.test(time) || age > signatureAgeMs) {
    throw unauthenticated.field('webhook-timestamp', 'must be the present time in seconds, at most 5 minutes off');
  }
  const expected = hmac(standardKey(secret), `${id}.${time}.`, body);
  const sent = signatures.split(' ').filter((part) => part.startsWith('v1,'));
  if (!sent.some((part) => matches(part.slice(3), expected))) throw refused('webhook-signature', signatures === '');
}

const matches = (sent: string, expected: Buffer): boolean =>
  sameBytes(Buffer.from(sent, /^[0-9a-f]{64}$/i.test(sent) ? 'hex' : 'base64'), expected);

const refused = (name: string, isAbsent: boolean) =>
  unauthenticated.field(name, isAbsent ? 'must be sent' : 'does not fit the body and the secret of this hook');
