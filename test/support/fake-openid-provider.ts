// A small OpenID provider (OpenID Connect Core §3.1, Discovery): signs in the given user, checks the client's requests, and sends false responses on demand.
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

export type OpenIdProvider = Awaited<ReturnType<typeof openOpenIdProvider>>;

export const client = { clientId: 'the console', clientSecret: 'a secret: & more' };

/** Behaviour of the next sign-in; `behave()` resets it. */
interface Behaviour {
  /** Claims of the ID token in addition to the standard ones. */
  claims: JWTPayload;
  /** Claims of the userinfo endpoint. */
  userinfo: Record<string, unknown>;
  /** The error that the provider returns instead of a code. */
  error: string | null;
  isAway: boolean;
  signsWithForeignKey: boolean;
  /** An additional member of the metadata. */
  padding: string | undefined;
  authMethods: string[] | undefined;
}

const good = (): Behaviour => ({
  claims: { email: 'ada@example.com', email_verified: true, name: 'Ada Lovelace' },
  userinfo: {},
  error: null,
  isAway: false,
  signsWithForeignKey: false,
  padding: undefined,
  authMethods: undefined,
});

export async function openOpenIdProvider() {
  const key = await generateKeyPair('ES256');
  const foreign = await generateKeyPair('ES256');
  const codes = new Map<string, URLSearchParams>();
  let behaviour = good();
  /** The client's last authentication method at the token endpoint. */
  let provedBy: string | null = null;

  const server = createServer((req, res) => {
    answer(req, res).catch((error) => res.destroy(error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url!, issuer);
    const json = (status: number, value: unknown) => {
      res.writeHead(status, { 'content-type': 'application/json' });
      res.end(JSON.stringify(value));
    };
    if (behaviour.isAway) return json(503, {});
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return json(200, {
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          userinfo_endpoint: `${issuer}/userinfo`,
          jwks_uri: `${issuer}/jwks`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['ES256'],
          token_endpoint_auth_methods_supported: behaviour.authMethods,
          padding: behaviour.padding,
        });
      case '/jwks':
        return json(200, { keys: [{ ...(await exportJWK(key.publicKey)), alg: 'ES256', kid: '1', use: 'sig' }] });
      case '/authorize': {
        const back = new URL(url.searchParams.get('redirect_uri')!);
        back.searchParams.set('state', url.searchParams.get('state')!);
        if (behaviour.error) back.searchParams.set('error', behaviour.error);
        else {
          const code = randomBytes(16).toString('hex');
          codes.set(code, url.searchParams);
          back.searchParams.set('code', code);
        }
        res.writeHead(302, { location: back.href });
        res.end();
        return;
      }
      case '/token': {
        const form = new URLSearchParams(await textOf(req));
        const asked = codes.get(form.get('code')!);
        codes.delete(form.get('code')!);
        const challenge = createHash('sha256').update(form.get('code_verifier')!).digest('base64url');
        if (!isClient(req, form)) return json(401, { error: 'invalid_client' });
        const isGood =
          asked?.get('code_challenge_method') === 'S256' &&
          asked.get('code_challenge') === challenge &&
          asked.get('redirect_uri') === form.get('redirect_uri');
        if (!isGood) return json(400, { error: 'invalid_grant' });
        return json(200, {
          access_token: 'opaque',
          token_type: 'Bearer',
          id_token: await idToken(asked.get('nonce')!),
        });
      }
      case '/userinfo':
        if (req.headers.authorization !== 'Bearer opaque') return json(401, {});
        return json(200, { sub: 'user 1', ...behaviour.userinfo });
      default:
        return json(404, {});
    }
  }

  function isClient(req: IncomingMessage, form: URLSearchParams): boolean {
    const { clientId, clientSecret } = client;
    const coded = (text: string) => new URLSearchParams({ t: text }).toString().slice(2);
    const basic = `Basic ${Buffer.from(`${coded(clientId)}:${coded(clientSecret)}`).toString('base64')}`;
    const sent = req.headers.authorization;
    provedBy = sent ? 'client_secret_basic' : 'client_secret_post';
    if (sent) return sent === basic;
    return form.get('client_id') === clientId && form.get('client_secret') === clientSecret;
  }

  const idToken = (nonce: string): Promise<string> =>
    new SignJWT({ nonce, iss: issuer, aud: client.clientId, sub: 'user 1', ...behaviour.claims })
      .setProtectedHeader({ alg: 'ES256', kid: '1' })
      .setIssuedAt()
      .setExpirationTime(behaviour.claims.exp ?? '5m')
      .sign(behaviour.signsWithForeignKey ? foreign.privateKey : key.privateKey);

  return {
    issuer,
    get provedBy() {
      return provedBy;
    },
    behave(how: Partial<Behaviour> = {}): void {
      behaviour = { ...good(), ...how };
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function textOf(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
