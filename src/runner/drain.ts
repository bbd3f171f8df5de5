// A runner that people have told to drain: it takes no new missions, and leaves the list of runtimes when its last mission has ended.
import { leaveRuntime } from './generated/operations.ts';
import type { Connection } from './protocol/platform.ts';

/** @param askMs Minimum interval between questions to the platform */
export function openDrain(platform: Connection, runtime: string, askMs: number, log: (line: string) => void) {
  let isDraining = false;
  let release = '';
  let askedAt = Number.NEGATIVE_INFINITY;

  /**
   * Asks the platform at most once per interval. If the request fails, the previous answer counts. On an older platform, every request
   * fails, because that platform does not know this query.
   */
  async function ask(at: number): Promise<{ isDraining: boolean; release: string }> {
    if (at - askedAt < askMs) return { isDraining, release };
    askedAt = at;
    const orders = await platform.orders(runtime).catch(() => null);
    release = orders?.release ?? release;
    if (orders && orders.isDraining !== isDraining) {
      isDraining = orders.isDraining;
      log(isDraining ? 'The runner drains: it takes no new missions.' : 'The runner takes missions again.');
    }
    return { isDraining, release };
  }
  /** Removes the runner from the list of runtimes. */
  const leave = async (): Promise<void> => {
    await platform.mutate(leaveRuntime, { runtime }).catch(() => {});
  };
  return { ask, leave };
}
