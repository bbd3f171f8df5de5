// Reasons for rejecting a provider's signed message: one reason per check, and the error code that each endpoint returns for it
// (docs/contract.md#agent-errors; RFC 8935 §2.4). Two exhaustive switches; no message text is parsed.
import {
  type AgentAuthError,
  expired,
  invalidAgentRequest,
  invalidAudience,
  invalidClientId,
  invalidSignature,
  issuerNotEnabled,
  loginRequired,
  missingVerifiedEmail,
  replayDetected,
} from '../errors.ts';

export type Reason =
  | 'malformed'
  | 'wrong type'
  | 'untrusted issuer'
  | 'wrong algorithm'
  | 'no such key'
  | 'bad signature'
  | 'expired'
  | 'bad times'
  | 'wrong audience'
  | 'no subject'
  | 'no id'
  | 'no events'
  | 'replayed'
  | 'foreign client'
  | 'no verified email'
  | 'stale login'
  | 'other resource'
  | 'not a sender';

export class VerificationError extends Error {
  readonly reason: Reason;

  constructor(reason: Reason, description: string) {
    super(description);
    this.name = 'VerificationError';
    this.reason = reason;
  }
}

export function reject(reason: Reason, description: string): never {
  throw new VerificationError(reason, description);
}

/** The error of the registration endpoint. */
export function registrationError({ reason, message }: VerificationError): AgentAuthError {
  switch (reason) {
    case 'untrusted issuer':
      return issuerNotEnabled(message);
    case 'wrong algorithm':
    case 'no such key':
    case 'bad signature':
      return invalidSignature(message);
    case 'expired':
      return expired(message);
    case 'wrong audience':
      return invalidAudience(message);
    case 'replayed':
      return replayDetected(message);
    case 'foreign client':
      return invalidClientId(message);
    case 'no verified email':
      return missingVerifiedEmail(message);
    case 'stale login':
      return loginRequired(message);
    case 'malformed':
    case 'wrong type':
    case 'bad times':
    case 'no subject':
    case 'no id':
    case 'no events':
    case 'other resource':
    case 'not a sender':
      return invalidAgentRequest(message);
  }
}

/** Error codes of security events (RFC 8935 §2.4, RFC 8936 and their IANA registry). */
export type EventError =
  | 'invalid_request'
  | 'invalid_key'
  | 'invalid_issuer'
  | 'invalid_audience'
  | 'authentication_failed'
  | 'access_denied';

/** The error code returned by the receiver of security events. */
export function eventError({ reason }: VerificationError): EventError {
  switch (reason) {
    case 'untrusted issuer':
      return 'invalid_issuer';
    case 'not a sender':
      return 'access_denied';
    case 'no such key':
      return 'invalid_key';
    case 'wrong audience':
      return 'invalid_audience';
    case 'wrong algorithm':
    case 'bad signature':
    case 'expired':
      return 'authentication_failed';
    case 'malformed':
    case 'wrong type':
    case 'bad times':
    case 'no subject':
    case 'no id':
    case 'no events':
    case 'replayed':
    case 'foreign client':
    case 'no verified email':
    case 'stale login':
    case 'other resource':
      return 'invalid_request';
  }
}
