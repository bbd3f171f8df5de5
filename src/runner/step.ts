// One step of a run: a sandbox in which one harness works, from its prompt to its end; the sequence of what is reported.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { release } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import type { Claimed, Pace, RunLease, Session, Step } from './contract.ts';
import { registerSandbox, reportSession } from './generated/operations.ts';
import { converse } from './harness/conversation.ts';
import type { HarnessEvent, Turn } from './harness/port.ts';
import { overDisk, overMemory } from './isolation/caps.ts';
import { openDiskMeter } from './isolation/disk.ts';
import { meter, type ProcessSample } from './isolation/measure.ts';
import { type State, startHeartbeat } from './protocol/heartbeat.ts';
import { openJournal } from './protocol/journal.ts';
import { type Platform, RequestRejected } from './protocol/platform.ts';
import { openPreview, type Preview } from './protocol/preview.ts';
import type { StepContext } from './step-context.ts';
import { clip } from './text.ts';
import { uploadArtifacts } from './workspace/artifacts.ts';

/** Outcome of a step when the runner shuts down. */
export const runnerStopped = 'runner stopped';

export interface Outcome {
  /** Why it failed; empty when all went well. */
  failure: string;
  /** The structured output as JSON. */
  output: string | null;
  /** The harness' own id of its session. */
  sessionId: string | null;
  /** Calls of the model. */
  turns: number;
}

/** Characters that the platform takes as output. */
const longestOutput = 65_536;

