// Finds the person for the console's session cookie. Besides the console, /graphql and /v1 accept it, but only for requests from the
// service's own pages (docs/decisions/0032-sign-in-without-passwords.md): a foreign site can make a browser send the cookie, but cannot set
// the headers that prove where a request comes from.
import type { IncomingMessage } from 'node:http';
import type { Caller } from '#access/principal.ts';
import { callerOfSession, type SessionInUse } from '#domain/identity/sessions/caller.ts';
import { addresses } from '#foundation/http/addresses.ts';
import type { Exchange } from '#foundation/http/http.ts';
import { plainAddress } from '#foundation/http/network.ts';
import { forbidden } from '#foundation/problem.ts';
import { sameBytes, signature } from '#foundation/secrets/secrets.ts';
import { lifetimesMs } from '#limits.ts';

const isHttps = (): boolean => addresses().issuer.startsWith('https:');

/**
 * Browsers accept a cookie whose name has the prefix `__Host-` only if the cookie has the attributes `Secure` and `Path=/`, and no attribute
 * `Domain` (RFC 6265bis §4.1.3.2). So no other host can set or receive the cookie.
 */
const assignment = (name: string): string => `${isHttps() ? '__Host-' : ''}${name}=`;

/** The value of one of the service's cookies in the request, or null. */
export function cookieOf({ req }: Exchange, name: string): string | null {
  const start = assignment(name);
  const pair = req.headers.cookie?.split(';').find((part) => part.trimStart().startsWith(start));
  return pair?.trim().slice(start.length) || null;
}

/** Sets a cookie with the response or, with null, deletes it. Scripts of pages cannot read the cookie. */
export function setCookie({ res }: Exchange, name: string, value: string | null, lifetime: number): void {
  const start = assignment(name);
  const others = [res.getHeader('set-cookie') ?? []].flat().map(String);
  const age = value === null ? 0 : lifetime / 1_000;
  const cookie = `${start}${value ?? ''}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Lax${isHttps() ? '; Secure' : ''}`;
  res.setHeader('set-cookie', [...others.filter((other) => !other.startsWith(start)), cookie]);
}

/** The secret of the request's session cookie, or null. */
export const sessionSecret = (exchange: Exchange): string | null => cookieOf(exchange, 'session');

/** Sets the session cookie or, with null, deletes it. */
export const setSessionCookie = (exchange: Exchange, secret: string | null): void =>
  setCookie(exchange, 'session', secret, lifetimesMs.consoleSession);

const isSafe = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD';

/**
 * Whether the request comes from the service's own pages. Browsers send this in `Sec-Fetch-Site` (W3C Fetch Metadata; `none` is a page
 * load that the person started); older ones in `Origin`.
 */
export function sameOrigin(req: IncomingMessage): boolean {
  const site = req.headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || (site === 'none' && isSafe(req));
  const { issuer, baseHost } = addresses();
  const { origin } = req.headers;
  return origin !== undefined && (origin === new URL(issuer).origin || origin === new URL(baseHost).origin);
}

/** The value of `csrf_token` in forms of this session, and of `X-CSRF-Token` from scripts. */
export const csrfToken = (sessionId: string): string => signature('csrf', sessionId).toString('base64url');

export const isCsrfToken = (sessionId: string, token: unknown): boolean =>
  typeof token === 'string' && sameBytes(Buffer.from(token), Buffer.from(csrfToken(sessionId)));

/** The session of the request's cookie and its caller, or null. Extends the cookie together with the session. */
export async function sessionOf(
  exchange: Exchange,
  wantedOrgId: string | null = null,
): Promise<{ caller: Caller; session: SessionInUse } | null> {
  const secret = sessionSecret(exchange);
  const found = secret === null ? null : await callerOfSession(secret, wantedOrgId, plainAddress(exchange.address));
  if (found?.session.renewed) setSessionCookie(exchange, secret);
  return found;
}

/**
 * Returns the caller of an API request without an Authorization header, by the session cookie. Null if there is no cookie, if the session
 * has ended, or if the request comes from another site. @throws 403 for a request of the service's own pages that changes data without the
 * token of the session; 404 for a foreign organization in `X-Org-Id`
 */
export async function callerOfCookie(exchange: Exchange): Promise<Caller | null> {
  const { req } = exchange;
  if (!sameOrigin(req)) return null;
  const wanted = req.headers['x-org-id'];
  const found = await sessionOf(exchange, typeof wanted === 'string' && wanted !== '' ? wanted : null);
  if (found && !isSafe(req) && !isCsrfToken(found.session.id, req.headers['x-csrf-token'])) {
    throw forbidden('A request that changes data with the session cookie requires the X-CSRF-Token header.');
  }
  return found?.caller ?? null;
}
