// A stand-in for an identity provider, which a test may add to the trusted issuers or not. It publishes ES256 keys on a loopback server,
// records the requests to this server, and signs any content, valid or not.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { addresses } from '#foundation/http/addresses.ts';
import { present } from './world.ts';

export type Claims = Record<string, unknown>;

export interface Pen {
  header?: Record<string, unknown>;
  key?: CryptoKey | Uint8Array;
}

export type Provider = Awaited<ReturnType<typeof openProvider>>;

let count = 0;
const seconds = () => Math.floor(present() / 1_000);

export async function openProvider() {
  const keys: JWK[] = [];
  const asked: string[] = [];
  const settings = { status: 200, headers: {} as Record<string, string> };
  const server = createServer((req, res) => {
    asked.push(req.url!);
    res.writeHead(settings.status, { 'content-type': 'application/json', ...settings.headers });
    res.end(JSON.stringify({ keys }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  let signer: { kid: string; privateKey: CryptoKey };
  /** Signs with a new key from now on. Without `publish` the key is unknown to the service. */
  async function rotate({ publish = true } = {}): Promise<JWK> {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    const kid = `key-${++count}`;
    const jwk = { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' };
    if (publish) keys.push(jwk);
    signer = { kid, privateKey };
    return jwk;
  }
  await rotate();

  function sign(claims: Claims, { header, key }: Pen = {}): Promise<string> {
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', kid: signer.kid, typ: 'oauth-id-jag+jwt', ...header })
      .sign(key ?? signer.privateKey);
  }

  /** Valid claims of a new user, in which the fields of `more` replace the default values. A field that is undefined removes the claim. */
  const claimsOf = (more: Claims = {}): Claims => {
    const n = ++count;
    const claims: Claims = {
      iss: issuer,
      sub: `user-${n}`,
      aud: addresses().issuer,
      client_id: `${issuer}/agent-auth.json`,
      jti: `jti-${n}`,
      iat: seconds(),
      exp: seconds() + 300,
      auth_time: seconds() - 60,
      email: `user-${n}@example.com`,
      email_verified: true,
      ...more,
    };
    return JSON.parse(JSON.stringify(claims));
  };

  return {
    issuer,
    keys,
    /** Paths of the requests. */
    asked,
    settings,
    rotate,
    sign,
    claimsOf,
    idJag: (more: Claims = {}, pen: Pen = {}): Promise<string> => sign(claimsOf(more), pen),
    /** A security event token. */
    event: (more: Claims = {}, pen: Pen = {}): Promise<string> => {
      const claims: Claims = {
        iss: issuer,
        sub: 'nobody',
        aud: addresses().issuer,
        jti: `set-${++count}`,
        iat: seconds(),
        events: { 'https://schemas.workos.com/events/agent/auth/identity/assertion/revoked': {} },
        ...more,
      };
      const header = { typ: 'secevent+jwt', ...pen.header };
      return sign(JSON.parse(JSON.stringify(claims)), { ...pen, header });
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