/** Runs the step and reports everything except its outcome. */
export async function work(
  platform: Platform,
  run: Claimed,
  step: Step,
  context: StepContext,
  pace: Pace,
  stopping: AbortSignal,
): Promise<Outcome & { session: Session }> {
  const lease = { runId: run.runId, leaseId: run.leaseId };
  const timeout = Math.min(pace.timeout, run.stepTimeoutMs);
  const session = await openSession(platform, run, step, lease, context.version, timeout);
  const { sandboxId, role, sessionId } = session;
  const { work: cwd, artifacts } = context.place;
  const journal = openJournal(platform, lease, { ...session, stepId: step.stepId }, pace.flush);
  const activity = run.missionTitle ?? 'Working';
  const state: State = {
    progress: 0,
    activity,
    changed: true,
    preview: null,
    acknowledged: [],
    steer: () => {},
    updateModels: () => {},
  };
  const result = { output: null as string | null, sessionId: null as string | null, turns: 0 };
  let opening: Promise<Preview | null> | undefined;
  let turnEnded: (turn: Turn) => void = () => {};

  /** A failed preview does not fail the mission. */
  async function preview(folder: string): Promise<Preview | null> {
    try {
      state.preview = await openPreview(platform, lease, sandboxId, cwd, folder, timeout);
      journal.show({ kind: 'action', action: 'preview', parameter: state.preview.address });
      return state.preview;
    } catch (error) {
      journal.show({ kind: 'error', body: clip(`no preview: ${(error as Error).message}`, 2_000) });
      return null;
    }
  }

  async function take(event: HarnessEvent): Promise<void> {
    if ('turn' in event) return turnEnded(event.turn);
    if ('log' in event) journal.log(event.log);
    else if ('fragment' in event) journal.show(event.fragment);
    else if ('cost' in event) journal.cost(event.cost);
    else if ('usage' in event) {
      result.turns++;
      journal.usage(event.usage);
    } else if ('session' in event) {
      result.sessionId = event.session;
      context.remember(event.session);
    } else if ('preview' in event) opening ??= preview(event.preview);
    else {
      const { progress, activity = state.activity } = event;
      Object.assign(state, { progress, activity, changed: true });
    }
    await journal.room();
  }

  const { harness: name } = step.agent;
  for (const [i, { text, ...span }] of context.prompt.entries()) {
    await journal.write('prompt', i < context.prompt.length - 1 ? `${text}\n\n` : text, span);
  }
  await journal.write(
    'system',
    `${process.platform} ${release()}, ${name === 'shell' ? 'node' : name} ${context.version}, in ${cwd}\n${context.description}\n`,
  );
  if (stopping.aborted) return { ...result, session, failure: runnerStopped };
  const harness = context.start(take);
  context.place.guard(harness.pid, context.enclosure?.watchdogArguments);
  const talk = converse(harness, {
    prompted: (text) => journal.show({ kind: 'prompt', body: clip(text, 16_000) }),
    acknowledged: (messageId) => {
      state.acknowledged.push(messageId);
      state.changed = true;
    },
    interrupted: (isInterrupted) =>
      Object.assign(state, { activity: isInterrupted ? 'Interrupted' : activity, changed: true }),
  });
  turnEnded = talk.turnEnded;
  state.steer = talk.steer;
  if (context.models) state.updateModels = context.models.update;
  const decided = new AbortController();
  const sample = meter(harness.pid, context.limits.memoryBytes);
  let latest: ProcessSample | null = null;
  const measureDisk = openDiskMeter(context.place.folder);
  let diskBytes = 0;
  const isOverDisk = () => diskBytes > context.limits.diskBytes;
  /** Resolves when more memory is measured than it may use. The platform is not waited for. */
  async function overuse(): Promise<void> {
    for (; context.isMeasured && harness.isRunning(); await wait(pace.sample, undefined, { signal: decided.signal })) {
      latest = await sample().catch(() => null);
      if (latest && latest.memUsedMb > latest.memTotalMb) return;
    }
    await new Promise(() => {});
  }
  /** The same for its files. Large folders are measured less often: that takes a twentieth of the time at most. */
  async function overuseOfDisk(): Promise<void> {
    while (harness.isRunning()) {
      const begun = performance.now();
      diskBytes = await measureDisk().catch(() => diskBytes);
      if (isOverDisk()) return;
      await wait(Math.max(pace.sample, 20 * (performance.now() - begun)), undefined, { signal: decided.signal });
    }
    await new Promise(() => {});
  }
  const measured = async () => {
    const diskUsedPct = Math.min(100, Math.round((10_000 * diskBytes) / context.limits.diskBytes) / 100);
    const unreported = latest && { ...latest, diskUsedPct };
    latest = null;
    return unreported;
  };
  /** A program that was ended for its memory, or could not write more, does not tell. */
  async function reasonOf(failure: string): Promise<string> {
    if (await context.enclosure?.isOverMemory()) return overMemory(context.limits);
    diskBytes = await measureDisk().catch(() => diskBytes);
    return isOverDisk() && failure !== runnerStopped ? overDisk(context.limits) : failure;
  }
  /** The mission continues without one. */
  const save = () =>
    context.save().catch((error) => {
      if (error instanceof RequestRejected && error.code === 'lease_lost') throw error;
      journal.log(`No checkpoint: ${clip((error as Error).message, 2_000)}\n`);
    });
  const saving = repeat(save, pace.checkpoint, decided.signal);
  const heartbeat = startHeartbeat(platform, lease, sandboxId, state, measured, pace);
  try {
    const decision = await Promise.race([
      talk.over.then((turn) => failureOf(turn, result)),
      // One that cannot be started rejects; one that ends tells of its turn first.
      harness.ended.then(() => talk.over).then((turn) => failureOf(turn, result)),
      heartbeat.stopped,
      journal.broken,
      ...(context.models ? [context.models.failed] : []),
      overuse().then(() => overMemory(context.limits)),
      overuseOfDisk().then(() => overDisk(context.limits)),
      once(stopping, 'abort', { signal: decided.signal }).then(() => runnerStopped),
      wait(timeout, 'timeout', { signal: decided.signal }),
    ]);
    await harness.end();
    const failure = decision && (await reasonOf(decision));
    context.place.guard(undefined);
    await (await opening)?.close();
    decided.abort();
    await saving;
    // A checkpoint takes as much again.
    if (!isOverDisk()) await save();
    await journal.close();
    // Also of a step that failed: another one continues from its commits.
    await context.deliver();
    if (failure !== runnerStopped) await uploadArtifacts(platform, lease, { sandboxId, role, sessionId }, artifacts);
    await heartbeat.end();
    return { ...result, session, failure };
  } finally {
    decided.abort();
    heartbeat.stop();
    journal.stop();
    await harness.end();
    await (await opening)?.close();
  }
}

/** Repeats the work every `everyMs` until aborted; an error ends it, since the work that follows meets it too. */
async function repeat(work: () => Promise<void>, everyMs: number, signal: AbortSignal): Promise<void> {
  try {
    for (;;) {
      await wait(everyMs, undefined, { signal });
      await work();
    }
  } catch {
    // Aborted, or the lease is lost.
  }
}

/** Why the last turn failed; its structured output is kept. */
function failureOf(turn: Turn, result: { output: string | null }): string {
  if (turn.status !== 'completed') return clip(turn.error || 'The turn failed.', 2_000);
  if (turn.structured === undefined) return '';
  const output = JSON.stringify(turn.structured);
  if (output.length > longestOutput) return `The structured output is longer than ${longestOutput} characters.`;
  result.output = output;
  return '';
}

async function openSession(
  platform: Platform,
  { instanceType }: Claimed,
  step: Step,
  lease: RunLease,
  harnessVersion: string,
  timeout: number,
): Promise<Session> {
  const { role, harness } = step.agent;
  const sandbox = { key: step.stepId, role, harness, harnessVersion, instanceType, timeoutAt: Date.now() + timeout };
  const { sandboxId } = await platform.mutate(registerSandbox, { ...lease, ...sandbox });
  const session = { sandboxId, leaseId: lease.leaseId, role, sessionId: randomUUID() };
  await platform.mutate(reportSession, session);
  return session;
}
