// What broke in an execution of one of our own documents, whichever surface made it.
import type { GraphQLError } from 'graphql';
import { invalid, toProblem } from '#foundation/problem.ts';

/** The error to raise: a problem of a verb, a variable that GraphQL refused (the caller's mistake, 400), or a fault of ours as it is. */
export function causeOf(errors: readonly unknown[]): unknown {
  const error = errors[0] as GraphQLError;
  const problem = toProblem(error);
  if (problem.status < 500) return problem;
  // A refused variable carries no path, because no resolver ran.
  const ours = error.originalError && error.originalError.name !== 'GraphQLError';
  const refused = problem.status === 500 && error.name === 'GraphQLError' && !error.path && !ours;
  return refused ? invalid(error.message) : error;
}
