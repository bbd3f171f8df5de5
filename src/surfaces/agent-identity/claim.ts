// POST /agent/identity/claim: an agent requests a code for its person to type (docs/contract.md#claims).
import { startClaim } from '#domain/identity/agent-identities/claim.ts';
import { invalidAgentRequest } from '#domain/identity/agent-identities/errors.ts';
import { emailAddress } from '#domain/organization/people/email.ts';
import { isoTime } from '#foundation/clock.ts';
import { answerJson, type Handler } from '#foundation/http/http.ts';
import { ceremonyMembers, checked, readObject } from './bodies.ts';
import { InitiateClaimRequest } from './records.ts';

export const answerClaim: Handler = async (exchange) => {
  const body = await readObject(exchange);
  // Some agents send the email address in the field `login_hint`, because a registration request has the address in a field of this name.
  const { claim_token, email } = checked({ email: body.login_hint, ...body }, InitiateClaimRequest);
  if (!emailAddress.safeParse(email).success) throw invalidAgentRequest('email: must be an email address.');
  const claim = await startClaim(claim_token, { email, address: exchange.address });
  answerJson(exchange, 200, {
    registration_id: claim.registrationId,
    claim_attempt_id: claim.attemptId,
    status: 'initiated',
    expires_at: isoTime(claim.expiresAt),
    claim_attempt: ceremonyMembers(claim),
  });
};
