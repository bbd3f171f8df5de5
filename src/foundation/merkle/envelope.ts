// Signed envelopes (DSSE, https://github.com/secure-systems-lab/dsse): a payload with its type, and an Ed25519 signature over both.
import { type KeyObject, sign } from 'node:crypto';

export interface Envelope {
  payloadType: string;
  /** The payload in base64. */
  payload: string;
  signatures: { keyid: string; sig: string }[];
}

/** The signed bytes: the pre-authentication encoding of the type and the payload. */
function encode(type: string, payload: Buffer): Buffer {
  const begin = `DSSEv1 ${Buffer.byteLength(type)} ${type} ${payload.length} `;
  return Buffer.concat([Buffer.from(begin), payload]);
}

export function signEnvelope(
  payloadType: string,
  payload: string,
  { id, privateKey }: { id: string; privateKey: KeyObject },
): Envelope {
  const bytes = Buffer.from(payload);
  const sig = sign(null, encode(payloadType, bytes), privateKey).toString('base64');
  return { payloadType, payload: bytes.toString('base64'), signatures: [{ keyid: id, sig }] };
}
