// Simulated runners of bench/held-missions.ts: they send the same operations as src/runner at the same intervals, but execute nothing.
import { setTimeout as wait } from 'node:timers/promises';
import {
  appendFragments,
  appendLog,
  claimRun,
  heartbeat,
  type Operation,
  registerSandbox,
  reportSession,
  runtimeOrders,
} from '../src/runner/generated/operations.ts';
import { createPlainHttp } from './plain-http.ts';

/** Number of concurrent missions of a runner. */
export const places = 8;
export const runnerName = (n: number): string => `bench-${n}`;
/** Intervals at which a runner takes samples and asks for its orders. */
const [sampleMs, ordersMs] = [1_000, 10_000];
const longestHeartbeatMs = 10_000;
/** Number of connections of all runners together: about one for each of the runners that 2,000 missions need. */
const connections = 256;

export interface HeldMission {
  lease: { runId: string; leaseId: string };
  session: { sandboxId: string; leaseId: string; role: 'builder'; sessionId: string };
}

export interface Pace {
  /** Interval between two heartbeats that contain samples. */
  samplesMs: number;
  /** Interval between two actions of an agent, each of which writes to its log; 0 means no actions. */
  actionMs: number;
}

export function createRunners(url: string, token: string, harness: string, { samplesMs, actionMs }: Pace) {
  const http = createPlainHttp(url, connections, {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
  });
  let isEnding = false;
  /** Duration of each heartbeat in milliseconds. */
  const times: number[] = [];
  let [lost, reports, longestGapMs] = [0, 0, 0];
  /** Temporary errors by operation and code; these requests were repeated. */
  const refusals = new Map<string, number>();

  /** Sends an operation until it succeeds or is refused for good, and returns the body of the response. */
  async function send<Variables>(
    name: string,
    { text: query }: Operation<unknown, Variables>,
    variables: Variables,
  ): Promise<string> {
    const request = JSON.stringify({ query, variables });
    for (let pauseMs = 250; ; pauseMs = Math.min(2 * pauseMs, 5_000)) {
      const body = await http.post(request);
      if (body.startsWith('{"data":{')) return body;
      const { errors } = JSON.parse(body);
      const { code, retryable } = errors?.[0]?.extensions?.problem ?? {};
      if (!retryable) throw new Error(body);
      refusals.set(`${name} ${code}`, (refusals.get(`${name} ${code}`) ?? 0) + 1);
      await wait(pauseMs);
    }
  }

  const ask = async <Answer, Variables>(operation: Operation<{ answer: Answer }, Variables>, variables: Variables) =>
    JSON.parse(await send('claim', operation, variables)).data.answer as Answer;

  async function claim(n: number): Promise<HeldMission> {
    const runner = runnerName(Math.floor(n / places));
    const input = { runtime: runner, harnesses: [harness], places, isolation: 'cell' };
    const run = await ask(claimRun, { input: input as never });
    if (!run) throw new Error('no mission waits');
    const lease = { runId: run.runId, leaseId: run.leaseId };
    const { role, harness: driver } = run.step.agent;
    const box = { key: run.step.stepId, role, harness: driver, instanceType: run.step.environment.instanceType };
    const { sandboxId } = await ask(registerSandbox, { input: { ...lease, ...box } });
    const session = { sandboxId, leaseId: lease.leaseId, role: 'builder' as const, sessionId: 'session' };
    await ask(reportSession, { input: session });
    return { lease, session };
  }

  /** Repeats the work at its interval until the end. The result of the work can change the interval. */
  function every(ms: number, delayMs: number, work: () => Promise<number | undefined>): void {
    let next = ms;
    const step = async () => {
      if (isEnding) return;
      const begun = performance.now();
      try {
        next = (await work()) ?? next;
        setTimeout(step, Math.max(0, next - (performance.now() - begun)));
      } catch (error) {
        if (!isEnding) [lost] = [lost + 1, console.error((error as Error).message)];
      }
    };
    setTimeout(step, delayMs);
  }

  /** Sends heartbeats and reports of a mission, as `startHeartbeat` and `openJournal` of the runner do. */
  function hold({ lease, session }: HeldMission): void {
    const { sandboxId, leaseId } = session;
    let [samplesFrom, renewedAt, seq] = [Date.now(), performance.now(), 0];
    every(1_000, Math.random() * 1_000, async () => {
      const at = Date.now();
      const isDue = at - samplesFrom >= samplesMs;
      const metrics = isDue
        ? Array.from({ length: Math.floor((at - samplesFrom) / sampleMs) }, (_, i) => sampleAt(at - i * sampleMs))
        : [];
      if (isDue) samplesFrom = at;
      const run = { ...lease, progress: null, activity: `Action ${seq}`, acknowledged: [] };
      const begun = performance.now();
      const answer = await send('heartbeat', heartbeat, {
        input: { runs: [run], sandboxes: [{ sandboxId, leaseId, metrics }], environments: [] },
      });
      const answered = performance.now();
      times.push(answered - begun);
      longestGapMs = Math.max(longestGapMs, answered - renewedAt);
      renewedAt = answered;
      if (answer.includes('"desired":"stop"')) throw new Error(`told to stop: ${answer}`);
      return Math.min(longestHeartbeatMs, Number(/"nextHeartbeatMs":(\d+)/.exec(answer)![1]));
    });
    if (actionMs === 0) return;
    every(actionMs, Math.random() * actionMs, async () => {
      const content = `${'ok 1 - returns the order and its items (12 ms)\n'.repeat(5)}`;
      await send('appendLog', appendLog, { input: { ...session, part: 'session', seq, content } });
      reports++;
      const fragment = {
        t: Date.now(),
        kind: 'action' as const,
        action: 'shell',
        parameter: 'npm test',
        result: content,
      };
      await send('appendFragments', appendFragments, { input: { sandboxId, leaseId, seq, fragments: [fragment] } });
      reports++;
      seq++;
      return undefined;
    });
  }

  return {
    claim,
    hold,
    /** Starts to ask the service, at intervals, which orders it has for each of these runners. Real runners ask while they execute missions. */
    askForOrders(runners: Iterable<string>): void {
      for (const runtime of runners) {
        every(ordersMs, Math.random() * ordersMs, async () => {
          await send('runtimeOrders', runtimeOrders, { runtime });
          reports++;
          return undefined;
        });
      }
    },
    /** Begins a measurement. */
    reset(): void {
      [times.length, reports, longestGapMs] = [0, 0, 0];
      refusals.clear();
    },
    /**
     * Returns what was measured since the last `reset`. Only `lost` counts from the start of the bench. `reports` is the number of requests
     * other than heartbeats.
     */
    read: () => ({ times: [...times].sort((a, b) => a - b), reports, longestGapMs, refusals: [...refusals], lost }),
    end(): void {
      isEnding = true;
      http.close();
    },
  };
}

const sampleAt = (t: number) => ({
  t,
  cpuPct: Math.random() * 100,
  memUsedMb: 200 + Math.random() * 100,
  memTotalMb: 1_024,
  diskUsedPct: 10,
});
