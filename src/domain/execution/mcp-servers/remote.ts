// Connects to a remote MCP server within the limits of a binding: only to its bound URL and its allowed hosts, with its credentials. The
// official client declares no capabilities, so that a server's request for sampling or elicitation is rejected.
import type { Client } from '@modelcontextprotocol/client';
import { OutboundError, ResponseTooLarge } from '#foundation/http/outbound.ts';
import { boundedFetch } from '#foundation/http/outbound-fetch.ts';
import { sql } from '#foundation/postgres/database.ts';
import { Problem } from '#foundation/problem.ts';
import { unseal } from '#foundation/secrets/secrets.ts';
import { withTimeLimit } from '#foundation/time-limit.ts';
import { withSecrets } from './declared.ts';
import { accessTokenOf, replacedToken } from './grants.ts';
import { mayReach } from './hosts.ts';
import type { McpBinding } from './model.ts';
import { sdk } from './sdk.ts';

const maxResponseBytes = 4 * 1024 * 1024;

/** The sealing context, which binds the ciphertext to this binding. */
export const sealedFor = (bindingId: string, what: 'headers' | 'credentials'): string => `mcp-${what}:${bindingId}`;

export interface Sealed {
  headers: Record<string, string>;
  credentials: Record<string, string>;
}

/** The declared headers and the credentials, in clear text: for a call to this server only, never for a log, an error or a record. */
export async function unsealed(bindingId: string): Promise<Sealed> {
  const [row] = await sql<{ sealedHeaders: string | null; sealedCredentials: string | null }>(
    'select sealed_headers, sealed_credentials from mcp_bindings where id = $1',
    [bindingId],
  );
  const open = (what: 'headers' | 'credentials', sealed: string | null | undefined) =>
    sealed ? JSON.parse(unseal(sealedFor(bindingId, what), sealed)) : {};
  return { headers: open('headers', row?.sealedHeaders), credentials: open('credentials', row?.sealedCredentials) };
}

/** A failed call to a server. The message is worded by this service, because a server's text may be meant to deceive its readers. */
export class McpServerError extends Error {
  /** Whether different credentials might succeed. */
  readonly needsAuthorization: boolean;
  /** Whether the server answered with 401, so that a new access token might succeed. */
  readonly isUnauthorized: boolean;
  /** Whether the server named its authorization server (RFC 9728, section 5.1). */
  wantsOAuth = false;

  constructor(message: string, { needsAuthorization = false, isUnauthorized = false } = {}) {
    super(message);
    this.needsAuthorization = needsAuthorization || isUnauthorized;
    this.isUnauthorized = isUnauthorized;
  }
}

type Work<T> = (client: Client, signal: AbortSignal) => Promise<T>;

/**
 * Connects, does the work and disconnects, all within `timeoutMs`. Repeats this with a new access token when the server rejects the token
 * before its expiry.
 * @throws McpServerError if the exchange with the server fails, for example because a response is invalid; ProtocolError if the server answers
 * a request with a protocol error
 */
export async function withRemote<T>(binding: McpBinding, timeoutMs: number, work: Work<T>): Promise<T> {
  let token: string | null = null;
  try {
    return await attempt(binding, timeoutMs, work, async () => (token = await accessTokenOf(binding)));
  } catch (error) {
    const rejected = error instanceof McpServerError && error.isUnauthorized ? token : null;
    if (rejected === null) throw error;
    return attempt(binding, timeoutMs, work, () => replacedToken(binding, rejected));
  }
}

