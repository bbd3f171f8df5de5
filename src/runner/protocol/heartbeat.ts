// Heartbeats of one mission: progress and use of the sandbox. The response says which work has to stop.
import { setTimeout as wait } from 'node:timers/promises';
import type { Pace, RunLease } from '../contract.ts';
import { type HeartbeatMutation, heartbeat } from '../generated/operations.ts';
import type { Desired, Message } from '../harness/conversation.ts';
import type { ProcessSample } from '../isolation/measure.ts';
import type { Platform } from './platform.ts';
import type { Preview } from './preview.ts';

/** Maximum number of samples in one heartbeat. The platform accepts 120. */
const samplesAtOnce = 120;

/**
 * Minimum time between two heartbeats that contain samples. While an agent works, heartbeats may be sent as often as once a second, and the
 * platform writes nothing to its database for a heartbeat that has no samples and reports no change.
 */
const samplesEveryMs = 5_000;

interface Sample extends ProcessSample {
  /** Disk usage of the mission, as a percentage of its limit. */
  diskUsedPct: number;
}

export interface State {
  /** Progress of the mission in percent; null means unknown. */
  progress: number | null;
  activity: string;
  /** Whether the state has changed since the last heartbeat. */
  changed: boolean;
  preview: Preview | null;
  /** Messages that the agent has read. A message is kept here until the platform has received the acknowledgement. */
  acknowledged: string[];
  /** Handles people's requests to the agent. */
  steer(desired: Desired, messages: readonly Message[]): void;
  /** Starts terminals that people have requested. */
  openTerminals(requested: HeartbeatMutation['answer']['runs'][number]['terminals']): void;
  /** Called with the latest revision of the organization's model connectors; another revision means that they have changed. */
  updateModels(revision: string | null): void;
}

/**
 * Renews the lease while a step is prepared, because a large repository may take longer than a lease lasts. @throws when the run is stopped
 */
export async function keepLease<T>(platform: Platform, lease: RunLease, pace: Pace, work: Promise<T>): Promise<T> {
  const done = new AbortController();
  const { signal } = done;
  const beat = async (): Promise<never> => {
    for (;;) {
      await wait(pace.heartbeat, undefined, { signal });
      const { runs } = await platform.mutate(heartbeat, { runs: [lease] });
      if (runs.some(({ desired }) => desired === 'stop')) throw new Error('stopped');
    }
  };
  const beating = beat();
  beating.catch(() => {});
  return Promise.race([work, beating]).finally(() => done.abort());
}

const isToStop = ({ desired }: { desired: string }): boolean => desired === 'stop';

function reportOf(lease: RunLease, sandboxId: string, state: State, samples: Sample[]) {
  const { progress, activity, acknowledged, preview } = state;
  return {
    runs: [{ ...lease, progress, activity, acknowledged }],
    sandboxes: [{ sandboxId, leaseId: lease.leaseId, metrics: samples.slice(-samplesAtOnce) }],
    environments: preview ? [preview.environmentId] : [],
  };
}

function steer(state: State, runs: HeartbeatMutation['answer']['runs']): void {
  for (const { desired, messages, modelRevision, terminals } of runs) {
    state.steer(desired, messages);
    if (desired !== 'stop') state.openTerminals(terminals);
    state.updateModels(modelRevision);
  }
}

/** Collects samples of resource usage, at most one per interval. Heartbeats may be more frequent, and each of them asks for a sample. */
function collectSamples(measure: () => Promise<Sample | null>, pace: Pace) {
  let [samples, measuredAt, takenAt] = [[] as Sample[], 0, 0];
  return {
    async measure(): Promise<void> {
      const at = Date.now();
      // A timer can fire some milliseconds early.
      if (at - measuredAt < pace.sample * 0.9) return;
      measuredAt = at;
      const sample = await measure().catch(() => null);
      if (sample) samples.push(sample);
    },
    /**
     * Returns the samples for a heartbeat. Returns none if the last ones were taken less than an interval ago, except for the last
     * heartbeat.
     */
    take(isLast: boolean): Sample[] {
      const at = Date.now();
      if (!isLast && at - takenAt < Math.min(samplesEveryMs, pace.heartbeat)) return [];
      const taken = samples;
      [samples, takenAt] = [[], at];
      return taken;
    },
  };
}

/** Sends heartbeats until `done` aborts, even during uploads; `measure` returns null without a measurement. */
export function startHeartbeat(
  platform: Platform,
  lease: RunLease,
  sandboxId: string,
  state: State,
  measure: () => Promise<Sample | null>,
  pace: Pace,
) {
  const done = new AbortController();
  const samples = collectSamples(measure, pace);
  let last = 0;
  let stop: (why: string) => void;
  // The interval is shorter while an agent accepts messages.
  let interval = pace.heartbeat;

  async function sendHeartbeat(isLast = false): Promise<void> {
    const { preview } = state;
    const acknowledged = [...state.acknowledged];
    const report = reportOf(lease, sandboxId, { ...state, acknowledged }, samples.take(isLast));
    [state.changed, last] = [false, Date.now()];
    const { runs, sandboxes, environments, nextHeartbeatMs } = await platform.mutate(heartbeat, report);
    interval = Math.min(pace.heartbeat, nextHeartbeatMs);
    state.acknowledged = state.acknowledged.filter((id) => !acknowledged.includes(id));
    steer(state, runs);
    if ([...runs, ...sandboxes].some(isToStop)) stop('stopped');
    if (!preview || !environments.some(isToStop)) return;
    state.preview = null;
    await preview.close();
  }

  async function beat(): Promise<void> {
    while (!done.signal.aborted) {
      await samples.measure();
      // Progress is sent at once, an unchanged state once per interval.
      if (state.changed || Date.now() - last >= interval) await sendHeartbeat();
      await wait(Math.min(pace.sample, interval / 2), undefined, { signal: done.signal }).catch(() => {});
    }
  }

  let beating: Promise<void>;
  /** Resolves with `stopped` when the platform requests that the run stop. Rejects when the platform has reassigned the run. */
  const stopped = new Promise<string>((resolve, reject) => {
    stop = resolve;
    beating = beat();
    beating.catch(reject);
  });
  stopped.catch(() => {});

  return {
    stopped,
    /** Sends a final heartbeat. */
    async end(): Promise<void> {
      done.abort();
      await beating;
      await sendHeartbeat(true);
    },
    /** Stops sending heartbeats. */
    stop: () => done.abort(),
  };
}
