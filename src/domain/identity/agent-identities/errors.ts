// Errors of the agent endpoints: the contract's `AgentAuthError` (auth.md v0.6; docs/contract.md#agent-errors). An error contains its HTTP
// status; the endpoint only sends it.
import { lifetimesMs } from '#limits.ts';

export class AgentAuthError extends Error {
  readonly status: number;
  readonly error: string;
  readonly description: string;
  /** Maximum age in seconds of the login that the error demands; undefined when the error demands none. */
  readonly maxAge: number | undefined;

  constructor(status: number, error: string, description: string, maxAge?: number) {
    super(`${error}: ${description}`);
    this.name = 'AgentAuthError';
    this.status = status;
    this.error = error;
    this.description = description;
    this.maxAge = maxAge;
  }
}

const maker =
  (error: string, status = 400) =>
  (description: string): AgentAuthError =>
    new AgentAuthError(status, error, description);

/** The body, or an assertion in the body, is malformed. */
export const invalidAgentRequest = maker('invalid_request');
export const invalidLoginHint = maker('invalid_login_hint');
/** The provider is not on the trust list. */
export const issuerNotEnabled = maker('issuer_not_enabled');
/** The signature, its algorithm or its key is invalid. */
export const invalidSignature = maker('invalid_signature');
export const expired = maker('expired');
export const invalidAudience = maker('invalid_audience');
export const replayDetected = maker('replay_detected');
export const invalidClientId = maker('invalid_client_id');
export const missingVerifiedEmail = maker('missing_verified_email');
/** The person's login at the provider is too old, or of unknown age. */
export const loginRequired = (description: string): AgentAuthError =>
  new AgentAuthError(401, 'login_required', description, lifetimesMs.idJagLogin / 1_000);

/** The claim token is unknown or was replaced by a later one; the error does not tell which. */
export const invalidClaimToken = maker('invalid_claim_token', 401);
/** A registration can name an account: only the person with this account may claim the agent. */
export const emailMismatch = maker('email_mismatch');
export const alreadyClaimed = maker('claimed_or_in_flight', 409);
export const claimExpired = maker('claim_expired', 410);
