// POST /agent/identity: an agent registers itself, in one of three ways (docs/contract.md#agent-registration; auth.md v0.6). No
// credential is needed, so the rate is counted by source address.
import { z } from 'zod';
import { registrationKinds } from '#domain/identity/agent-identities/model.ts';
import {
  type AgentToBeClaimed,
  type LinkedAgent,
  registerAnonymous,
  registerForEmail,
  registerWithIdJag,
} from '#domain/identity/agent-identities/register.ts';
import { answerJson, type Exchange, type Handler } from '#foundation/http/http.ts';
import { networkOf } from '#foundation/http/network.ts';
import { createSharedThrottle } from '#foundation/http/throttle.ts';
import { ceremonyMembers, checked, claimableMembers, readObject } from './bodies.ts';
import { answerError } from './errors.ts';
import { AnonymousRequest, IdentityAssertionRequest, ServiceAuthRequest, verifiedEmailType } from './records.ts';

const anyKind = z.object({ type: z.enum(registrationKinds) });

export function createAgentRegistration(perHour: number): Handler {
  const throttle = createSharedThrottle(
    'agent-register',
    perHour,
    3_600,
    'Too many agents were registered from this address.',
  );
  /** Counts the request before anything is created and before any signature is verified. */
  const count = ({ address }: Exchange) => throttle.take(networkOf(address));

  return async (exchange) => {
    const body = await readObject(exchange);
    switch (checked(body, anyKind).type) {
      case 'anonymous': {
        const { agent_name } = checked(body, AnonymousRequest);
        await count(exchange);
        const agent = await registerAnonymous(agent_name);
        return answerJson(exchange, 200, {
          registration_id: agent.registrationId,
          registration_type: agent.kind,
          identity_assertion: agent.assertion,
          assertion_expires: agent.expires,
          pre_claim_scopes: [],
          ...claimableMembers(agent),
        });
      }
      case 'service_auth': {
        const { login_hint, agent_name } = checked(body, ServiceAuthRequest);
        await count(exchange);
        return answerJson(exchange, 200, toBeClaimed(await registerForEmail(login_hint, agent_name, exchange.address)));
      }
      case 'identity_assertion': {
        const { assertion_type, assertion, agent_name } = checked(body, IdentityAssertionRequest);
        await count(exchange);
        if (assertion_type === verifiedEmailType) {
          return answerJson(
            exchange,
            200,
            toBeClaimed(await registerForEmail(assertion, agent_name, exchange.address)),
          );
        }
        return answerProvided(exchange, await registerWithIdJag(assertion, agent_name, exchange.address));
      }
    }
  };
}

const toBeClaimed = (agent: AgentToBeClaimed) => ({
  registration_id: agent.registrationId,
  registration_type: agent.kind,
  ...claimableMembers(agent),
  claim: ceremonyMembers(agent.ceremony),
});

/**
 * Answers the registration of a provider's user. If no person has linked this user to an account yet, the response is a 401, because a
 * person must act first (docs/contract.md#errors).
 */
function answerProvided(exchange: Exchange, agent: LinkedAgent | AgentToBeClaimed): void {
  if (!('ceremony' in agent)) {
    const { registrationId, kind, assertion, expires, scopes } = agent;
    answerJson(exchange, 200, {
      registration_id: registrationId,
      registration_type: kind,
      identity_assertion: assertion,
      assertion_expires: expires,
      scopes,
    });
    return;
  }
  answerError(exchange, 401, {
    error: 'interaction_required',
    error_description: 'A person must confirm this agent first: show them the claim link, and poll the token endpoint.',
    ...toBeClaimed(agent),
  });
}
