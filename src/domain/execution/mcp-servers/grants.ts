// OAuth grants that authorization servers have issued for the MCP servers of bindings. The grants are stored encrypted. A grant is refreshed
// shortly before its access token expires, and only one process at a time refreshes it. A grant that is no longer valid is deleted.
import type {
  AuthorizationServerMetadata,
  OAuthClientInformationMixed,
  OAuthTokens,
} from '@modelcontextprotocol/client';
import { now, seconds } from '#foundation/clock.ts';
import { boundedFetch } from '#foundation/http/outbound-fetch.ts';
import { announce, watch } from '#foundation/postgres/changes.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { digest, seal, unseal } from '#foundation/secrets/secrets.ts';
import { mayReach } from './hosts.ts';
import type { McpBinding } from './model.ts';
import { sdk } from './sdk.ts';

const maxResponseBytes = 64 * 1024;
/** Time limit for all requests of one step together. */
const stepTimeoutMs = seconds(15);
/** How long before its expiry an access token is refreshed. */
const refreshAheadMs = seconds(60);
/** Time limit of a refresh by one process. */
const refreshMs = seconds(20);

export interface AuthorizationServer {
  /** URL of the authorization server, from the metadata of the protected resource. */
  url: string;
  metadata: AuthorizationServerMetadata;
  client: OAuthClientInformationMixed;
  /** Resource identifier of the MCP server (RFC 8707). */
  resource: string;
}

export interface ServerGrant {
  server: AuthorizationServer;
  tokens: OAuthTokens;
  /** Digest of the `state` parameter of the callback that created the grant. A repeated callback is recognized by the same digest. */
  completes: string;
}

export const grantPurpose = (bindingId: string): string => `mcp-grant:${bindingId}`;

export async function keepGrant(trx: Transaction, bindingId: string, grant: ServerGrant): Promise<void> {
  const { tokens } = grant;
  const expiresAt = tokens.expires_in === undefined ? null : now() + seconds(tokens.expires_in);
  await sql(
    `insert into mcp_grants (binding_id, sealed, expires_at, updated_at) values ($1, $2, $3, $4)
      on conflict (binding_id) do update set sealed = excluded.sealed, expires_at = excluded.expires_at,
        updated_at = excluded.updated_at, refreshing_until = null`,
    [bindingId, seal(grantPurpose(bindingId), JSON.stringify(grant)), expiresAt, now()],
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
const grantOf = (bindingId: string, { sealed }: Kept): ServerGrant =>
  JSON.parse(unseal(grantPurpose(bindingId), sealed));

const findKept = async (bindingId: string): Promise<Kept | undefined> =>
  (await sql<Kept>('select sealed, expires_at from mcp_grants where binding_id = $1', [bindingId]))[0];

/** Returns the grant of the binding, even if its access token has expired. */
export async function findGrant(bindingId: string): Promise<ServerGrant | undefined> {
  const kept = await findKept(bindingId);
  return kept && grantOf(bindingId, kept);
}

/** An access token that does not expire soon; null when the binding has no valid grant. */
export async function accessTokenOf(binding: McpBinding): Promise<string | null> {
  const kept = await findKept(binding.id);
  if (!kept) return null;
  return isDue(kept) ? refreshed(binding) : grantOf(binding.id, kept).tokens.access_token;
}

/** A new token that replaces one that the server rejected before its expiry; null when the binding has no valid grant. */
export const replacedToken = (binding: McpBinding, rejected: string): Promise<string | null> =>
  refreshed(binding, rejected);

/**
 * Refreshes the access token. Only one process at a time does so, because a refresh token works only once; no row is locked during the
 * request to the authorization server. Other processes use the access token while it is valid, or else wait.
 * @throws when no process succeeds in time
 */
async function refreshed(binding: McpBinding, rejected?: string): Promise<string | null> {
  for await (const _ of watch([binding.id], AbortSignal.timeout(refreshMs))) {
    const kept = await findKept(binding.id);
    if (!kept) return null;
    const grant = grantOf(binding.id, kept);
    const { access_token: token } = grant.tokens;
    if (token !== rejected && !isDue(kept)) return token;
    if (await claimRefresh(binding.id, kept)) return refresh(binding, grant, kept);
    if (token !== rejected && kept.expiresAt! > now()) return token;
  }
  throw new Error('the access token was not refreshed in time');
}

/** Marks the grant as being refreshed by this process. The mark expires, in case the process dies. */
const claimRefresh = async (bindingId: string, { sealed }: Kept): Promise<boolean> =>
  (
    await sql(
      `update mcp_grants set refreshing_until = $3
        where binding_id = $1 and sealed = $2 and coalesce(refreshing_until, 0) <= $4 returning binding_id`,
      [bindingId, sealed, now() + refreshMs, now()],
    )
  ).length > 0;

/** Refreshes the grant. If a person has connected the server again in the meantime, that newer grant is left unchanged. */
async function refresh(binding: McpBinding, grant: ServerGrant, { sealed }: Kept): Promise<string | null> {
  const { id } = binding;
  const ours = 'delete from mcp_grants where binding_id = $1 and sealed = $2 returning binding_id';
  try {
    const tokens = await askForTokens(binding, grant);
    return await transaction(async (trx) => {
      await announce(trx, id);
      const isOurs = (await sql(ours, [id, sealed], trx)).length > 0;
      if (isOurs && tokens) await keepGrant(trx, id, { ...grant, tokens });
      if (isOurs && !tokens) {
        await sql(
          'update mcp_bindings set needs_authorization = true, updated_at = $2 where id = $1',
          [id, now()],
          trx,
        );
      }
      if (isOurs) return tokens?.access_token ?? null;
      const [kept] = await sql<Kept>('select sealed, expires_at from mcp_grants where binding_id = $1', [id], trx);
      return kept ? grantOf(id, kept).tokens.access_token : null;
    });
  } catch (error) {
    await transaction(async (trx) => {
      await sql(
        'update mcp_grants set refreshing_until = null where binding_id = $1 and sealed = $2',
        [id, sealed],
        trx,
      );
      await announce(trx, id);
    });
    throw error;
  }
}

/** Errors for which a retry is pointless (RFC 6749, section 5.2). */
export const finalRefusals: readonly string[] = [
  'invalid_grant',
  'invalid_client',
  'invalid_scope',
  'unauthorized_client',
  'unsupported_grant_type',
];

/** New tokens; null when there is no refresh token, or the server rejects it permanently. @throws when the server did not answer */
async function askForTokens(binding: McpBinding, { server, tokens }: ServerGrant): Promise<OAuthTokens | null> {
  const { url, metadata, client: clientInformation, resource } = server;
  if (!tokens.refresh_token) return null;
  const { OAuthError, refreshAuthorization } = await sdk();
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

/** The fetch function for all requests of one step to an authorization server. */
export const oauthFetch = (binding: Pick<McpBinding, 'pinnedUrl' | 'allowedEgressHosts'>) =>
  boundedFetch({
    maxBytes: maxResponseBytes,
    signal: AbortSignal.timeout(stepTimeoutMs),
    mayReach: mayReach(binding),
  });

/** The organization in which the person started the sign-in with this `state`, or null. */
export async function organizationOfOAuth(userId: string, state: string): Promise<string | null> {
  const text = 'select org_id from mcp_authorizations where state_digest = $1 and user_id = $2';
  const [found] = await sql<{ orgId: string }>(text, [digest(state), userId]);
  return found?.orgId ?? null;
}
