// Signatures of inbound events over the raw body: the vendor's own scheme, Standard Webhooks
// (standardwebhooks.com), or HMAC-SHA256 as hex or base64 in a header of the sender's choice.
import type { IncomingHttpHeaders } from 'node:http';
import { newSecret } from '#foundation/secrets/secrets.ts';
import { moduleOf } from '../../projects/vendors/registry.ts';
import { type BodySignature, signatureInHeader, standardSignature } from '../../projects/vendors/signature.ts';
import type { InboundHook } from './model.ts';

/** Creates a secret in the format of Standard Webhooks: base64 after a prefix. */
export const newSigningSecret = (): string => `whsec_${Buffer.from(newSecret('', 24)).toString('base64')}`;

type Signed = Pick<InboundHook, 'signature' | 'signatureHeader'>;

/**
 * Starts the verification of a request; null when a header already proves that the sender has the secret. @throws 401 that names the header
 */
export function signatureOf(
  { signature, signatureHeader }: Signed,
  secret: string,
  headers: IncomingHttpHeaders,
): BodySignature | null {
  if (signature === 'standard') return standardSignature(secret, headers);
  if (signature === 'header') return signatureInHeader(signatureHeader!, secret, headers);
  const { events, chat } = moduleOf(signature);
  return (events ?? chat)!.signature(secret, headers);
}
