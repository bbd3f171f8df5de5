// Limits the open subscriptions of a credential, a person, an organization and this process.
import type { Caller } from '#access/principal.ts';
import { seconds } from '#foundation/clock.ts';
import { openSubscriptions } from '#foundation/metrics.ts';
import { tooMany } from '#foundation/problem.ts';

/** Interval at which a subscription's caller is looked up again, which also frees the slots of closed sockets. */
export const recheckIntervalMs = seconds(10);

export interface SlotLimits {
  perCredential: number;
  perPerson: number;
  perOrganization: number;
  perProcess: number;
}

type Holder = Pick<Caller, 'credentialId' | 'userId' | 'orgId'>;

/** A function that reserves a slot and returns a function that frees it. @throws 429 */
export function createSlotLimiter({ perCredential, perPerson, perOrganization, perProcess }: SlotLimits) {
  const slotsInUse = new Map<string, number>();

  /** The keys under which the caller is counted, with their bounds and error texts. */
  const boundsOf = ({ credentialId, userId, orgId }: Holder): [key: string | null, most: number, error: string][] => [
    [`credential ${credentialId}`, perCredential, `A credential may have ${perCredential} subscriptions open at once.`],
    [userId && `person ${userId}`, perPerson, `A person may have ${perPerson} subscriptions open at once.`],
    [
      orgId && `org ${orgId}`,
      perOrganization,
      `An organization may have ${perOrganization} subscriptions open at once.`,
    ],
    ['process', perProcess, 'Too many subscriptions are open.'],
  ];

  return (holder: Holder): (() => void) => {
    const bounds = boundsOf(holder).filter(([key]) => key !== null) as [string, number, string][];
    for (const [key, most, error] of bounds) {
      if ((slotsInUse.get(key) ?? 0) >= most) throw tooMany(recheckIntervalMs / seconds(1), error);
    }
    for (const [key] of bounds) slotsInUse.set(key, (slotsInUse.get(key) ?? 0) + 1);
    openSubscriptions.inc();
    return () => {
      for (const [key] of bounds) {
        const left = slotsInUse.get(key)! - 1;
        if (left > 0) slotsInUse.set(key, left);
        else slotsInUse.delete(key);
      }
      openSubscriptions.dec();
    };
  };
}
