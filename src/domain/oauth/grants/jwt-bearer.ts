// The JWT bearer grant: our own identity assertion → an access token, again and again (RFC 7523 §2.1; specification,
// Authentication 7; agent authentication §7.1). Whatever is wrong with the assertion, the answer is the same.
import { transaction } from '#foundation/database.ts';
import { holdRegistration, readAssertion } from '../../agent-identities/assertion.ts';
import { issueAccessToken } from '../access-tokens.ts';
import { invalidGrant, invalidTarget } from '../fault.ts';
import { type Resource, resourceOf } from '../resources.ts';
import { type Grant, required } from '../token-request.ts';

/** What an agent may ask a token for. @throws invalid_target */
export function agentResourceOf(uri: string | undefined): Resource {
  const resource = resourceOf(uri);
  if (resource === 'a2a') throw invalidTarget('resource: agents reach the API and the MCP server.');
  return resource;
}

const refused = () => invalidGrant('The assertion is not ours, expired, was replaced by a claim, or was revoked.');

export const jwtBearer: Grant = async (parameters) => {
  const assertion = required(parameters, 'assertion');
  const resource = agentResourceOf(parameters.resource);
  const presented = await readAssertion(assertion);
  if (!presented) throw refused();
  return transaction(async (trx) => {
    const held = await holdRegistration(trx, presented);
    if (!held) throw refused();
    const { registration, grant } = held;
    if (!grant && resource !== 'api')
      throw invalidTarget('resource: an agent that nobody has claimed reaches the API.');
    const { accessToken, expiresIn, scope } = await issueAccessToken(trx, {
      owner: { registrationId: registration.id },
      resource,
      scopes: grant?.scopes ?? [],
      grantExpiresAt: grant?.grantExpiresAt ?? registration.claimExpiresAt,
    });
    return { access_token: accessToken, token_type: 'Bearer', expires_in: expiresIn, scope };
  });
};
