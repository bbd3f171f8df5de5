// Callers at network addresses that their organization does not allow (docs/decisions/0079-networks-are-checked-with-the-credential.md).
// The statement that looks up a credential also finds out whether the organization allows the address.
import { plainAddress } from '#foundation/http/network.ts';
import { addressNotAllowed, type Problem } from '#foundation/problem.ts';
import type { Caller, RequestSource } from './principal.ts';

const none: Caller['scopes'] = new Set();

/** Returns the caller if its organization allows the network address of the request; otherwise returns the caller without any rights. */
export const atAllowedAddress = (caller: Caller, isAllowed: boolean): Caller =>
  isAllowed ? caller : { ...caller, role: null, scopes: none, isAddressRefused: true };

/** A credential that is used from a network address that its organization does not allow. */
export interface RefusedCredential {
  id: string;
  orgId: string;
  userId: string | null;
  name?: string | null;
}

/**
 * Returns the error for a request from a network address that is not allowed. Also records the refusal on the request, so that the audit log
 * reports it.
 */
export function refuseAddress(source: RequestSource, { id, orgId, userId, name = null }: RefusedCredential): Problem {
  const reason = 'address not allowed';
  source.refusal ??= { kind: 'credential', id, name, userId, reason, organizations: [orgId] };
  return addressNotAllowed(plainAddress(source.address));
}

/** Checks that the organization of the caller allows the network address of its request. @throws 403 that names the address */
export function requireAllowedAddress(caller: Caller, source: RequestSource): void {
  const { isAddressRefused, credentialId: id, userId, orgId } = caller;
  if (isAddressRefused) throw refuseAddress(source, { id, userId, orgId: orgId! });
}
