// The rule of a field, checked against the caller before any input is read, on every surface.
import { agentNotClaimed, forbidden, missingScopes, organizationClosed, type Problem } from '#foundation/problem.ts';
import type { Caller } from './principal.ts';
import type { Scope } from './scopes.ts';

/**
 * Rules that are not scopes. `any-caller`: even an unclaimed agent (`/me`, `/scopes`). `person`: a person signed in to the console; a token is
 * refused, because a credential cannot create credentials.
 */
export type Rule = Scope | 'any-caller' | 'person';

/** Whether the caller satisfies the rule. */
export const admits = (caller: Caller, rule: Rule): boolean => refusal(caller, rule) === undefined;

/** @throws 403 unless the caller satisfies the rule, 409 for a change of a closed organization */
export function admit(caller: Caller, rule: Rule): void {
  const problem = refusal(caller, rule);
  if (problem) throw problem;
}

/** `organizations:write` creates another organization: changes of the caller's own one call `manageOrganization`. */
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
