// Checks the caller against the rule of a field, in every API, before any input is read.
import { agentNotClaimed, forbidden, missingScopes, organizationClosed, Problem } from '#foundation/problem.ts';
import type { Caller } from './principal.ts';
import type { Scope } from './scopes.ts';

/**
 * Rules that are not scopes. `any-caller`: even an unclaimed agent (`/me`, `/scopes`). `person`: a person signed in to the console; a token
 * is refused, because a credential cannot create credentials.
 */
export type Rule = Scope | 'any-caller' | 'person';

/** Whether the caller satisfies the rule. */
export const admits = (caller: Caller, rule: Rule): boolean => refusal(caller, rule) === undefined;

/**
 * Checks the caller against the rule of a field.
 * @param operation The root field; absent means the route of the request
 * @throws 403 unless the caller satisfies the rule, 409 for a change of a closed organization
 */
export function admit(caller: Caller, rule: Rule, operation?: string): void {
  const problem = refusal(caller, rule);
  if (!problem) return;
  noteRefusal(caller, problem, operation);
  throw problem;
}

/** Notes a 403 on the request. The audit log records the first one of each request, once the response is sent. */
export function noteRefusal({ source }: Caller, error: unknown, operation?: string): void {
  if (!source || !(error instanceof Problem) || error.status !== 403) return;
  const id = operation ?? source.route ?? 'unknown';
  source.refusal ??= { kind: 'operation', id, name: null, reason: error.body.description };
}

/** Whether the scope changes the caller's organization. `organizations:write` does not: it creates another organization. */
const changesOrganization = (scope: Scope) => !scope.endsWith(':read') && scope !== 'organizations:write';

function refusal(caller: Caller, rule: Rule): Problem | undefined {
  if (rule === 'any-caller') return undefined;
  if (caller.principalType === 'agent') {
    return agentNotClaimed('No person has claimed this agent yet. Until then it can only call /me and /scopes.');
  }
  if (rule !== 'person') {
    if (!caller.scopes.has(rule)) return missingScopes([rule]);
    return caller.isOrgClosed && changesOrganization(rule) ? organizationClosed() : undefined;
  }
  if (caller.principalType === 'cookie') return undefined;
  return forbidden('Only a person who is signed in to the console can do this; a token cannot.');
}
