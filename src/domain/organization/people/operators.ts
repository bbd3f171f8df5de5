// The people who run the installation, named by the setting OPERATOR_EMAILS. No role of an organization makes anybody an operator.

let operators: ReadonlySet<string> = new Set();

/** Binds the email addresses, in lower case. */
export function bindOperators(emails: readonly string[]): void {
  operators = new Set(emails);
}

/** Whether the person, who has proved the address at sign-in, runs the installation. */
export const isOperator = ({ email }: { email: string }): boolean => operators.has(email);
