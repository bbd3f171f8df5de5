// Signs in to the authorization server of a remote MCP server, for a binding: discovery (RFC 9728, RFC 8414), registration (RFC 7591) or
// the client metadata document, PKCE and the resource (RFC 8707). The callback is single-use, time-limited and bound to the person.
import type { AuthorizationServerMetadata, OAuthProtectedResourceMetadata } from '@modelcontextprotocol/client';
import type { Caller } from '#access/principal.ts';
import { ownPerson, withinReach } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { addresses } from '#foundation/http/addresses.ts';
import { HostNotAllowed } from '#foundation/http/outbound-fetch.ts';
import { sql, transaction } from '#foundation/postgres/database.ts';
import { firstStep } from '#foundation/postgres/idempotency.ts';
import { badGateway, conflict, invalid, notFound, Problem } from '#foundation/problem.ts';
import { digest, newSecret, seal, unseal } from '#foundation/secrets/secrets.ts';
import { lifetimesMs } from '#limits.ts';
import { consolePage } from '../../organization/organizations/pages.ts';
import { type AuthorizationServer, finalRefusals, findGrant, keepGrant, oauthFetch } from './grants.ts';
import { McpBinding, obstacleOf } from './model.ts';
import { sdk } from './sdk.ts';
import { findOwnProject } from './view.ts';

/** Redirect URI for authorization servers: a page of the console. */
export const callbackPath = '/console/mcp/callback';
const redirectUrl = (): string => `${addresses().issuer}${callbackPath}`;

/** URL of the service's client metadata document (draft-ietf-oauth-client-id-metadata-document), which is also the client id. */
export const clientPath = '/console/mcp/client.json';
const clientId = (): string => `${addresses().issuer}${clientPath}`;

/** The service's metadata as a client, for registration and for the document. */
const clientMetadata = () => ({
  client_name: 'Agent Engineering Platform',
  client_uri: addresses().issuer,
  redirect_uris: [redirectUrl()],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
});

export const clientDocument = () => ({ client_id: clientId(), ...clientMetadata() });

/** The document needs an https URL that other servers can reach. */
const offersDocument = ({ client_id_metadata_document_supported }: AuthorizationServerMetadata): boolean =>
  client_id_metadata_document_supported === true && clientId().startsWith('https:');

/** State of a sign-in between its start and the callback; stored encrypted. */
interface SignInState {
  server: AuthorizationServer;
  codeVerifier: string;
}

const purpose = (stateDigest: Buffer): string => `mcp-authorization:${stateDigest.toString('hex')}`;

/** Starts a sign-in. @param returnTo A path of the console. @throws 400, 404; 409 when a person must act first; 502 */
export async function startOAuth(
  caller: Caller,
  projectId: string,
  serverName: string,
  returnTo: string | undefined,
): Promise<{ authorizeUrl: string; expiresAt: number }> {
  const userId = ownPerson(caller);
  const { orgId } = await findOwnProject(caller, projectId);
  const binding = await McpBinding.get({ projectId, serverName });
  const obstacle = obstacleOf({ ...binding, needsAuthorization: false });
  if (obstacle) throw conflict(obstacle[1] ?? 'The server is disabled: enable it first.');
  if (binding.transport !== 'remote' || !binding.pinnedUrl) throw conflict('Only a remote server can be connected.');
  const state = await newState();
  const prepared = await explained(binding, () => prepare(binding.pinnedUrl!, binding, state));
  const [stateDigest, expiresAt] = [digest(state), now() + lifetimesMs.mcpSignIn];
  await sql(insertAuthorizationSql, [
    ...[stateDigest, binding.id, orgId, userId, seal(purpose(stateDigest), JSON.stringify(prepared.signIn))],
    ...[returnTo ?? new URL(await consolePage(orgId, `/projects/${projectId}`)).pathname, expiresAt],
  ]);
  return { authorizeUrl: prepared.authorizeUrl, expiresAt };
}

