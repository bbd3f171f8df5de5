// The well-known documents: the capabilities of this authorization server (RFC 8414), the requirements of each resource (RFC 9728), and the
// keys (RFC 7517). Each is built once, from the URLs and settings of the service (docs/contract.md#metadata).
import { catalog } from '#access/scopes.ts';
import { revocationEvents } from '#domain/identity/agent-identities/security-events.ts';
import { offlineAccess } from '#domain/identity/oauth/authorization-request.ts';
import { metadataUrlOf, type Resource, resources, resourceUri } from '#domain/identity/oauth/resources.ts';
import { addresses, baseUrl } from '#foundation/http/addresses.ts';

export interface MetadataSettings {
  /** The name of the claim grant in the metadata. */
  claimGrantType: string;
  trustedIssuers: readonly { issuer: string }[];
}

const scopes = catalog.map((entry) => entry.scope);

export const authMdUrl = (): string => `${addresses().issuer}/auth.md`;

export function authorizationServerMetadata({ claimGrantType, trustedIssuers }: MetadataSettings) {
  const { issuer } = addresses();
  const base = baseUrl();
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${base}/oauth2/token`,
    revocation_endpoint: `${base}/oauth2/revoke`,
    registration_endpoint: `${base}/oauth2/register`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: [
      'authorization_code',
      'refresh_token',
      'urn:ietf:params:oauth:grant-type:jwt-bearer',
      claimGrantType,
    ],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    scopes_supported: [...scopes, offlineAccess],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    protected_resources: resources.map(resourceUri),
    service_documentation: authMdUrl(),
    agent_auth: {
      skill: authMdUrl(),
      identity_endpoint: `${base}/agent/identity`,
      claim_endpoint: `${base}/agent/identity/claim`,
      events_endpoint: `${base}/agent/event/notify`,
      identity_types_supported: ['anonymous', 'identity_assertion', 'service_auth'],
      identity_assertion: {
        assertion_types_supported: ['urn:ietf:params:oauth:token-type:id-jag'],
        trusted_issuers: trustedIssuers.map(({ issuer: trusted }) => trusted),
      },
      events_supported: revocationEvents,
    },
  };
}

const product = 'Agent Engineering Platform';
const names: Record<Resource, string> = {
  api: `${product} API`,
  mcp: `${product} MCP server`,
  a2a: `${product} agent-to-agent endpoint`,
};

const resourceMetadata = (resource: Resource, identifier = resourceUri(resource)) => ({
  resource: identifier,
  resource_name: names[resource],
  authorization_servers: [addresses().issuer],
  scopes_supported: scopes,
  bearer_methods_supported: ['header'],
  resource_documentation: resource === 'api' ? `${addresses().baseHost}/reference` : authMdUrl(),
});

export type ResourceMetadata = ReturnType<typeof resourceMetadata>;

/** Each resource's document by its URL, which is built from the identifier in the document (RFC 9728 §3.3). */
export function resourceDocuments(): Map<string, ResourceMetadata> {
  const identifiers: [Resource, string][] = [
    ...resources.map((resource): [Resource, string] => [resource, resourceUri(resource)]),
    ['api', baseUrl()],
  ];
  const documents = new Map<string, ResourceMetadata>();
  for (const [resource, identifier] of identifiers) {
    documents.set(metadataUrlOf(identifier), resourceMetadata(resource, identifier));
  }
  return documents;
}
