// An authenticator in software (Web Authentication Level 3, §6) with one ES256 key and no attestation. It signs anything, so that a
// test can also send what no browser would.
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();

interface Ceremony {
  challenge: string;
  origin: string;
  rpId: string;
  /** Whether the user was verified, by a PIN or a fingerprint. */
  verified?: boolean;
}

export function createAuthenticator({ aaguid = Buffer.alloc(16), counts = true } = {}) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x, y } = publicKey.export({ format: 'jwk' });
  const id = randomBytes(32);
  let counter = 0;

  const dataOf = ({ rpId, verified = true }: Ceremony, attested?: Buffer): Buffer => {
    const flags = 0x01 | (verified ? 0x04 : 0) | (attested ? 0x40 : 0);
    const head = Buffer.alloc(5);
    head.writeUInt8(flags, 0);
    head.writeUInt32BE(counts ? ++counter : 0, 1);
    return Buffer.concat([sha256(rpId), head, attested ?? Buffer.alloc(0)]);
  };
  const clientData = (type: string, { challenge, origin }: Ceremony): Buffer =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  const answer = (response: Record<string, Buffer | undefined>) => ({
    id: id.toString('base64url'),
    rawId: id.toString('base64url'),
    type: 'public-key',
    clientExtensionResults: {},
    response: Object.fromEntries(
      Object.entries(response).map(([name, value]) => [name, value?.toString('base64url')]),
    ) as Record<string, string>,
  });

  return {
    /** Sets the signature counter; the next signature increases it by one. */
    setCounter(value: number): void {
      counter = value;
    },

    /** Creates a passkey and returns the RegistrationResponseJSON. */
    create(ceremony: Ceremony) {
      const coordinate = (value: string) => Buffer.concat([Buffer.from([0x58, 32]), Buffer.from(value, 'base64url')]);
      // COSE_Key: {1: 2 (EC2), 3: -7 (ES256), -1: 1 (P-256), -2: x, -3: y}.
      const key = Buffer.concat([
        Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
        coordinate(x!),
        Buffer.from([0x22]),
        coordinate(y!),
      ]);
      const authData = dataOf(ceremony, Buffer.concat([aaguid, Buffer.from([0, id.length]), id, key]));
      // CBOR: {"fmt": "none", "attStmt": {}, "authData": bytes}.
      const attestationObject = Buffer.concat([
        Buffer.from([0xa3, 0x63]),
        Buffer.from('fmt'),
        Buffer.from([0x64]),
        Buffer.from('none'),
        Buffer.from([0x67]),
        Buffer.from('attStmt'),
        Buffer.from([0xa0, 0x68]),
        Buffer.from('authData'),
        Buffer.from([0x58, authData.length]),
        authData,
      ]);
      return answer({ clientDataJSON: clientData('webauthn.create', ceremony), attestationObject });
    },

    /** AuthenticationResponseJSON; `userId` is the service's name for the person. */
    sign(ceremony: Ceremony, userId: string) {
      const authenticatorData = dataOf(ceremony);
      const clientDataJSON = clientData('webauthn.get', ceremony);
      const signature = sign('sha256', Buffer.concat([authenticatorData, sha256(clientDataJSON)]), privateKey);
      return answer({ clientDataJSON, authenticatorData, signature, userHandle: Buffer.from(userId) });
    },
  };
}
