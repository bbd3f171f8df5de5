// A field's rule against a caller. Asked before any input is looked at, whatever the surface.
import { agentNotClaimed, forbidden, missingScopes } from '#foundation/problem.ts';
import type { Caller } from './principal.ts';
import type { Scope } from './scopes.ts';

/**
 * `any-caller`: even an agent that nobody has claimed (`/me`, `/scopes`). `person`: someone signed in to the console;
 * a token is refused (credentials are not made with credentials).
 */
export type Rule = Scope | 'any-caller' | 'person';

/** Throws 403 unless the caller satisfies the rule. */
export function admit(caller: Caller, rule: Rule): void {
  if (rule === 'any-caller') return;
  if (caller.principalType === 'agent') {
    throw agentNotClaimed('This agent has not been claimed by a person yet: it reaches only /me and /scopes.');
  }
  if (rule === 'person') {
    if (caller.principalType === 'cookie') return;
    throw forbidden('Only a person who is signed in to the console can do this; a token can not.');
  }
  if (!caller.scopes.has(rule)) throw missingScopes([rule]);
}
