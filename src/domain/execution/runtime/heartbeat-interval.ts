// The interval of heartbeats of missions with agents. It is short, because a heartbeat delivers messages and orders, and grows with the
// number of missions whose heartbeats this process answers, so that these use a bounded part of it.
import { now } from '#foundation/clock.ts';
import { lease } from '#limits.ts';
import { steeringHeartbeatMs } from '../../work/runs/bounds.ts';

/** Heartbeats of missions with agents that a process requests per second. */
const perSecond = 150;

/** Counts missions by their heartbeats, each of which comes several times in the duration of a lease. */
export function createHeartbeatIntervals() {
  let begun = 0;
  let [seen, seenBefore] = [new Set<string>(), new Set<string>()];
  return {
    /** Milliseconds until the next heartbeat of missions with agents, of which one is answered now. */
    next(runIds: readonly string[]): number {
      if (now() - begun >= lease.lastsMs / 2) [begun, seen, seenBefore] = [now(), new Set(), seen];
      for (const id of runIds) seen.add(id);
      const missions = Math.max(seen.size, seenBefore.size);
      return Math.round(Math.min(lease.heartbeatMs, Math.max(steeringHeartbeatMs, (missions / perSecond) * 1_000)));
    },
  };
}
