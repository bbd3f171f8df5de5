// Simulated runners of bench/held-missions.ts: they send the operations of src/runner at its intervals, and work on nothing.
import { setMaxListeners } from 'node:events';
import { Agent, request } from 'node:http';
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

/** Missions of one runner. */
const places = 8;
/** Intervals of a runner: samples, and orders for the runner. */
const [sampleMs, ordersMs] = [1_000, 10_000];
const longestHeartbeatMs = 10_000;

export interface HeldMission {
  runner: string;
  lease: { runId: string; leaseId: string };
  session: { sandboxId: string; leaseId: string; role: 'builder'; sessionId: string };
}

export interface Pace {
  /** Interval at which a heartbeat contains the samples since the last one. */
  samplesMs: number;
  /** Interval of the actions of an agent, each with its log. */
  actionMs: number;
}

export function createRunners(url: string, token: string, harness: string, { samplesMs, actionMs }: Pace) {
  const agent = new Agent({ keepAlive: true, maxSockets: 500 });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const ending = new AbortController();
  setMaxListeners(0, ending.signal);
  /** Milliseconds of each heartbeat. */
  const times: number[] = [];
  let [lost, reports] = [0, 0];
  /** Temporary errors by code; these requests were repeated. */
  const refusals = new Map<string, number>();
  const loops: Promise<void>[] = [];

  function ask<Answer, Variables>(
    { text: query }: Operation<{ answer: Answer }, Variables>,
    variables: Variables,
    pauseMs = 250,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = request(`${url}/graphql`, { method: 'POST', headers, agent }, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (text: string) => (body += text));
        response.on('error', reject).on('end', () => {
          const { data, errors } = JSON.parse(body);
          if (data) return resolve(data.answer);
          if (!errors?.[0]?.extensions?.problem?.retryable) return reject(new Error(body));
          const { code } = errors[0].extensions.problem;
          refusals.set(code, (refusals.get(code) ?? 0) + 1);
          resolve(wait(pauseMs).then(() => ask({ text: query }, variables, Math.min(2 * pauseMs, 5_000))));
        });
      });
      sent.on('error', reject).end(JSON.stringify({ query, variables }));
    });
  }

  async function claim(n: number): Promise<HeldMission> {
    const runner = `bench-${Math.floor(n / places)}`;
    const input = { runtime: runner, harnesses: [harness], places, isolation: 'cell' };
    const run = await ask(claimRun, { input: input as never });
    if (!run) throw new Error('no mission waits');
    const lease = { runId: run.runId, leaseId: run.leaseId };
    const { role, harness: driver } = run.step.agent;
    const box = { key: run.step.stepId, role, harness: driver, instanceType: run.step.environment.instanceType };
    const { sandboxId } = await ask(registerSandbox, { input: { ...lease, ...box } });
    const session = { sandboxId, leaseId: lease.leaseId, role: 'builder' as const, sessionId: 'session' };
    await ask(reportSession, { input: session });
    return { runner, lease, session };
  }

  /** Repeats the work at its interval until the end. The result of the work can change the interval. */
  function every(ms: number, delayMs: number, work: () => Promise<number | undefined>): void {
    const { signal } = ending;
    const loop = async () => {
      await wait(delayMs, undefined, { signal });
      for (let next = ms; !signal.aborted; ) {
        const begun = performance.now();
        next = (await work()) ?? next;
        await wait(Math.max(0, next - (performance.now() - begun)), undefined, { signal });
      }
    };
    loops.push(
      loop().catch((error) => {
        if (!signal.aborted) [lost] = [lost + 1, console.error((error as Error).message)];
      }),
    );
  }

  /** Sends heartbeats and reports of a mission, as `startHeartbeat` and `openJournal` of the runner do. */
  function holdOne({ lease, session }: HeldMission, delayMs: number): void {
    const { sandboxId, leaseId } = session;
    let [samplesFrom, seq] = [Date.now() + delayMs, 0];
    every(1_000, delayMs, async () => {
      const at = Date.now();
      const isDue = at - samplesFrom >= samplesMs;
      const metrics = isDue
        ? Array.from({ length: Math.floor((at - samplesFrom) / sampleMs) }, (_, i) => sampleAt(at - i * sampleMs))
        : [];
      if (isDue) samplesFrom = at;
      const run = { ...lease, progress: null, activity: `Action ${seq}`, acknowledged: [] };
      const begun = performance.now();
      const answer = await ask(heartbeat, {
        input: { runs: [run], sandboxes: [{ sandboxId, leaseId, metrics }], environments: [] },
      });
      times.push(performance.now() - begun);
      if (answer.runs[0]!.desired !== 'run' || answer.sandboxes[0]!.desired !== 'run') throw new Error('told to stop');
      return Math.min(longestHeartbeatMs, answer.nextHeartbeatMs);
    });
    every(actionMs, delayMs + Math.random() * actionMs, async () => {
      reports += 2;
      const content = `${'ok 1 - returns the order and its items (12 ms)\n'.repeat(5)}`;
      await ask(appendLog, { input: { ...session, part: 'session', seq, content } });
      const fragment = {
        t: Date.now(),
        kind: 'action' as const,
        action: 'shell',
        parameter: 'npm test',
        result: content,
      };
      await ask(appendFragments, { input: { sandboxId, leaseId, seq, fragments: [fragment] } });
      seq++;
      return undefined;
    });
  }

  return {
    times,
    claim,
    lost: () => lost,
    refusals,
    /** Number of reports other than heartbeats. */
    reports: () => reports,
    /** Begins the heartbeats of the missions, spread over the time. */
    hold(held: readonly HeldMission[], overMs: number): void {
      for (const [i, one] of held.entries()) holdOne(one, (i / held.length) * overMs);
      for (const runtime of new Set(held.map(({ runner }) => runner))) {
        every(ordersMs, Math.random() * ordersMs, async () => {
          reports++;
          await ask(runtimeOrders, { runtime });
          return undefined;
        });
      }
    },
    async end(): Promise<void> {
      ending.abort();
      await Promise.all(loops);
      agent.destroy();
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
