// OAuth clients: programs that registered themselves (RFC 7591), or whose client_id is the address of their metadata document.
// All are public: nobody has a secret, and what a client says of itself is its own word (specification, Authentication 8).
import { now } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { readOne, Stored } from '#foundation/record.ts';
import { findClientDocument, isDocumentAddress, readClientDocument } from './client-documents.ts';
import { invalidClient, invalidClientMetadata, invalidRedirectUri } from './fault.ts';
import { redirectUriFault } from './redirect-uris.ts';

export class OAuthClient extends Stored {
  static override tableName = 'oauth_clients';
  static override columns = [
    'id',
    'name',
    'redirectUris',
    'grantTypes',
    'clientUri',
    'logoUri',
    'applicationType',
    'createdAt',
  ];

  declare id: Id<'client'>;
  /** What the client calls itself. */
  declare name: string | null;
  declare redirectUris: string[];
  declare grantTypes: string[];
  declare clientUri: string | null;
  declare logoUri: string | null;
  declare applicationType: string | null;
  declare createdAt: number;
}

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

/** @throws invalid_redirect_uri, invalid_client_metadata */
export async function registerClient(input: NewClient): Promise<OAuthClient> {
  for (const [i, uri] of input.redirectUris.entries()) {
    const fault = redirectUriFault(uri);
    if (fault) throw invalidRedirectUri(`redirect_uris.${i}: ${fault}.`);
  }
  // What we can't do is left out of the answer (RFC 7591 §3.2.1); a client that can do nothing with us is told so.
  const granted = grantTypes.filter((type) => input.grantTypes?.includes(type) ?? true);
  if (!granted.includes('authorization_code')) {
    throw invalidClientMetadata('grant_types: must hold "authorization_code"; "refresh_token" may stand beside it.');
  }
  if (input.responseTypes && !input.responseTypes.includes('code')) {
    throw invalidClientMetadata('response_types: must hold "code".');
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
  return client as OAuthClient;
}

function webAddress(field: string, address: string | undefined): string | null {
  if (address === undefined) return null;
  if (/^https?:\/\/[^/]/i.test(address) && URL.canParse(address)) return address;
  throw invalidClientMetadata(`${field}: must be an http or https address.`);
}

/** A client, of whichever kind, as the authorization page needs it. */
export interface Client {
  id: string;
  name: string | null;
  redirectUris: readonly string[];
}

/**
 * The client of an authorization request. A metadata document that is not fresh is fetched; `beforeFetch` may throw to prevent it.
 * @throws invalid_client
 */
export async function findClient(clientId: string, beforeFetch: () => Promise<unknown>): Promise<Client> {
  if (isDocumentAddress(clientId)) return readClientDocument(clientId, beforeFetch);
  return (await readOne<OAuthClient>(OAuthClient, { id: clientId })) ?? unknownClient();
}

/** At the token endpoint nothing is fetched: a client whose document was never read has no code. @throws invalid_client */
export async function requireClient(clientId: string): Promise<void> {
  const known = isDocumentAddress(clientId)
    ? await findClientDocument(clientId)
    : await readOne<OAuthClient>(OAuthClient, { id: clientId });
  if (!known) unknownClient();
}

function unknownClient(): never {
  throw invalidClient('client_id: no such client. Register at the registration endpoint.');
}
