// A refused request, as recorded in the audit log.

export interface Refusal {
  kind: 'operation' | 'credential' | 'sign_in';
  /** Id of the refused operation, of the credential that is not accepted, or of the person who could not sign in. */
  id: string;
  name: string | null;
  /** The person for whom the credential acted. */
  userId?: string | null;
  reason: string;
  /** Organizations whose audit logs record the refusal; absent means only the caller's organization. */
  organizations?: readonly string[];
}
