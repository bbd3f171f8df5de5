// The endpoints and documents of the authorization server. Programs of any origin may call them, because no cookie is read here (RFC 9700
// §2.6); responses of the token endpoint are never cached (RFC 6749 §5.1).
import { publicKeys } from '#domain/identity/oauth/keys.ts';
import { publishedKeys } from '#domain/lifecycle/audit/tree/keys.ts';
import { answer, answerJson, type Exchange, type Handler } from '#foundation/http/http.ts';
import { notFound } from '#foundation/problem.ts';
import { allowMethods, framed, type Report } from '../frame.ts';
import { authMd } from './auth-md.ts';
import { refuseClient, refuseOAuthError } from './errors.ts';
import { authorizationServerMetadata, type MetadataSettings, resourceDocuments } from './metadata.ts';
import { createClientRegistration } from './register.ts';
import { answerRevocation } from './revoke.ts';
import { createTokenEndpoint } from './token.ts';

export interface OAuthSettings extends MetadataSettings {
  /** Maximum number of registrations per hour from one source address. */
  registrationsPerHour: number;
  report: Report;
}

interface Route {
  method: 'GET' | 'POST';
  handler: Handler;
}

export function createOAuth(settings: OAuthSettings) {
  const routes = new Map<string, Route>();
  const document = (path: string, answerIt: Handler) => routes.set(path, { method: 'GET', handler: answerIt });
  const endpoint = (path: string, handler: Handler) => routes.set(path, { method: 'POST', handler });

  document('/.well-known/oauth-authorization-server', (exchange) =>
    answerDocument(exchange, authorizationServerMetadata(settings)),
  );
  for (const address of resourceDocuments().keys()) document(new URL(address).pathname, answerResourceMetadata);
  document('/.well-known/jwks.json', async (exchange) => answerDocument(exchange, await publicKeys()));
  // Programs that verify checkpoints of audit logs look up the keys here (docs/audit.md).
  document('/.well-known/audit-keys.json', async (exchange) =>
    answerDocument(exchange, { keys: await publishedKeys() }),
  );
  // No ID tokens are issued, so there is no OpenID provider to discover (docs/contract.md#metadata).
  document('/.well-known/openid-configuration', () => {
    throw notFound('document: this is not an OpenID provider; see /.well-known/oauth-authorization-server');
  });
  for (const path of ['/auth.md', '/AUTH.md']) {
    document(path, (exchange) =>
      answer(exchange, 200, authMd(settings), { 'content-type': 'text/markdown; charset=utf-8', ...publicFor5Minutes }),
    );
  }
  endpoint('/v1/oauth2/token', createTokenEndpoint(settings.claimGrantType));
  endpoint('/v1/oauth2/revoke', answerRevocation);
  endpoint('/v1/oauth2/register', createClientRegistration(settings.registrationsPerHour));

  async function handle(exchange: Exchange): Promise<void> {
    const { method, handler } = routes.get(exchange.path)!;
    const { req, res } = exchange;
    exchange.route = exchange.path;
    res.setHeader('access-control-allow-origin', '*');
    if (method === 'POST') {
      res.setHeader('cache-control', 'no-store');
      res.setHeader('pragma', 'no-cache');
    }
    const allowed = method === 'GET' ? ['GET', 'HEAD', 'OPTIONS'] : ['POST', 'OPTIONS'];
    allowMethods(exchange, ...allowed);
    if (req.method === 'OPTIONS') return answerPreflight(exchange, allowed.join(', '));
    await handler(exchange);
  }

  const owns = (path: string) => routes.has(path);
  return {
    name: 'oauth',
    owns,
    handle: framed(handle, { report: settings.report, refuse: refuseClient, refuseOwn: refuseOAuthError }),
  };
}

const publicFor5Minutes = { 'cache-control': 'public, max-age=300' };

const answerDocument = (exchange: Exchange, value: unknown): void =>
  answerJson(exchange, 200, value, publicFor5Minutes);

/** Handlers by path. If two hosts of the service share a path, the Host of the request decides. */
function answerResourceMetadata(exchange: Exchange): void {
  const here = [...resourceDocuments()].filter(([address]) => new URL(address).pathname === exchange.path);
  const [, metadata] = here.find(([address]) => new URL(address).host === exchange.req.headers.host) ?? here[0]!;
  answerDocument(exchange, metadata);
}

/** Answers a CORS preflight (WHATWG Fetch §3.2.2). */
const answerPreflight = (exchange: Exchange, allowed: string): void =>
  answer(exchange, 204, undefined, {
    allow: allowed,
    'access-control-allow-methods': allowed,
    'access-control-allow-headers': 'authorization, content-type, mcp-protocol-version',
    'access-control-max-age': '86400',
  });
