// The interval between heartbeats of missions whose agents accept messages. It is short, because a heartbeat delivers messages and orders.
// It grows with the number of missions whose heartbeats this process answers, so that heartbeats use only a bounded share of the process.
import { now } from '#foundation/clock.ts';
import { lease } from '#limits.ts';
import { steeringHeartbeatMs } from '../../work/runs/bounds.ts';

/** Number of heartbeats per second that a process asks runtimes to send for missions whose agents accept messages. */
const perSecond = 150;

/** Counts missions by their heartbeats, which arrive several times during a lease. */
export function createHeartbeatIntervals() {
  let begun = 0;
  let [seen, seenBefore] = [new Set<string>(), new Set<string>()];
  return {
    /** Milliseconds until the next heartbeat of these missions, as told to the runtime that sent the present one. */
    next(runIds: readonly string[]): number {
      if (now() - begun >= lease.lastsMs / 2) [begun, seen, seenBefore] = [now(), new Set(), seen];
      for (const id of runIds) seen.add(id);
      const missions = Math.max(seen.size, seenBefore.size);
      return Math.round(Math.min(lease.heartbeatMs, Math.max(steeringHeartbeatMs, (missions / perSecond) * 1_000)));
    },
  };
}