async function attempt<T>(
  binding: McpBinding,
  timeoutMs: number,
  work: Work<T>,
  tokenOf: () => Promise<string | null>,
): Promise<T> {
  const { Client } = await sdk();
  const broken = new AbortController();
  const signal = withTimeLimit(broken.signal, timeoutMs);
  const client = new Client(
    { name: 'agent-engineering-platform', version: '1' },
    { capabilities: {}, versionNegotiation: { mode: 'auto' } },
  );
  let wantsOAuth = false;
  const seen = ({ status, headers }: Response) => {
    if (status === 401 && /\bresource_metadata=/i.test(headers.get('www-authenticate') ?? '')) wantsOAuth = true;
  };
  try {
    const { transport, secrets } = await transportTo(binding, signal, await tokenOf(), seen);
    await client.connect(transport, { timeout: timeoutMs, signal });
    // The transport reports a broken or too large stream only here; without this handler the request would never end.
    client.onerror = (error) => broken.abort(error);
    const result = await work(client, signal);
    // Ends the session at the server.
    await transport.terminateSession().catch(() => {});
    return redacted(result, secrets);
  } catch (error) {
    if (signal.reason?.name === 'TimeoutError')
      throw new McpServerError(`The server did not answer within ${timeoutMs / 1_000} seconds.`);
    const failure = await failureOf(broken.signal.aborted ? broken.signal.reason : error);
    if (failure instanceof McpServerError) failure.wantsOAuth = wantsOAuth;
    throw failure;
  } finally {
    client.onerror = () => {};
    await client.close();
  }
}

/** Removes credentials that a server echoes, because readers of its response must not see them. */
function redacted<T>(result: T, secrets: readonly string[]): T {
  const json = JSON.stringify(result);
  const found = secrets.map((secret) => JSON.stringify(secret).slice(1, -1)).filter((secret) => json.includes(secret));
  if (found.length === 0) return result;
  return JSON.parse(found.reduce((text, secret) => text.replaceAll(secret, '[redacted]'), json));
}

/** Minimum length of credentials that are removed: shorter ones could also occur in ordinary text. */
const shortestSecret = 6;

async function transportTo(
  binding: McpBinding,
  signal: AbortSignal,
  token: string | null,
  seen: (response: Response) => void,
) {
  const { StreamableHTTPClientTransport } = await sdk();
  const { headers, credentials } = await unsealed(binding.id);
  const rendered = Object.entries(headers).map(([name, value]) => [name, withSecrets(value, credentials)]);
  // An OAuth connection without a token has just lost it, because the authorization server rejected the refresh token. Other servers are
  // called without a token, to find out whether they require one.
  if (!token && binding.authKind === 'oauth' && !binding.needsAuthorization)
    throw new McpServerError('The server must be connected again.', { needsAuthorization: true });
  const ask = boundedFetch({ maxBytes: maxResponseBytes, signal, mayReach: mayReach(binding) });
  const transport = new StreamableHTTPClientTransport(new URL(binding.pinnedUrl!), {
    requestInit: { headers: Object.fromEntries(rendered), redirect: 'manual' },
    // The server's notification stream is not used.
    fetch: async (url, init) => {
      if (init?.method === 'GET') return new Response(null, { status: 405 });
      const response = await ask(url, init);
      seen(response);
      return response;
    },
    ...(token && { authProvider: { token: async () => token } }),
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1_000,
      maxReconnectionDelay: 1_000,
      reconnectionDelayGrowFactor: 1,
    },
  });
  const secrets = [...Object.values(credentials), ...(token ? [token] : [])];
  return { transport, secrets: secrets.filter(({ length }) => length >= shortestSecret) };
}

async function failureOf(error: unknown): Promise<unknown> {
  const { ProtocolError, SdkHttpError, UnauthorizedError } = await sdk();
  if (error instanceof McpServerError || error instanceof ProtocolError || error instanceof Problem) return error;
  const status = error instanceof SdkHttpError ? error.status : undefined;
  if (error instanceof UnauthorizedError || status === 401)
    return new McpServerError('The server requires credentials.', { isUnauthorized: true });
  if (status === 403) return new McpServerError('The server refused the credentials.', { needsAuthorization: true });
  if (status) return new McpServerError(`The server answered with status ${status}.`);
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ResponseTooLarge)
      return new McpServerError('The server returned a response that is too large.');
    if (cause instanceof OutboundError) return new McpServerError('The server cannot be reached.');
  }
  return new McpServerError('The server returned an invalid response.');
}
