// Decides whether this cell handles a request, or forwards it to the cell of the request's organization. That cell is found by the bearer
// token, by the id of a hook, by the token of a share link, or by the secret in the body of a request to an OAuth endpoint. If a page of
// the console belongs to another cell, the browser is redirected there, because a session is valid only in its own cell.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { keyOfSecret, type RequestKey } from '#domain/lifecycle/moves/keys.ts';
import { forgetPlace, isHere, otherPlaceOf } from '#domain/lifecycle/moves/locate.ts';
import { cellOfSlug } from '#domain/organization/cells/state.ts';
import { seconds } from '#foundation/clock.ts';
import { addressOfCell, statementOfCell } from '#foundation/http/cells.ts';
import { answer, type Exchange, type Handler, mediaType, parseJson } from '#foundation/http/http.ts';
import { invalid, organizationMoving } from '#foundation/problem.ts';
import { bytes } from '#limits.ts';
import { forwardToCell, hasBody, missingHeader } from './forward.ts';

/** Endpoints whose secret is a parameter of the body. */
const withSecretInBody = new Set(['/v1/oauth2/token', '/v1/oauth2/revoke', '/v1/agent/identity/claim']);
const secretParameters = ['refresh_token', 'code', 'token', 'claim_token'] as const;
const bodyMs = seconds(60);

/** Wraps a handler: it handles requests of organizations in this cell; all other requests are forwarded to their cell. */
export const inItsCell =
  (handle: Handler): Handler =>
  async (exchange) => {
    const page = await pageElsewhere(exchange);
    if (page) return answer(exchange, 307, undefined, { location: page, 'cache-control': 'no-store' });
    const key = await keyOf(exchange);
    if (!key) return handle(exchange);
    if (statementOfCell(exchange.req)) {
      // Another cell has already looked up the key, so the request is not forwarded again.
      if (await isHere(key)) return handle(exchange);
      exchange.res.setHeader(missingHeader, '1');
      throw organizationMoving();
    }
    for (let tries = 1; tries <= 2; tries++) {
      const place = await otherPlaceOf(key, exchange.address);
      if (place === null) return handle(exchange);
      exchange.route = '{cell}';
      if (await forwardToCell(place, exchange)) return;
      // The organization has moved since its cell was looked up.
      forgetPlace(key);
      if (hasBody(exchange.req.headers)) break;
    }
    throw organizationMoving();
  };

/**
 * If the request is for a console page of an organization that has moved to another cell, returns the URL of the page in that cell;
 * otherwise null.
 */
async function pageElsewhere({ req, path }: Exchange): Promise<string | null> {
  if (req.method !== 'GET' && req.method !== 'HEAD') return null;
  const slug = /^\/console\/o\/([a-z0-9-]{1,64})(?=\/|$)/.exec(path)?.[1];
  const cell = slug === undefined ? null : await cellOfSlug(slug);
  return cell && addressOfCell(cell) + req.url!;
}

async function keyOf(exchange: Exchange): Promise<RequestKey | null> {
  const { req, path } = exchange;
  const hook = /^\/hooks\/(hok_[0-9a-f]{32})$/.exec(path)?.[1];
  if (hook) return { kind: 'hook', value: hook };
  const shared = /^\/shared\/(shr_[\w-]{43})$/.exec(path)?.[1];
  const secret =
    /^Bearer +(\S+)$/i.exec(req.headers.authorization ?? '')?.[1] ??
    shared ??
    (withSecretInBody.has(path) ? await secretInBody(exchange) : null);
  return secret ? keyOfSecret(secret) : null;
}

async function secretInBody(exchange: Exchange): Promise<string | null> {
  const body = await peek(exchange.req);
  if (body === null) return null;
  const isJson = mediaType(exchange).endsWith('json');
  const parameters = isJson ? readObject(body) : Object.fromEntries(new URLSearchParams(body));
  for (const name of secretParameters) if (typeof parameters[name] === 'string') return parameters[name] as string;
  return null;
}

function readObject(text: string): Record<string, unknown> {
  try {
    const value = parseJson(text);
    return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Reads the body and puts it back for the handler. Null for a body that is too large. @throws 400 for one that does not arrive in time */
async function peek(req: IncomingMessage): Promise<string | null> {
  if (req.method !== 'POST' || !hasBody(req.headers)) return null;
  const signal = AbortSignal.timeout(bodyMs);
  const closed = once(req, 'close', { signal });
  const late = () => Promise.reject(invalid('The body did not arrive in time.'));
  closed.catch(() => {});
  const chunks: Buffer[] = [];
  let size = 0;
  while (size <= bytes.oauthBody) {
    const chunk = req.read() as Buffer | null;
    if (chunk) {
      chunks.push(chunk);
      size += chunk.length;
    } else if (req.complete) break;
    else if (req.destroyed) return null;
    else await Promise.race([once(req, 'readable', { signal }), closed]).catch(late);
  }
  // The bytes are put back at once, because an empty stream would end in the next turn of the event loop.
  const body = Buffer.concat(chunks);
  if (size > 0) req.unshift(body);
  return size > bytes.oauthBody ? null : body.toString('utf8');
}
