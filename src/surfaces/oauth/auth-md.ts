// /auth.md: the discovery documents as prose for agents (auth.md v0.6). Every URL and list in it is current; validators of such documents
// expect the six steps, the error table and their headings.
import { defaultScopes } from '#domain/identity/oauth/authorization-request.ts';
import { resourceUri } from '#domain/identity/oauth/resources.ts';
import { hours, isoTime, now } from '#foundation/clock.ts';
import { addresses, baseUrl } from '#foundation/http/addresses.ts';
import { lifetimesMs, polling, tries } from '#limits.ts';
import { authorizationServerMetadata, type MetadataSettings, resourceDocuments } from './metadata.ts';

const json = (value: unknown): string => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;

function http(method: string, address: string, type: string, body: string): string {
  const { host, pathname } = new URL(address);
  return `\`\`\`http\n${method} ${pathname} HTTP/1.1\nHost: ${host}\nContent-Type: ${type}\n\n${body}\n\`\`\``;
}

const post = (address: string, body: unknown): string =>
  http('POST', address, 'application/json', JSON.stringify(body, null, 2));

const form = (address: string, parameters: Record<string, string>): string =>
  http('POST', address, 'application/x-www-form-urlencoded', new URLSearchParams(parameters).toString());

export function authMd(settings: MetadataSettings): string {
  const metadata = authorizationServerMetadata(settings);
  const { issuer, token_endpoint, revocation_endpoint, agent_auth } = metadata;
  const [metadataUrl, resource] = [...resourceDocuments()][0]!;
  const scopes = defaultScopes.slice(0, 2);
  const soon = isoTime(now() + lifetimesMs.claimWindow);
  const ceremony = {
    user_code: '042917',
    verification_uri: `${issuer}/claim?claim_attempt_token=cvt_9kQ2`,
    expires_in: lifetimesMs.userCode / 1_000,
    interval: polling.intervalSeconds,
  };
  const idJag = {
    type: 'identity_assertion',
    assertion_type: 'urn:ietf:params:oauth:token-type:id-jag',
    assertion: 'eyJ0eXAiOiJvYXV0aC1pZC1qYWcrand0IiwiYWxnIjoiRVMyNTYifQ.e30.c2ln',
  };
  const idJagClaims = {
    iss: 'https://provider.example',
    sub: 'user-1',
    aud: resource.resource,
    client_id: 'https://provider.example/agent-auth.json',
    email: 'you@example.com',
    email_verified: true,
    jti: '7d3c5e7e-0a52-4f0e-9b5e-0f8f3c1f6a11',
    iat: 1795219385,
    exp: 1795219685,
    auth_time: 1795219000,
  };
  const trusted = agent_auth.identity_assertion.trusted_issuers;

  return `# auth.md

How a program gets a credential for the Agent Engineering Platform. The resource server is ${resource.resource}, the API begins at
${baseUrl()}, and the authorization server is ${issuer}. No browser and no prior account is needed to begin; a person decides
what you may do.

## Step 1 — Discover

Call the API without a token: the 401 names the resource metadata in its \`WWW-Authenticate\` header. It is at ${metadataUrl}:

${json(resource)}

The authorization server describes itself at ${issuer}/.well-known/oauth-authorization-server:

${json(metadata)}

## Step 2 — Pick a method

| You have | Use | What happens |
|---|---|---|
| an identity assertion (ID-JAG) from a trusted provider | \`identity_assertion\` | the first time a person confirms the link; afterwards no person is needed |
| the email address of your user | \`service_auth\` | your user confirms with a code |
| neither | \`anonymous\` | you may call /me and /scopes; a person can claim you within ${lifetimesMs.claimWindow / hours(1)} hours |

Trusted providers: ${trusted.length > 0 ? trusted.join(', ') : 'none at present'}.

Clients with a browser at hand (MCP and agent-to-agent clients) use the authorization code flow with PKCE instead: register at
${metadata.registration_endpoint}, or use the https address of your client metadata document as \`client_id\`, and open
${metadata.authorization_endpoint}.

## Step 3 — Register

\`POST /agent/identity\` below ${baseUrl()}, without a credential.

Anonymous:

${post(agent_auth.identity_endpoint, { type: 'anonymous', agent_name: 'Release notes agent' })}

${json({
  registration_id: 'reg_9kQ2',
  registration_type: 'anonymous',
  identity_assertion: 'eyJ0eXAiOiJvYXV0aC1pZC1qYWcrand0IiwiYWxnIjoiRVMyNTYifQ.e30.c2ln',
  assertion_expires: soon,
  pre_claim_scopes: [],
  claim_url: agent_auth.claim_endpoint,
  claim_token: 'clm_9kQ2',
  claim_token_expires: soon,
  post_claim_scopes: scopes,
})}

With the email address of your user:

${post(agent_auth.identity_endpoint, { type: 'service_auth', login_hint: 'you@example.com' })}

With an ID-JAG:

${post(agent_auth.identity_endpoint, idJag)}

Its claims, in a JWT of type \`oauth-id-jag+jwt\`; the login (\`auth_time\`) must not be older than one hour, each \`jti\` works once:

${json(idJagClaims)}

## Step 4 — Claim ceremony

After \`service_auth\`, and after a 401 \`interaction_required\`, the answer holds a \`claim\` block. After \`anonymous\` ask for one
with \`POST /agent/identity/claim\`:

${post(agent_auth.claim_endpoint, { claim_token: 'clm_9kQ2', email: 'you@example.com' })}

${json({ registration_id: 'reg_9kQ2', claim_attempt_id: 'cla_9kQ2', status: 'initiated', expires_at: soon, claim_attempt: ceremony })}

Show your user the \`verification_uri\` and the \`user_code\`. They sign in with that email address, type the code and choose the
access. The code is valid for ten minutes and ${tries.wrongUserCodes} tries. Meanwhile poll every \`interval\` seconds:

${form(token_endpoint, { grant_type: settings.claimGrantType, claim_token: 'clm_9kQ2' })}

The answer holds an access token and a new identity assertion, which replaces the first. The claim token is then used up.

## Step 5 — Exchange the assertion

\`POST /oauth2/token\` below ${baseUrl()}, form-encoded. \`resource\` chooses what the token is for: ${resourceUri('api')} by default,
or ${resourceUri('mcp')}.

${form(token_endpoint, {
  grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
  assertion: 'eyJ0eXAiOiJvYXV0aC1pZC1qYWcrand0IiwiYWxnIjoiRVMyNTYifQ.e30.c2ln',
  resource: resource.resource,
})}

${json({
  access_token: 'agt_9kQ2',
  token_type: 'Bearer',
  expires_in: lifetimesMs.agentAccessToken / 1_000,
  scope: scopes.join(' '),
})}

When the token expires, send the same assertion again.

## Step 6 — Use the access_token

Send it in the \`Authorization\` header and nowhere else:

\`\`\`http
GET /v1/me HTTP/1.1
Host: ${new URL(addresses().baseHost).host}
Authorization: Bearer agt_9kQ2
\`\`\`

A 401 with \`error="invalid_token"\` means: exchange the assertion again. A 403 with \`missing-scope:…\` names what the person did
not grant; repeating with the same token does not help.

## Errors

| Code | Where | What to do |
|---|---|---|
| \`invalid_request\` | /agent/identity, /agent/identity/claim, /oauth2/token | Correct what \`error_description\` names. |
| \`issuer_not_enabled\` | /agent/identity | The provider is not trusted here; pick another method. |
| \`interaction_required\` | /agent/identity (401) | Run the claim ceremony with the \`claim\` block of the answer. |
| \`login_required\` | /agent/identity (401) | Have your user log in at the provider again; \`max_age\` says how fresh. |
| \`rate_limited\` | all (429) | Wait for \`Retry-After\` seconds. |
| \`invalid_claim_token\` | /agent/identity/claim (401) | Register again. |
| \`claimed_or_in_flight\` | /agent/identity/claim (409) | A person has claimed you: poll the token endpoint. |
| \`claim_expired\` | /agent/identity/claim (410) | Register again. |
| \`invalid_grant\` | /oauth2/token | The assertion expired, was replaced by a claim, or was revoked: register again. |
| \`invalid_client\` | /oauth2/token (401) | Register the client again. |
| \`unsupported_grant_type\` | /oauth2/token | See \`grant_types_supported\`. |
| \`authorization_pending\` | /oauth2/token | Keep polling at the interval. |
| \`slow_down\` | /oauth2/token | Add five seconds to the interval. |
| \`expired_token\` | /oauth2/token | The code expired or was locked: request a new one at /agent/identity/claim. |
| \`access_denied\` | /oauth2/token | The person denied the request. |

## Revocation

To end one token, send it with \`POST /oauth2/revoke\`; the answer is 200 in any case:

${form(revocation_endpoint, { token: 'agt_9kQ2' })}

A person can revoke you at any time. From then on every token is answered with 401 and the assertion with \`invalid_grant\`.
`;
}
