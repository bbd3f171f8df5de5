// The records that a caller can reach: all of its organization, or those of one project for a project-bound credential.
import type { Id } from '#foundation/ids.ts';
import { forbidden } from '#foundation/problem.ts';
import type { Caller } from './principal.ts';

/** The caller's organization. @throws 403 for a caller without one */
export function ownOrganization(caller: Caller): Id<'organization'> {
  if (caller.orgId) return caller.orgId;
  throw forbidden('This credential does not belong to an organization.');
}

/** The person that the caller acts for. @throws 403 for a caller that does not act for a person */
export function ownPerson(caller: Caller): Id<'person'> {
  if (caller.userId) return caller.userId;
  throw forbidden('This credential does not act on behalf of a person.');
}

/**
 * Checks that the caller may act for the person in every organization. @throws 403 for a session limited to one organization, and for
 * credentials that such a session created
 */
export function wholePerson({ isOrgOnly }: Caller): void {
  if (isOrgOnly)
    throw forbidden(
      'This credential comes from a sign-in through the identity provider of one organization. Sign in with an emailed code or a passkey to do this.',
    );
}

/** Checks that the caller can reach records of the whole organization. @throws 403 for a project-bound credential */
export function beyondOneProject(caller: Caller): void {
  if (caller.projectId) throw forbidden('A project-bound credential cannot reach records of the whole organization.');
}

/** The organization of a caller that can reach all of its records. @throws 403 for a project-bound credential */
export function wholeOrganization(caller: Caller): Id<'organization'> {
  beyondOneProject(caller);
  return ownOrganization(caller);
}

/** An empty condition, for lists of records that belong to no project. @throws 403 for a project-bound credential */
export function orgWide(caller: Caller): Readonly<Record<string, never>> {
  beyondOneProject(caller);
  return {};
}

/** Whether the caller can reach this project's missions, runs, environments, artifacts and scheduled tasks. */
export const reachesProject = (caller: Caller, projectId: string): boolean =>
  caller.projectId === null || caller.projectId === projectId;

/** Conditions that limit a read or a conditional write to the project records that the caller can reach. */
export const withinReach = (caller: Caller): { orgId: Id<'organization'>; projectId?: Id<'project'> } => ({
  orgId: ownOrganization(caller),
  ...(caller.projectId && { projectId: caller.projectId }),
});

/** The conditions of `withinReach` for a list that is filtered by project; null when the caller does not reach that project. */
export function withinProject(
  caller: Caller,
  projectId: string | null | undefined,
): ReturnType<typeof withinReach> | null {
  if (projectId == null) return withinReach(caller);
  return reachesProject(caller, projectId) ? { ...withinReach(caller), projectId: projectId as Id<'project'> } : null;
}
