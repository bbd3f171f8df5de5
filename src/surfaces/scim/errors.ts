// Errors of SCIM (RFC 7644, section 3.12): the status as a text, and a keyword for programs.
import type { Exchange, Headers } from '#foundation/http/http.ts';
import type { Problem } from '#foundation/problem.ts';
import { answerScim } from './answer.ts';

export type ScimType =
  | 'invalidFilter'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue';

/** An error with a status or `scimType` that exists only in SCIM. */
export class ScimError extends Error {
  readonly status: number;
  readonly scimType: ScimType | undefined;

  constructor(status: number, detail: string, scimType?: ScimType) {
    super(detail);
    this.status = status;
    this.scimType = scimType;
  }
}

/** The SCIM keyword for errors of each of these fields. */
const typesOfFields: Readonly<Record<string, ScimType>> = { filter: 'invalidFilter', path: 'invalidPath' };

function scimTypeOf({ status, details: { fields } }: Problem): ScimType | undefined {
  if (status === 409) return fields && 'uniqueness';
  if (status !== 400) return undefined;
  return fields?.[0] ? (typesOfFields[fields[0].path] ?? 'invalidValue') : 'invalidSyntax';
}

const bodyOf = (status: number, detail: string, scimType: ScimType | undefined) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
  status: String(status),
  ...(scimType && { scimType }),
  detail,
});

/** Sends an error that only SCIM has; returns false for any other error. */
export function refuseScimError(exchange: Exchange, error: unknown): boolean {
  if (!(error instanceof ScimError)) return false;
  answerScim(exchange, error.status, bodyOf(error.status, error.message, error.scimType));
  return true;
}

export function refuseScim(exchange: Exchange, problem: Problem): void {
  const headers: Headers = { ...problem.headers };
  answerScim(exchange, problem.status, bodyOf(problem.status, problem.body.description, scimTypeOf(problem)), headers);
}
