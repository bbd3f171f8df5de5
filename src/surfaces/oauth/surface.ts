// The authorization server's own endpoints and documents. Programs of any origin may call them, because no cookie counts here
// (RFC 9700 §2.6); what the token endpoints say is never kept by a cache (RFC 6749 §5.1).
import { publicKeys } from '#domain/oauth/keys.ts';
import { answer, answerJson, type Exchange, type Handler } from '#foundation/http.ts';
import { methodNotAllowed, notFound } from '#foundation/problem.ts';
import { authMd } from './auth-md.ts';
import { answerFailure, type Report } from './failures.ts';
import { authorizationServerMetadata, type MetadataSettings, resourceDocuments } from './metadata.ts';
import { createRegistration } from './register.ts';
import { answerRevocation } from './revoke.ts';
import { createToken } from './token.ts';

export interface OAuthSettings extends MetadataSettings {
  /** Per source address. */
  registrationsPerHour: number;
  /** Told of every problem of ours (5xx) with its cause. */
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
  // No ID tokens are issued, hence there is no OpenID provider to discover (specification, Authentication 8).
  document('/.well-known/openid-configuration', () => {
    throw notFound('document: this is no OpenID provider; see /.well-known/oauth-authorization-server');
  });
  for (const path of ['/auth.md', '/AUTH.md']) {
    document(path, (exchange) =>
      answer(exchange, 200, authMd(settings), { 'content-type': 'text/markdown; charset=utf-8', ...publicFor5Minutes }),
    );
  }
  endpoint('/v1/oauth2/token', createToken(settings.claimGrantType));
  endpoint('/v1/oauth2/revoke', answerRevocation);
  endpoint('/v1/oauth2/register', createRegistration(settings.registrationsPerHour));

  async function handle(exchange: Exchange): Promise<void> {
    const { method, handler } = routes.get(exchange.path)!;
    const { req, res } = exchange;
    exchange.route = exchange.path;
    res.setHeader('access-control-allow-origin', '*');
    if (method === 'POST') {
      res.setHeader('cache-control', 'no-store');
      res.setHeader('pragma', 'no-cache');
    }
    try {
      const allowed = method === 'GET' ? 'GET, HEAD, OPTIONS' : 'POST, OPTIONS';
      if (req.method === 'OPTIONS') return answerPreflight(exchange, allowed);
      if (req.method !== method && !(req.method === 'HEAD' && method === 'GET')) throw methodNotAllowed(allowed);
      await handler(exchange);
    } catch (error) {
      answerFailure(exchange, error, settings.report);
    }
  }

  return { name: 'oauth', owns: (path: string) => routes.has(path), handle };
}

const publicFor5Minutes = { 'cache-control': 'public, max-age=300' };

const answerDocument = (exchange: Exchange, value: unknown): void =>
  answerJson(exchange, 200, value, publicFor5Minutes);

/** By path; where two hosts of ours have the same one, by the host that was asked. */
function answerResourceMetadata(exchange: Exchange): void {
  const here = [...resourceDocuments()].filter(([address]) => new URL(address).pathname === exchange.path);
  const [, metadata] = here.find(([address]) => new URL(address).host === exchange.req.headers.host) ?? here[0]!;
  answerDocument(exchange, metadata);
}

/** Fetch's question before a request from another site (WHATWG Fetch §3.2.2). */
const answerPreflight = (exchange: Exchange, allowed: string): void =>
  answer(exchange, 204, undefined, {
    allow: allowed,
    'access-control-allow-methods': allowed,
    'access-control-allow-headers': 'authorization, content-type, mcp-protocol-version',
    'access-control-max-age': '86400',
  });
