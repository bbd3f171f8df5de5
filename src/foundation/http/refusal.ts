// A refusal of a request, for the audit log.

export interface Refusal {
  kind: 'operation' | 'credential' | 'sign_in';
  /** The operation, the credential that is not accepted, or the person who could not sign in. */
  id: string;
  name: string | null;
  reason: string;
  /** Organizations that hear of it; that of the caller when absent. */
  organizations?: readonly string[];
}
