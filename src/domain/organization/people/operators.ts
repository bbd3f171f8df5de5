// The people who run the installation, named by the setting OPERATOR_EMAILS. No role of an organization makes anybody an operator.
import type { Caller } from '#access/principal.ts';

let operators: ReadonlySet<string> = new Set();

/** Sets the email addresses of the operators, in lower case. */
export function bindOperators(emails: readonly string[]): void {
  operators = new Set(emails);
}

/**
 * Whether the person runs the installation and has proved their email address in this session. A sign-in through an organization's identity
 * provider is not such a proof.
 */
export const isOperator = ({ email }: { email: string }, { isOrgOnly }: Pick<Caller, 'isOrgOnly'>): boolean =>
  !isOrgOnly && operators.has(email);