/** A repeated call with the same Idempotency-Key has the same OAuth `state`, so it updates the row of this state. */
const insertAuthorizationSql = `
  insert into mcp_authorizations (state_digest, binding_id, org_id, user_id, sealed, return_to, expires_at)
    values ($1, $2, $3, $4, $5, $6, $7)
  on conflict (state_digest) do update set sealed = excluded.sealed, expires_at = excluded.expires_at`;

/** This step ends every open transaction, even the transaction of an Idempotency-Key, because requests to other servers follow. */
const newState = async (): Promise<string> =>
  unseal('mcp-state', await firstStep(async () => seal('mcp-state', newSecret('', 32))));

async function prepare(serverUrl: string, binding: McpBinding, state: string) {
  const { discoverOAuthServerInfo, registerClient, startAuthorization } = await sdk();
  const fetchFn = oauthFetch(binding);
  const { resourceMetadataUrl, scope } = await challengeOf(serverUrl, fetchFn);
  const { authorizationServerUrl, authorizationServerMetadata, resourceMetadata } = await discoverOAuthServerInfo(
    serverUrl,
    { fetchFn, ...(resourceMetadataUrl && { resourceMetadataUrl }) },
  );
  const metadata = usable(authorizationServerMetadata);
  const resource = await resourceOf(serverUrl, resourceMetadata);
  const scopes = scope ?? resourceMetadata?.scopes_supported?.join(' ');
  const client = offersDocument(metadata)
    ? { client_id: clientId() }
    : await registerClient(authorizationServerUrl, {
        metadata,
        clientMetadata: clientMetadata(),
        ...(scopes && { scope: scopes }),
        fetchFn,
      });
  const { authorizationUrl, codeVerifier } = await startAuthorization(authorizationServerUrl, {
    metadata,
    clientInformation: client,
    redirectUrl: redirectUrl(),
    state,
    resource,
    ...(scopes && { scope: scopes }),
  });
  const server: AuthorizationServer = { url: authorizationServerUrl, metadata, client, resource };
  return { authorizeUrl: authorizationUrl.href, signIn: { server, codeVerifier } satisfies SignInState };
}

/** The server's challenge to a request without credentials (RFC 9728, section 5.1). */
async function challengeOf(serverUrl: string, fetchFn: ReturnType<typeof oauthFetch>) {
  const { extractWWWAuthenticateParams } = await sdk();
  const answer = await fetchFn(serverUrl, { headers: { accept: 'application/json, text/event-stream' } });
  const challenge = answer.status === 401 ? extractWWWAuthenticateParams(answer) : {};
  await answer.body?.cancel();
  return challenge;
}

/** The browser opens this URL. With another scheme, it could run code in the browser. */
function usable(metadata: AuthorizationServerMetadata | undefined): AuthorizationServerMetadata {
  if (!metadata) throw conflict('The server does not name an authorization server.');
  const methods = metadata.code_challenge_methods_supported;
  if (!methods?.includes('S256')) throw conflict('The authorization server does not support PKCE with S256.');
  if (!metadata.registration_endpoint && !offersDocument(metadata))
    throw conflict('The authorization server does not support client registration.');
  const { protocol } = new URL(metadata.authorization_endpoint);
  if (protocol !== 'https:' && protocol !== 'http:') throw conflict('The authorization endpoint is not an HTTP URL.');
  return metadata;
}

async function resourceOf(serverUrl: string, metadata: OAuthProtectedResourceMetadata | undefined): Promise<string> {
  if (!metadata) return serverUrl;
  const { checkResourceAllowed } = await sdk();
  const { resource } = metadata;
  if (checkResourceAllowed({ requestedResource: serverUrl, configuredResource: resource })) return resource;
  throw conflict('The metadata of the server describes a different resource.');
}

/** Errors of other servers are not reported as errors of this service, and their texts are not passed on. */
async function explained<T>(binding: McpBinding, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw Object.assign(await problemOf(binding, error), { cause: error });
  }
}

async function problemOf({ serverName }: McpBinding, error: unknown): Promise<Problem> {
  const { IssuerMismatchError } = await sdk();
  if (error instanceof IssuerMismatchError)
    return conflict('The metadata of the authorization server has a different issuer.');
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (!(cause instanceof HostNotAllowed)) continue;
    return conflict(`The authorization server is at ${cause.hostname}: add it to allowedEgressHosts.`);
  }
  return badGateway(`The authorization server of ${serverName} returned an invalid response.`);
}

