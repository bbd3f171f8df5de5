// Parses the JSON bodies of requests to the agent endpoints, and creates the JSON fields that several responses of these endpoints share.
import type { z } from 'zod';
import type { ClaimCeremony } from '#domain/identity/agent-identities/claim.ts';
import { invalidAgentRequest } from '#domain/identity/agent-identities/errors.ts';
import type { Claimable } from '#domain/identity/agent-identities/register.ts';
import { defaultScopes } from '#domain/identity/oauth/authorization-request.ts';
import { isoTime } from '#foundation/clock.ts';
import { baseUrl } from '#foundation/http/addresses.ts';
import { type Exchange, readJson } from '#foundation/http/http.ts';
import { describeIssues } from '#graph/validation.ts';
import { bytes } from '#limits.ts';

type Members = Record<string, unknown>;

/** Reads the body. @throws invalid_request for anything but a JSON object */
export async function readObject(exchange: Exchange): Promise<Members> {
  const body = await readJson(exchange, bytes.oauthBody);
  if (body === null || typeof body !== 'object' || Array.isArray(body)) {
    throw invalidAgentRequest('The body must be a JSON object.');
  }
  return body as Members;
}

/** Validates the body. @throws invalid_request, naming each invalid member and its requirement */
export function checked<S extends z.ZodType>(body: unknown, record: S): z.output<S> {
  const parsed = record.safeParse(body);
  if (!parsed.success) throw invalidAgentRequest(describeIssues(parsed.error));
  return parsed.data;
}

export const ceremonyMembers = ({ userCode, verificationUri, expiresIn, expiresAt, interval }: ClaimCeremony) => ({
  user_code: userCode,
  verification_uri: verificationUri,
  expires_in: expiresIn,
  expires_at: isoTime(expiresAt),
  interval,
});

/** The code, link and interval with which a person claims an agent. */
export const claimableMembers = ({ claimToken, claimExpiresAt }: Claimable) => ({
  claim_url: `${baseUrl()}/agent/identity/claim`,
  claim_token: claimToken,
  claim_token_expires: isoTime(claimExpiresAt),
  post_claim_scopes: defaultScopes,
});
