// Clients whose client_id is a URL: the metadata document is fetched, checked, and stored for at most as long as its server allows; errors
// are not stored (draft-ietf-oauth-client-id-metadata-document; MCP authorization 2025-11-25). foundation/http/outbound.ts makes the
// request safe.
import { z } from 'zod';
import { hours, minutes, now, seconds } from '#foundation/clock.ts';
import { freshnessMs } from '#foundation/http/http-cache.ts';
import { type Fetched, fetchJson, OutboundError } from '#foundation/http/outbound.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { sql } from '#foundation/postgres/database.ts';
import { isVisibleLine } from '#foundation/visible-text.ts';
import { redirectUrisPerClient, text } from '#limits.ts';
import { invalidClient } from './errors.ts';
import { redirectUriError } from './redirect-uris.ts';

export const maxDocumentBytes = 10 * 1024;
const timeoutMs = seconds(5);
/** Minimum and maximum time for which a document is cached, regardless of its `Cache-Control`. */
const cacheMs = { min: minutes(1), max: hours(24) } as const;

export class ClientDocument extends table('client_documents', {
  url: column<string>(),
  name: column<string>(),
  redirectUris: column<string[]>(),
  fetchedAt: column<number>(),
  freshUntil: column<number>(),
}) {}

/** Whether a client_id is the URL of a document; ids of registered clients are not URLs. */
export const isDocumentAddress = (clientId: string): boolean => /^https:/i.test(clientId);

/** The last valid document, however old. Nothing is fetched. */
export const findClientDocument = (url: string): Promise<ClientDocument | undefined> => ClientDocument.find({ url });

interface DocumentClient {
  id: string;
  name: string;
  redirectUris: readonly string[];
}

const pending = new Map<string, Promise<ClientDocument>>();

/**
 * Returns the client that the metadata document at this URL describes. The document is fetched unless the cached copy of the document is
 * fresh. @throws invalid_client, and the errors of `beforeFetch`
 */
export async function readClientDocument(url: string, beforeFetch: () => Promise<unknown>): Promise<DocumentClient> {
  const violation = addressError(url);
  if (violation) throw invalidClient(`client_id: ${violation}.`);
  const { name, redirectUris } = await readOnce(url, beforeFetch);
  return { id: url, name, redirectUris };
}

function addressError(url: string): string | null {
  if (url.length > text.clientId.max) return `must be at most ${text.clientId.max} characters`;
  // The URL must be written as a URL parser writes it: no dot segments, however encoded, no upper-case host, no default port.
  if (!URL.canParse(url) || new URL(url).href !== url) return 'must be a URL in its normal form';
  const { protocol, pathname, username, password } = new URL(url);
  if (protocol !== 'https:') return 'must be https';
  if (username || password) return 'must have no user';
  if (url.includes('#')) return 'must have no fragment';
  return pathname === '/' ? 'must have a path' : null;
}

/**
 * Concurrent requests for one document share one look-up in the cache and at most one fetch. With a separate look-up, a request could miss
 * the cache just before another request's fetch ends, and then fetch again.
 */
function readOnce(url: string, beforeFetch: () => Promise<unknown>): Promise<ClientDocument> {
  const other = pending.get(url);
  if (other) return other;
  const reading = freshDocument(url, beforeFetch).finally(() => pending.delete(url));
  pending.set(url, reading);
  return reading;
}

async function freshDocument(url: string, beforeFetch: () => Promise<unknown>): Promise<ClientDocument> {
  const known = await findClientDocument(url);
  if (known && known.freshUntil > now()) return known;
  await beforeFetch();
  return fetchAndStore(url);
}

const putDocumentSql = `insert into client_documents (url, name, redirect_uris, fetched_at, fresh_until)
  values ($1, $2, $3, $4, $5)
  on conflict (url) do update set name = excluded.name, redirect_uris = excluded.redirect_uris,
    fetched_at = excluded.fetched_at, fresh_until = excluded.fresh_until`;

async function fetchAndStore(url: string): Promise<ClientDocument> {
  const answer = await fetchJson(url, { maxBytes: maxDocumentBytes, timeoutMs }).catch((error) => {
    if (error instanceof OutboundError) throw invalidClient('client_id: its document could not be fetched.');
    throw error;
  });
  const { name, redirectUris } = readDocument(url, answer);
  const fetchedAt = now();
  const freshUntil = fetchedAt + freshnessMs(answer.headers['cache-control'], cacheMs);
  await sql(putDocumentSql, [url, name, redirectUris, fetchedAt, freshUntil]);
  return { url, name, redirectUris, fetchedAt, freshUntil };
}

const metadata = z.object({
  client_id: z.string(),
  client_name: z.string().refine(isVisibleLine).trim().min(1).max(text.clientName.max),
  redirect_uris: z.array(z.string()).min(redirectUrisPerClient.min).max(redirectUrisPerClient.max),
  token_endpoint_auth_method: z.literal('none').optional(),
  // A secret in a public document is not secret, and a client that publishes one expects an authentication method that this service lacks.
  client_secret: z.undefined().optional(),
  client_secret_expires_at: z.undefined().optional(),
});

function readDocument(url: string, { status, body }: Fetched): { name: string; redirectUris: string[] } {
  if (status !== 200) throw invalidClient(`client_id: its document returned status ${status}.`);
  const parsed = metadata.safeParse(body);
  if (!parsed.success) {
    const { path } = parsed.error.issues[0]!;
    throw invalidClient(
      `client_id: its document is not a public client's metadata${path.length > 0 ? ` (${path[0]!.toString()})` : ''}.`,
    );
  }
  const { client_id, client_name, redirect_uris } = parsed.data;
  // Simple string comparison (RFC 3986 §6.2.1): a document is valid only for its own URL.
  if (client_id !== url) throw invalidClient('client_id: its document names a different client_id.');
  const redirectUris = redirect_uris.filter((uri) => redirectUriError(uri) === null);
  if (redirectUris.length === 0) throw invalidClient('client_id: its document has no usable redirect_uris.');
  return { name: client_name, redirectUris };
}