interface Pending {
  bindingId: string;
  sealed: string;
  returnTo: string;
}

export interface CallbackParameters {
  code: string;
  state: string;
  /** The issuer that the server names (RFC 9207). */
  iss?: string | undefined;
}

/** Finishes a sign-in. @throws 404 for a state that is unknown, used, expired or another person's; 400 for a refused code or issuer; 502 */
export async function completeOAuth(
  caller: Caller,
  { code, state, iss }: CallbackParameters,
): Promise<{ projectId: string; serverName: string; returnTo: string }> {
  const userId = ownPerson(caller);
  const stateDigest = digest(state);
  const { orgId, projectId: boundTo } = withinReach(caller);
  // The state works only once, so its row is deleted before the code is exchanged. `firstStep` also commits any open transaction.
  const step = await firstStep(async () => {
    const values = [stateDigest, userId, orgId, boundTo ?? null, now()];
    const [found] = await sql<Pending>(takeAuthorizationSql, values);
    if (!found) throw notFound('pending authorization');
    return JSON.stringify(found);
  });
  const pending: Pending = JSON.parse(step);
  const binding = await McpBinding.get({ id: pending.bindingId });
  const completed = { projectId: binding.projectId, serverName: binding.serverName, returnTo: pending.returnTo };
  const completes = stateDigest.toString('hex');
  // A stored grant for this state means that the call is repeated: its first exchange succeeded, but the response was lost.
  if ((await findGrant(binding.id))?.completes === completes) return completed;
  const { server, codeVerifier }: SignInState = JSON.parse(unseal(purpose(stateDigest), pending.sealed));
  // The URL of the binding may have changed in the meantime. The grant must not be sent to the new URL.
  if (!(await isFor(binding, server)))
    throw conflict('The binding of the server has changed. Connect the server again.');
  const tokens = await exchanged(binding, server, { code, iss, codeVerifier });
  await transaction(async (trx) => {
    await keepGrant(trx, binding.id, { server, tokens, completes });
    await McpBinding.patch(
      trx,
      { id: binding.id },
      { authKind: 'oauth', needsAuthorization: false, lastError: null, updatedAt: now() },
    );
  });
  return completed;
}

const takeAuthorizationSql = `delete from mcp_authorizations a using mcp_bindings b
  where a.binding_id = b.id and a.state_digest = $1 and a.user_id = $2 and a.org_id = $3
    and ($4::text is null or b.project_id = $4) and a.expires_at > $5
  returning a.binding_id, a.sealed, a.return_to`;

async function isFor({ pinnedUrl }: McpBinding, { resource }: AuthorizationServer): Promise<boolean> {
  const { checkResourceAllowed } = await sdk();
  return pinnedUrl !== null && checkResourceAllowed({ requestedResource: pinnedUrl, configuredResource: resource });
}

function exchanged(
  binding: McpBinding,
  { url, metadata, client, resource }: AuthorizationServer,
  { code, iss, codeVerifier }: Pick<CallbackParameters, 'code' | 'iss'> & { codeVerifier: string },
) {
  return explained(binding, async () => {
    const { exchangeAuthorization, IssuerMismatchError, OAuthError } = await sdk();
    try {
      return await exchangeAuthorization(url, {
        ...{ metadata, clientInformation: client, authorizationCode: code, codeVerifier, resource },
        ...(iss !== undefined && { iss }),
        redirectUri: redirectUrl(),
        fetchFn: oauthFetch(binding),
      });
    } catch (error) {
      if (error instanceof IssuerMismatchError)
        throw invalid.field('iss', 'is not the authorization server of this sign-in');
      if (error instanceof OAuthError && finalRefusals.includes(error.code))
        throw invalid.field('code', 'was not accepted by the authorization server: connect the server again');
      throw error;
    }
  });
}

export const sweepMcpAuthorizations = () => sql('delete from mcp_authorizations where expires_at <= $1', [now()]);
