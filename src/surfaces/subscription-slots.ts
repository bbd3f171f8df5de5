// Limits the open subscriptions of a credential, a person, an organization and this process, and the time that each is open.
import type { Caller } from '#access/principal.ts';
import { now, seconds } from '#foundation/clock.ts';
import type { Exchange } from '#foundation/http/http.ts';
import { openSubscriptions } from '#foundation/metrics.ts';
import { tooMany, toProblem } from '#foundation/problem.ts';
import { subscriptions } from '#limits.ts';

/** Interval at which a subscription's caller is looked up again. */
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

  /**
   * The keys for which the caller's open subscriptions are counted. Each key has a maximum number, and an error text for a subscription
   * beyond it.
   */
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

/**
 * Returns a signal that is aborted when the socket closes, after the maximum lifetime, or when the caller is no longer authorized.
 * Authorization is checked at intervals, even while nothing is sent. After the signal is aborted, the reader can read the rest of the
 * response until the time of the next check, at which the socket is closed. The slot is freed when the socket closes.
 * @param check Throws for a caller that is no longer authorized
 */
export function holdOpen({ res }: Exchange, freeSlot: () => void, check: () => Promise<unknown>): AbortSignal {
  const ended = new AbortController();
  const since = now();
  const recheck = async (): Promise<void> => {
    if (ended.signal.aborted) return void res.destroy();
    if (now() - since >= subscriptions.lifetimeMs) return ended.abort();
    await check().catch((error) => toProblem(error).status < 500 && ended.abort());
  };
  const rechecks = setInterval(recheck, recheckIntervalMs);
  const close = (): void => {
    clearInterval(rechecks);
    freeSlot();
    ended.abort();
  };
  if (res.destroyed) close();
  else res.once('close', close);
  return ended.signal;
}
