// The records of the agent endpoints as zod objects (specification, Credentials and identity): what a body is checked with, and
// what the OpenAPI document prints. Members that are not named are ignored.
import { z } from 'zod';
import { registrationKinds } from '#domain/agent-identities/model.ts';
import { boundedText, nameText } from '#graph/validation.ts';
import { text } from '#limits.ts';

export const idJagType = 'urn:ietf:params:oauth:token-type:id-jag';
/** An earlier word for `service_auth`: the assertion is the email address. */
export const verifiedEmailType = 'verified_email';

const agent_name = nameText(text.agentName)
  .optional()
  .describe('At most 200 characters; shown to the person as the agent’s own words.');

export const AnonymousRequest = z.object({ type: z.literal('anonymous'), agent_name });
export const ServiceAuthRequest = z.object({
  type: z.literal('service_auth'),
  login_hint: boundedText(text.loginHint).describe('The email address of the person.'),
  agent_name,
});
export const IdentityAssertionRequest = z.object({
  type: z.literal('identity_assertion'),
  assertion_type: z
    .enum([idJagType, verifiedEmailType])
    .describe('`verified_email` is an earlier word for `service_auth`, with the email address as assertion.'),
  assertion: boundedText(text.assertion).describe('An ID-JAG of a trusted provider.'),
  agent_name,
});
export const AgentIdentityRequest = z.discriminatedUnion('type', [
  AnonymousRequest,
  ServiceAuthRequest,
  IdentityAssertionRequest,
]);

export const InitiateClaimRequest = z.object({
  claim_token: boundedText(text.claimToken).describe('From the registration.'),
  email: boundedText(text.claimEmail).describe('Whose account may claim the agent.'),
});

const isoTime = z.string().meta({ format: 'date-time', description: 'ISO 8601, UTC, with milliseconds.' });
const scopes = z.array(z.string());

export const ClaimCeremony = z.object({
  user_code: z
    .string()
    .regex(/^\d{6}$/)
    .describe('Six digits, which the person types at the verification_uri.'),
  verification_uri: z.url().describe('Where the person signs in, types the code and chooses the access.'),
  expires_in: z.int().describe('Seconds that the code is good for.'),
  expires_at: isoTime,
  interval: z.int().describe('Seconds between polls of the token endpoint.'),
});

const claimable = {
  claim_url: z.url().optional().describe('Where a claim is started.'),
  claim_token: z.string().optional().describe('Returned once: for the claim endpoint, and for polling.'),
  claim_token_expires: isoTime.optional(),
  post_claim_scopes: scopes.optional().describe('What a person can be expected to grant.'),
  claim: ClaimCeremony.optional(),
};

const registrationType = z.enum(registrationKinds);

export const AgentRegistrationResponse = z.object({
  registration_id: z.string(),
  registration_type: registrationType,
  identity_assertion: z.string().optional().describe('Exchanged for access tokens at the token endpoint.'),
  assertion_expires: isoTime.optional(),
  pre_claim_scopes: scopes.optional(),
  scopes: scopes.optional(),
  ...claimable,
});

export const AgentAuthError = z.object({
  error: z.string(),
  error_description: z.string(),
  max_age: z.int().optional().describe('Seconds: how old a login may be.'),
  registration_id: z.string().optional(),
  registration_type: registrationType.optional(),
  ...claimable,
});

export const InitiateClaimResponse = z.object({
  registration_id: z.string(),
  claim_attempt_id: z.string(),
  status: z.literal('initiated'),
  expires_at: isoTime,
  claim_attempt: ClaimCeremony,
});

export const SecurityEventError = z.object({
  err: z.string().describe('A word of RFC 8935.'),
  description: z.string(),
});
