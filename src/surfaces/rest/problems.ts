// Answers a problem with the headers of the REST API: a missing scope is also named in a challenge (docs/contract.md#errors).
import { isGrantable } from '#access/scopes.ts';
import { apiResourceMetadata } from '#foundation/http/addresses.ts';
import type { Exchange } from '#foundation/http/http.ts';
import type { Problem } from '#foundation/problem.ts';
import { answerProblem } from '../frame.ts';

export function refuseRest(exchange: Exchange, problem: Problem): void {
  const headers: Record<string, string> = {};
  const missing = problem.body.code === 'missing_scope' && [
    ...problem.body.description.matchAll(/missing-scope:([\w:-]+)/g),
  ];
  if (missing) {
    // A token request may name anything, at any length, as a scope: the header lists those that exist.
    const scopes = missing.map((match) => match[1]!).filter(isGrantable);
    const scope = scopes.length > 0 ? `scope="${scopes.join(' ')}", ` : '';
    headers['www-authenticate'] =
      `Bearer error="insufficient_scope", ${scope}resource_metadata="${apiResourceMetadata()}"`;
  }
  answerProblem(exchange, problem, headers);
}
