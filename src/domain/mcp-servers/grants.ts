// What an authorization server has granted to a binding: kept sealed, refreshed when due by one process at a time, and forgotten
// when it is no longer valid.
import {
  type AuthorizationServerMetadata,
  type OAuthClientInformationMixed,
  OAuthError,
  OAuthErrorCode,
  type OAuthTokens,
  refreshAuthorization,
} from '@modelcontextprotocol/client';
import type { Row } from '#foundation/base-model.ts';
import { now, seconds } from '#foundation/clock.ts';
import { sql, type Transaction, transaction } from '#foundation/database.ts';
import { boundedFetch } from '#foundation/outbound-fetch.ts';
import { seal, unseal } from '#foundation/secrets.ts';
import { mayReach } from './hosts.ts';
import type { McpBinding } from './model.ts';

const maxResponseBytes = 64 * 1024;
/** For all requests of one step together. */
const stepTimeoutMs = seconds(15);
/** How long before it expires an access token is refreshed. */
const refreshAheadMs = seconds(60);

export interface AuthorizationServer {
  /** As the metadata of the protected resource names it. */
  url: string;
  metadata: AuthorizationServerMetadata;
  client: OAuthClientInformationMixed;
  /** RFC 8707. */
  resource: string;
}

export interface Grant {
  server: AuthorizationServer;
  tokens: OAuthTokens;
  /** Digest of the state with which the person came back. */
  completes: string;
}

const purpose = (bindingId: string): string => `mcp-grant:${bindingId}`;

export async function keepGrant(trx: Transaction, bindingId: string, grant: Grant): Promise<void> {
  const { tokens } = grant;
  const expiresAt = tokens.expires_in === undefined ? null : now() + seconds(tokens.expires_in);
  await sql(
    `insert into mcp_grants (binding_id, sealed, expires_at, updated_at) values ($1, $2, $3, $4)
      on conflict (binding_id) do update set sealed = excluded.sealed, expires_at = excluded.expires_at, updated_at = excluded.updated_at`,
    [bindingId, seal(purpose(bindingId), JSON.stringify(grant)), expiresAt, now()],
    trx,
  );
}

export const forgetGrant = (trx: Transaction, bindingId: string) =>
  sql('delete from mcp_grants where binding_id = $1', [bindingId], trx);

interface Kept {
  sealed: string;
  expiresAt: number | null;
}

const isDue = ({ expiresAt }: Kept): boolean => expiresAt !== null && expiresAt - refreshAheadMs <= now();
const grantOf = (bindingId: string, { sealed }: Kept): Grant => JSON.parse(unseal(purpose(bindingId), sealed));

const findKept = async (bindingId: string): Promise<Kept | undefined> =>
  (await sql<Kept>('select sealed, expires_at from mcp_grants where binding_id = $1', [bindingId]))[0];

/** What the binding was granted, also when its token has expired. */
export async function findGrant(bindingId: string): Promise<Grant | undefined> {
  const kept = await findKept(bindingId);
  return kept && grantOf(bindingId, kept);
}

/** An access token that is valid for a while; null when the binding has none, or no longer has one. */
export async function accessTokenOf(binding: Row<McpBinding>): Promise<string | null> {
  const kept = await findKept(binding.id);
  if (!kept) return null;
  return isDue(kept) ? refreshed(binding) : grantOf(binding.id, kept).tokens.access_token;
}

/**
 * A concurrent caller, in any process, waits for the row and finds it refreshed: a refresh token works once. A transaction that
 * is done again after its commit was lost sends a spent token, and the person connects again.
 */
const refreshed = (binding: Row<McpBinding>): Promise<string | null> =>
  transaction(async (trx) => {
    const [kept] = await sql<Kept>(
      'select sealed, expires_at from mcp_grants where binding_id = $1 for update',
      [binding.id],
      trx,
    );
    if (!kept) return null;
    const grant = grantOf(binding.id, kept);
    if (!isDue(kept)) return grant.tokens.access_token;
    const tokens = await askForTokens(binding, grant);
    if (!tokens) {
      await forgetGrant(trx, binding.id);
      await sql(
        'update mcp_bindings set needs_authorization = true, updated_at = $2 where id = $1',
        [binding.id, now()],
        trx,
      );
      return null;
    }
    await keepGrant(trx, binding.id, { ...grant, tokens });
    return tokens.access_token;
  });

/** Asking again does not help (RFC 6749, section 5.2). */
export const finalRefusals: readonly string[] = [
  OAuthErrorCode.InvalidGrant,
  OAuthErrorCode.InvalidClient,
  OAuthErrorCode.InvalidScope,
  OAuthErrorCode.UnauthorizedClient,
  OAuthErrorCode.UnsupportedGrantType,
];

/** Null: there is no refresh token, or its server refuses it for good. @throws what kept its server from answering */
async function askForTokens(binding: Row<McpBinding>, { server, tokens }: Grant): Promise<OAuthTokens | null> {
  const { url, metadata, client: clientInformation, resource } = server;
  if (!tokens.refresh_token) return null;
  try {
    return await refreshAuthorization(url, {
      metadata,
      clientInformation,
      refreshToken: tokens.refresh_token,
      resource,
      fetchFn: oauthFetch(binding),
    });
  } catch (error) {
    if (error instanceof OAuthError && finalRefusals.includes(error.code)) return null;
    throw error;
  }
}

/** For all requests of one step to an authorization server. */
export const oauthFetch = (binding: Pick<McpBinding, 'pinnedUrl' | 'allowedEgressHosts'>) =>
  boundedFetch({
    maxBytes: maxResponseBytes,
    signal: AbortSignal.timeout(stepTimeoutMs),
    mayReach: mayReach(binding),
  });
