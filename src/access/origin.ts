// The origin of a request’s changes, for the audit log.
import type { ChangeOrigin } from '#foundation/postgres/origin.ts';
import type { Caller, RequestSource } from './principal.ts';

const anonymous = { actorType: 'unknown', actorId: null, onBehalfOf: null, credentialId: null } as const;

/** A credential whose id begins with `act_` belongs to an application, and one with `reg_` to an agent. Both act on behalf of a person. */
function actorOf({ principalType, credentialId, userId }: Caller): Pick<ChangeOrigin, keyof typeof anonymous> {
  const bearer = { actorId: credentialId, onBehalfOf: userId, credentialId };
  if (principalType === 'service' || principalType === 'system') return { actorType: principalType, ...bearer };
  if (credentialId.startsWith('act_')) return { actorType: 'application', ...bearer };
  if (credentialId.startsWith('reg_')) return { actorType: 'agent', ...bearer };
  return { actorType: 'person', actorId: userId, onBehalfOf: null, credentialId };
}

/** The origin of the changes that a caller makes. @param operation The root field; absent means the route of the request */
export const originOfChanges = (
  caller: Caller | undefined,
  source: RequestSource | undefined,
  operation?: string,
): ChangeOrigin => ({
  surface: source?.surface ?? 'service',
  operation: operation ?? source?.route ?? null,
  requestId: source?.requestId ?? null,
  address: source?.address ?? null,
  ...(source?.traceId && { traceId: source.traceId }),
  ...(caller ? actorOf(caller) : anonymous),
});
