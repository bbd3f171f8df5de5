// Memory and disk of a step, measured and compared with its limits.
import { setTimeout as wait } from 'node:timers/promises';
import type { Harness } from './harness/port.ts';
import { overDisk, overMemory } from './isolation/caps.ts';
import { openDiskMeter } from './isolation/disk.ts';
import { meter, type ProcessSample } from './isolation/measure.ts';
import type { StepContext } from './step-context.ts';

export function watchUsage(
  context: Pick<StepContext, 'enclosure' | 'processOf' | 'limits' | 'place'> & Partial<Pick<StepContext, 'services'>>,
  harness: Pick<Harness, 'pid' | 'isRunning'>,
  sampleMs: number,
  signal: AbortSignal,
) {
  const { enclosure, processOf, limits, place, services } = context;
  const measureFolder = openDiskMeter(place.folder);
  const measureDisk = async () => (await measureFolder()) + ((await services?.diskBytes()) ?? 0);
  let latest: ProcessSample | null = null;
  let diskBytes = 0;
  const isOverDisk = () => diskBytes > limits.diskBytes;

  /** Resolves when the measured memory exceeds the limit of the step. Does not wait for the platform. */
  async function exceedMemory(): Promise<string> {
    const pid = await processOf(harness);
    if (pid === null) return new Promise(() => {});
    const sample = meter(pid, limits.memoryBytes);
    for (; harness.isRunning(); await wait(sampleMs, undefined, { signal })) {
      latest = await sample().catch(() => null);
      if (latest && latest.memUsedMb > latest.memTotalMb) return overMemory(limits);
    }
    return new Promise(() => {});
  }

  /**
   * Resolves when the files of the step exceed the disk limit. The pause between two measurements is at least twenty times as long as the
   * last measurement, so that a large folder is measured less often.
   */
  async function exceedDisk(): Promise<string> {
    while (harness.isRunning()) {
      const begun = performance.now();
      diskBytes = await measureDisk().catch(() => diskBytes);
      if (isOverDisk()) return overDisk(limits);
      await wait(Math.max(sampleMs, 20 * (performance.now() - begun)), undefined, { signal });
    }
    return new Promise(() => {});
  }

  const exceeded = Promise.race([exceedMemory(), exceedDisk()]);
  exceeded.catch(() => {});
  return {
    /** Resolves with the reason when the step exceeds a limit. */
    exceeded,
    isOverDisk,
    /** The sample since the last heartbeat; null without one. */
    async unreported() {
      const diskUsedPct = Math.min(100, Math.round((10_000 * diskBytes) / limits.diskBytes) / 100);
      const unreported = latest && { ...latest, diskUsedPct };
      latest = null;
      return unreported;
    },
    /** The limit that an ended step had exceeded: a program that was killed for its memory, or could not write more, does not report it. */
    async reason(isStopped: boolean): Promise<string | null> {
      if (await enclosure?.isOverMemory()) return overMemory(limits);
      diskBytes = await measureDisk().catch(() => diskBytes);
      return isOverDisk() && !isStopped ? overDisk(limits) : null;
    },
  };
}
