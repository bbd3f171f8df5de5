// Reasons for rejecting a provider's signed message: one reason per check, with the error code that each endpoint returns for it
// (docs/contract.md#agent-errors; RFC 8935 §2.4). No message text is parsed.
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

/** Error codes of security events (RFC 8935 §2.4, RFC 8936 and their IANA registry). */
export type EventError =
  | 'invalid_request'
  | 'invalid_key'
  | 'invalid_issuer'
  | 'invalid_audience'
  | 'authentication_failed'
  | 'access_denied';

/** The error for each reason: at the registration endpoint, and at the receiver of security events. */
const errors = {
  malformed: [invalidAgentRequest, 'invalid_request'],
  'wrong type': [invalidAgentRequest, 'invalid_request'],
  'untrusted issuer': [issuerNotEnabled, 'invalid_issuer'],
  'wrong algorithm': [invalidSignature, 'authentication_failed'],
  'no such key': [invalidSignature, 'invalid_key'],
  'bad signature': [invalidSignature, 'authentication_failed'],
  expired: [expired, 'authentication_failed'],
  'bad times': [invalidAgentRequest, 'invalid_request'],
  'wrong audience': [invalidAudience, 'invalid_audience'],
  'no subject': [invalidAgentRequest, 'invalid_request'],
  'no id': [invalidAgentRequest, 'invalid_request'],
  'no events': [invalidAgentRequest, 'invalid_request'],
  replayed: [replayDetected, 'invalid_request'],
  'foreign client': [invalidClientId, 'invalid_request'],
  'no verified email': [missingVerifiedEmail, 'invalid_request'],
  'stale login': [loginRequired, 'invalid_request'],
  'other resource': [invalidAgentRequest, 'invalid_request'],
  'not a sender': [invalidAgentRequest, 'access_denied'],
} as const satisfies Record<string, readonly [(description: string) => AgentAuthError, EventError]>;

export type Reason = keyof typeof errors;

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

/** The error that the registration endpoint returns when the verification of a message has failed. */
export const registrationError = ({ reason, message }: VerificationError): AgentAuthError => errors[reason][0](message);

/** The error code that the receiver of security events returns when the verification of a message has failed. */
export const eventError = ({ reason }: VerificationError): EventError => errors[reason][1];
