// The records of the agent endpoints as zod objects (docs/contract.md#agent-registration), for the validation of bodies and for the
// OpenAPI document. Unknown members are ignored.
import { z } from 'zod';
import { registrationKinds } from '#domain/identity/agent-identities/model.ts';
import { boundedText, nameText } from '#graph/validation.ts';
import { text } from '#limits.ts';

export const idJagType = 'urn:ietf:params:oauth:token-type:id-jag';
/**
 * An assertion type whose assertion is an email address. Earlier versions of the protocol had it in place of the registration type
 * `service_auth`.
 */
export const verifiedEmailType = 'verified_email';

const agent_name = nameText(text.agentName)
  .optional()
  .describe(`At most ${text.agentName.max} characters; shown to the person as the agent’s own words.`);

export const AnonymousRequest = z.object({
  type: z.literal('anonymous').describe('Anonymous: a person claims the agent later.'),
  agent_name,
});
export const ServiceAuthRequest = z.object({
  type: z.literal('service_auth').describe('Registers with the email address of the person.'),
  login_hint: boundedText(text.loginHint).describe('The email address of the person.'),
  agent_name,
});
export const IdentityAssertionRequest = z.object({
  type: z.literal('identity_assertion').describe('A provider vouches for the agent’s user.'),
  assertion_type: z
    .enum([idJagType, verifiedEmailType])
    .describe('`verified_email` is an earlier name of `service_auth`, with the email address as assertion.'),
  assertion: boundedText(text.assertion).describe('An ID-JAG of a trusted provider.'),
  agent_name,
});
export const AgentIdentityRequest = z
  .discriminatedUnion('type', [AnonymousRequest, ServiceAuthRequest, IdentityAssertionRequest])
  .describe('Registers an agent: anonymously, for the email address of its person, or with an ID-JAG.');

export const InitiateClaimRequest = z
  .object({
    claim_token: boundedText(text.claimToken).describe('The claim token of the registration.'),
    email: boundedText(text.claimEmail).describe('The account that may claim the agent.'),
  })
  .describe('Requests a code for the person who is to claim the agent.');

const isoTime = z.string().meta({ format: 'date-time', description: 'The time in ISO 8601, UTC, with milliseconds.' });
const scopes = z.array(z.string());

export const ClaimCeremony = z
  .object({
    user_code: z
      .string()
      .regex(/^\d{6}$/)
      .describe('Six digits, which the person types at the verification_uri.'),
    verification_uri: z.url().describe('The page on which the person signs in, types the code and chooses the access.'),
    expires_in: z.int().describe('Lifetime of the code in seconds.'),
    expires_at: isoTime,
    interval: z.int().describe('Seconds between polls of the token endpoint.'),
  })
  .describe('A code that the agent shows its person, and where the person types it.');

const claimable = {
  claim_url: z.url().optional().describe('The endpoint that starts a claim.'),
  claim_token: z
    .string()
    .optional()
    .describe('The claim token, returned once: for the claim endpoint, and for polling.'),
  claim_token_expires: isoTime.optional(),
  post_claim_scopes: scopes.optional().describe('Scopes that a person can be expected to grant.'),
  claim: ClaimCeremony.optional().describe('The code for the person, if a claim has been started.'),
};

const registrationType = z.enum(registrationKinds).describe('The way in which the agent registered.');

export const AgentRegistrationResponse = z
  .object({
    registration_id: z.string().describe('The id of the registration, even after it was claimed.'),
    registration_type: registrationType,
    identity_assertion: z
      .string()
      .optional()
      .describe('The assertion to exchange for access tokens at the token endpoint.'),
    assertion_expires: isoTime.optional(),
    pre_claim_scopes: scopes.optional().describe('Scopes before a person claims the agent; always empty.'),
    scopes: scopes.optional().describe('Scopes of an agent whose person has confirmed it before.'),
    ...claimable,
  })
  .describe('The registered agent. The members depend on the type of the registration.');

export const AgentAuthError = z
  .object({
    error: z.string().describe('A code for programs; /auth.md lists the action for each.'),
    error_description: z.string().describe('For developers: the member and its requirement.'),
    max_age: z.int().optional().describe('Maximum age of a login in seconds.'),
    registration_id: z.string().optional().describe('The claim to complete; only for some errors.'),
    registration_type: registrationType.optional(),
    ...claimable,
  })
  .describe(
    'An error of the agent endpoints. With `interaction_required` it contains the claim that a person must complete.',
  );

export const InitiateClaimResponse = z
  .object({
    registration_id: z.string().describe('The agent to be claimed.'),
    claim_attempt_id: z.string().describe('Identifies this code; the next attempt replaces it.'),
    status: z.literal('initiated').describe('Always `initiated`: a person must act next.'),
    expires_at: isoTime,
    claim_attempt: ClaimCeremony.describe('The code for the person.'),
  })
  .describe('The attempt to claim the agent. It replaces the one before.');

export const SecurityEventError = z
  .object({
    err: z.string().describe('An error code of RFC 8935.'),
    description: z.string().describe('For developers, in English.'),
  })
  .describe('Why a security event was refused (RFC 8935 §2.3).');
