// A problem as the REST API says it: the `Error` body, its status, its headers (specification, Errors).
import type { GraphQLError } from 'graphql';
import { apiResourceMetadata } from '#foundation/addresses.ts';
import { answerJson, type Exchange } from '#foundation/http.ts';
import { invalid, type Problem, toProblem } from '#foundation/problem.ts';

/** What went wrong in an execution: a problem raised by a verb, a coercion that GraphQL refused, or a fault of ours. */
export function problemOf(errors: readonly unknown[]): Problem {
  const error = errors[0] as GraphQLError;
  const problem = toProblem(error);
  // A refused variable is the caller's mistake; it carries no path, because no resolver ran.
  const ours = error.originalError && error.originalError.name !== 'GraphQLError';
  const refused = problem.status === 500 && error.name === 'GraphQLError' && !error.path && !ours;
  return refused ? invalid(error.message) : problem;
}

export function answerProblem(exchange: Exchange, problem: Problem): void {
  const headers: Record<string, string> = { ...problem.headers, 'cache-control': 'no-store' };
  const missing = problem.body.code === 'missing_scope' && [
    ...problem.body.description.matchAll(/missing-scope:([\w:-]+)/g),
  ];
  if (missing) {
    const scope = missing.map((match) => match[1]).join(' ');
    headers['www-authenticate'] =
      `Bearer error="insufficient_scope", scope="${scope}", resource_metadata="${apiResourceMetadata()}"`;
  }
  answerJson(exchange, problem.status, problem.body, headers);
}
