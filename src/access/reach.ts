// How far a caller reaches: its own organization, and inside it one project when the credential is bound to one.
import type { Id } from '#foundation/ids.ts';
import { forbidden } from '#foundation/problem.ts';
import type { Caller } from './principal.ts';

/** The caller's organization; 403 for a caller that has none. */
export function ownOrganization(caller: Caller): Id<'organization'> {
  if (caller.orgId) return caller.orgId;
  throw forbidden('This credential belongs to no organization.');
}

/** The person behind the caller; 403 for a caller that acts for nobody. */
export function ownPerson(caller: Caller): Id<'person'> {
  if (caller.userId) return caller.userId;
  throw forbidden('This credential acts for no person.');
}

/** Refuses a project-bound credential where something of the whole organization is changed or read. */
export function beyondOneProject(caller: Caller): void {
  if (caller.projectId) throw forbidden('A project-bound credential can not act on anything org-wide.');
}

/** No further condition for records of the whole organization that another record leads to; nothing for a project-bound credential. */
export function orgWide(caller: Caller): Readonly<Record<string, never>> {
  beyondOneProject(caller);
  return {};
}

/** Whether the caller may look into this project's missions, runs, environments, artifacts and scheduled tasks. */
export const reachesProject = (caller: Caller, projectId: string): boolean =>
  caller.projectId === null || caller.projectId === projectId;

/** What holds for every record of a project that the caller may look into: conditions for a read or a conditional write. */
export const withinReach = (caller: Caller): { orgId: Id<'organization'>; projectId?: Id<'project'> } => ({
  orgId: ownOrganization(caller),
  ...(caller.projectId && { projectId: caller.projectId }),
});

/** The same for a list that is filtered by project; null when there can be nothing to find. */
export function withinProject(
  caller: Caller,
  projectId: string | null | undefined,
): ReturnType<typeof withinReach> | null {
  if (projectId == null) return withinReach(caller);
  return reachesProject(caller, projectId) ? { ...withinReach(caller), projectId: projectId as Id<'project'> } : null;
}
