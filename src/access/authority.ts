// Authority of credentials: none exceeds that of the person or credential that granted it (docs/contract.md#authority). Also computes the
// capabilities for a console.
import { forbidden, invalid, organizationClosed } from '#foundation/problem.ts';
import { tokens } from '#limits.ts';
import type { Caller } from './principal.ts';
import { isAtLeast, type OrgRole } from './roles.ts';
import { isGrantable, type Scope, scopesOfRole } from './scopes.ts';

/** The granted scopes that the role includes. Computed at each use, so that a lost role takes effect at once. */
export function narrowed(granted: readonly string[], role: OrgRole): ReadonlySet<Scope> {
  const held = scopesOfRole(role);
  return new Set(granted.filter((scope): scope is Scope => held.has(scope as Scope)));
}

const narrowedByText = new Map<string, ReadonlySet<Scope>>();
const maxKept = 1_000;

/**
 * Applies `narrowed` to scopes separated by spaces. Results are cached: every request needs a result, and there are few pairs of scopes and
 * role.
 */
export function narrowedText(granted: string, role: OrgRole): ReadonlySet<Scope> {
  const key = `${role} ${granted}`;
  let scopes = narrowedByText.get(key);
  if (!scopes) {
    if (narrowedByText.size === maxKept) narrowedByText.clear();
    scopes = narrowed(granted.split(' '), role);
    narrowedByText.set(key, scopes);
  }
  return scopes;
}

/** The requested scopes that do not exist or that the caller does not have. */
export const refusedScopes = (requested: readonly string[], caller: Caller): string[] =>
  requested.filter((scope) => !isGrantable(scope) || !caller.scopes.has(scope));

/** Checks the number of scopes. @throws 400 for more scopes than one credential may have, however the credential is created */
export function requireFewScopes(scopes: readonly string[]): void {
  const { scopesPerToken: max } = tokens;
  if (scopes.length > max) throw invalid.field('scopes', `must be at most ${max} entries`);
}

export const capabilities = [
  'org.manage',
  'members.manage',
  'billing.manage',
  'projects.manage',
  'missions.run',
  'tokens.create',
] as const;
export type Capability = (typeof capabilities)[number];

const neededScope: Partial<Record<Capability, Scope>> = {
  'members.manage': 'members:write',
  'billing.manage': 'billing:write',
  'projects.manage': 'projects:write',
  'missions.run': 'missions:run',
};

const canManageOrganization = ({ role, scopes, isOrgClosed }: Caller): boolean =>
  role !== null && isAtLeast(role, 'admin') && scopes.has('organizations:write') && !isOrgClosed;

/** Checks that the caller may change the organization. @throws 403 for a role below admin, 409 in a closed organization */
export function manageOrganization(caller: Caller): void {
  if (caller.isOrgClosed) throw organizationClosed();
  if (!canManageOrganization(caller)) throw forbidden('Only an admin or an owner of the organization can do this.');
}

/** The capabilities that a console may offer the caller. A project-bound credential manages nothing org-wide. */
export function capabilitiesOf(caller: Caller): Capability[] {
  return capabilities.filter((capability) => {
    if (capability === 'org.manage') return caller.projectId === null && canManageOrganization(caller);
    const scope = neededScope[capability];
    if (!scope) return caller.principalType === 'cookie' && caller.role !== null;
    if (caller.orgId === null) return false;
    return caller.scopes.has(scope) && (caller.projectId === null || capability === 'missions.run');
  });
}
