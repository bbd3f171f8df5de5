// A problem as the REST API says it: the `Error` body, its status, its headers (specification, Errors).
import { isGrantable } from '#access/scopes.ts';
import { apiResourceMetadata } from '#foundation/addresses.ts';
import { answerJson, type Exchange } from '#foundation/http.ts';
import type { Problem } from '#foundation/problem.ts';

export function answerProblem(exchange: Exchange, problem: Problem): void {
  const headers: Record<string, string> = { ...problem.headers, 'cache-control': 'no-store' };
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
  answerJson(exchange, problem.status, problem.body, headers);
}
