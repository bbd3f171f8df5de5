// OAuth clients: programs that registered themselves (RFC 7591), or whose client_id is the URL of their metadata document. All clients are
// public: no client has a secret, and clients' data about themselves is unverified (docs/contract.md#client-registration).

import { now } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { findClientDocument, isDocumentAddress, readClientDocument } from './client-documents.ts';
import { invalidClient, invalidClientMetadata, invalidRedirectUri } from './errors.ts';
import { redirectUriError } from './redirect-uris.ts';

export class OAuthClient extends table('oauth_clients', {
  id: column<Id<'client'>>(),
  /** The client's name for itself, unverified. */
  name: column<string | null>(),
  redirectUris: column<string[]>(),
  grantTypes: column<string[]>(),
  clientUri: column<string | null>(),
  logoUri: column<string | null>(),
  applicationType: column<string | null>(),
  createdAt: column<number>(),
}) {}

export interface NewClient {
  redirectUris: readonly string[];
  name?: string | undefined;
  grantTypes?: readonly string[] | undefined;
  responseTypes?: readonly string[] | undefined;
  clientUri?: string | undefined;
  logoUri?: string | undefined;
  applicationType?: string | undefined;
}

const grantTypes = ['authorization_code', 'refresh_token'];

/** Registers a client. @throws invalid_redirect_uri, invalid_client_metadata */
export async function registerClient(input: NewClient): Promise<OAuthClient> {
  for (const [i, uri] of input.redirectUris.entries()) {
    const violation = redirectUriError(uri);
    if (violation) throw invalidRedirectUri(`redirect_uris.${i}: ${violation}.`);
  }
  // The response omits unsupported grant types (RFC 7591 §3.2.1); a client without a supported one is refused.
  const granted = grantTypes.filter((type) => input.grantTypes?.includes(type) ?? true);
  if (!granted.includes('authorization_code')) {
    throw invalidClientMetadata('grant_types: must contain "authorization_code"; "refresh_token" is optional.');
  }
  if (input.responseTypes && !input.responseTypes.includes('code')) {
    throw invalidClientMetadata('response_types: must contain "code".');
  }
  const client = {
    id: newId('client'),
    name: input.name ?? null,
    redirectUris: [...input.redirectUris],
    grantTypes: granted,
    clientUri: webAddress('client_uri', input.clientUri),
    logoUri: webAddress('logo_uri', input.logoUri),
    applicationType: input.applicationType ?? null,
    createdAt: now(),
  };
  await OAuthClient.query().insert(client);
  return client;
}

function webAddress(field: string, address: string | undefined): string | null {
  if (address === undefined) return null;
  if (/^https?:\/\/[^/]/i.test(address) && URL.canParse(address)) return address;
  throw invalidClientMetadata(`${field}: must be an http or https address.`);
}

/** A client of either kind, with the data that the authorization page shows. */
export interface Client {
  id: string;
  name: string | null;
  redirectUris: readonly string[];
  /** The client's home page, unverified; absent for a client whose id is the URL of its metadata document. */
  clientUri?: string | null;
}

/**
 * The client of an authorization request. A metadata document that is not fresh is fetched; `beforeFetch` may throw to prevent it.
 * @throws invalid_client
 */
export async function findClient(clientId: string, beforeFetch: () => Promise<unknown>): Promise<Client> {
  if (isDocumentAddress(clientId)) return readClientDocument(clientId, beforeFetch);
  return (await OAuthClient.find({ id: clientId })) ?? unknownClient();
}

/**
 * Checks the client at the token endpoint. Nothing is fetched there, because a client whose document was never read has no code. @throws
 * invalid_client
 */
export async function requireClient(clientId: string): Promise<void> {
  const known = isDocumentAddress(clientId)
    ? await findClientDocument(clientId)
    : await OAuthClient.find({ id: clientId });
  if (!known) unknownClient();
}

function unknownClient(): never {
  throw invalidClient('client_id: no such client. Register at the registration endpoint.');
}
