// Verifies signatures of inbound events over the raw body: the vendor's own scheme, Standard Webhooks
// (standardwebhooks.com), or HMAC-SHA256 as hex or base64 in a header of the sender's choice.
import type { IncomingHttpHeaders } from 'node:http';
import { newSecret } from '#foundation/secrets/secrets.ts';
import { moduleOf } from '../../projects/vendors/registry.ts';
import { verifyHmac, verifyStandard } from '../../projects/vendors/signature.ts';
import type { InboundHook } from './model.ts';

/** Standard Webhooks requires base64 after the prefix. */
export const newSigningSecret = (): string => `whsec_${Buffer.from(newSecret('', 24)).toString('base64')}`;

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
