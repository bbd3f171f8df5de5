// Only owners manage the directory of an organization.
import type { Caller } from '#access/principal.ts';
import { beyondOneProject } from '#access/reach.ts';
import { forbidden } from '#foundation/problem.ts';

/** Checks that the caller may manage the directory of the organization. @throws 403 unless the caller is an owner */
export function requireOwner(caller: Caller): void {
  beyondOneProject(caller);
  if (caller.role !== 'owner') throw forbidden('Only an owner can manage the directory of the organization.');
}
