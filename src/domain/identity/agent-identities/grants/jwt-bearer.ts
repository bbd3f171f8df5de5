// The JWT bearer grant: exchanges the service's own identity assertion for an access token, any number of times (RFC 7523 §2.1;
// docs/contract.md#assertions). Every invalid assertion gets the same answer.
import { transaction } from '#foundation/postgres/database.ts';
import { issueAccessToken } from '../../oauth/access-tokens.ts';
import { requireGrantAddress } from '../../oauth/denied-address.ts';
import { invalidGrant, invalidTarget } from '../../oauth/errors.ts';
import { agentResourceOf } from '../../oauth/resources.ts';
import { type GrantHandler, required } from '../../oauth/token-request.ts';
import { lockRegistration, readAssertion } from '../assertion.ts';

const refused = () =>
  invalidGrant('The assertion was not issued by this service, has expired, was replaced by a claim, or was revoked.');

export const jwtBearer: GrantHandler = async (parameters, source) => {
  const assertion = required(parameters, 'assertion');
  const resource = agentResourceOf(parameters.resource);
  const presented = await readAssertion(assertion);
  if (!presented) throw refused();
  return transaction(async (trx) => {
    const held = await lockRegistration(trx, presented);
    if (!held) throw refused();
    const { registration, grant } = held;
    if (grant) await requireGrantAddress(trx, source, { ...grant, id: registration.id, name: registration.agentName });
    if (!grant && resource !== 'api') throw invalidTarget('resource: an unclaimed agent can only use the API.');
    const { accessToken, expiresIn, scope } = await issueAccessToken(trx, {
      owner: { registrationId: registration.id },
      resource,
      scopes: grant?.scopes ?? [],
      grantExpiresAt: grant?.grantExpiresAt ?? registration.claimExpiresAt,
    });
    return { access_token: accessToken, token_type: 'Bearer', expires_in: expiresIn, scope };
  });
};
