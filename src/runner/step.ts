// One step of a run: a sandbox in which one harness works, from its prompt to its end. This module also determines the order of the
// reports.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { release } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import type { Claimed, Pace, RunLease, Session, Step } from './contract.ts';
import { registerSandbox, reportSession } from './generated/operations.ts';
import type { Harness, Turn } from './harness/port.ts';
import { type State, startHeartbeat } from './protocol/heartbeat.ts';
import { type Journal, openJournal } from './protocol/journal.ts';
import { type Platform, RequestRejected } from './protocol/platform.ts';
import { openPreview } from './protocol/preview.ts';
import { openTerminals } from './protocol/terminals.ts';
import type { StepContext } from './step-context.ts';
import { openEvents } from './step-events.ts';
import { reportConnectionsOf, runnerStopped, setUpStep } from './step-setup.ts';
import { timeUp } from './step-time.ts';
import { watchUsage } from './step-usage.ts';
import { clip } from './text.ts';
import { uploadArtifacts, uploadText } from './workspace/artifacts.ts';

export interface Outcome {
  /** Reason for the failure; empty for success. */
  failure: string;
  /** The structured output as JSON. */
  output: string | null;
  /** The harness' own id of its session. */
  sessionId: string | null;
  /** Number of model calls. */
  turns: number;
}

/** Maximum number of characters of an output on the platform. */
const maxOutputCharacters = 65_536;

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
  const timeout = Math.min(pace.timeout, timeOf(step) ?? run.stepTimeoutMs);
  const session = await openSession(platform, step, lease, context, timeout + run.answerTimeoutMs);
  const journal = openStepJournal(platform, lease, { ...session, stepId: step.stepId }, pace, context);
  const events = openEvents(journal, run, step, context.remember, (folder) =>
    openPreview(platform, lease, session.sandboxId, context.place.work, folder, timeout),
  );
  const settingUp = setUpStep(platform, lease, context, journal, pace, stopping);
  const unprepared = await both(settingUp, writePrompt(journal, step, context));
  if (unprepared) return { ...events.result, session, failure: unprepared };
  context.questions?.begin(journal);
  const harness = context.start(events.take);
  context.place.guard(harness.pid, context.enclosure?.watchdogArguments);
  const talk = events.steerWith(harness, context);
  const terminals = openStepTerminals(platform, lease, session, context, events.state);
  const decided = new AbortController();
  const usage = watchUsage(context, harness, pace.sample, decided.signal);
  const saving = keepCheckpoints(context, journal, pace, decided.signal);
  void repeat(() => reportConnectionsOf(platform, lease, context), pace.heartbeat, decided.signal);
  const heartbeat = startHeartbeat(platform, lease, session.sandboxId, events.state, usage.unreported, pace);
  try {
    const decision = await Promise.race([
      ...endings(harness, talk.over, events.result),
      heartbeat.stopped,
      journal.broken,
      ...endsAround(context, journal),
      usage.exceeded,
      once(stopping, 'abort', { signal: decided.signal }).then(() => runnerStopped),
      timeUp(timeout, run.answerTimeoutMs, context.questions, decided.signal),
    ]);
    await Promise.all([endHarness(context, harness, talk.over, pace), terminals.end()]);
    const ended = decision && ((await usage.reason(decision === runnerStopped)) ?? decision);
    context.place.guard(undefined);
    await events.closePreview();
    decided.abort();
    await saving;
    await saveLast(context, journal, usage.isOverDisk(), ended);
    const failure = ended === runnerStopped ? ended : (context.replay?.result().difference ?? ended);
    await Promise.all([journal.close(), context.meter?.settled(), reportConnectionsOf(platform, lease, context)]);
    // The commits of a failed step are pushed too, because another step continues from them; they are attested with the calls that were
    // made so far.
    if (hasEndedAsRecorded(context)) await context.deliver(session);
    if (failure !== runnerStopped) await uploadArtifacts(platform, lease, session, context.place.artifacts);
    await heartbeat.end();
    return { ...events.result, session, failure };
  } finally {
    decided.abort();
    for (const one of [heartbeat, journal]) one.stop();
    await Promise.all([harness.end(), terminals.end()]);
    await events.closePreview();
  }
}

/** Terminals that people open beside the harness. */
function openStepTerminals(
  platform: Platform,
  lease: RunLease,
  session: Session,
  { openShell, place }: StepContext,
  state: State,
) {
  const record = async (caption: string, text: string) => {
    const described = { caption, kind: 'log', contentType: 'text/plain' } as const;
    await uploadText(platform, lease, session, place.artifacts, described, text);
  };
  const terminals = openTerminals(platform, lease, openShell, record);
  state.openTerminals = terminals.start;
  return { end: () => terminals.close('The step has ended.') };
}

/** Time limit of the template, milliseconds; null means it has none. */
const timeOf = ({ environment: { stepMinutes } }: Step): number | null => stepMinutes && stepMinutes * 60_000;

/**
 * Opens the journal of a step. It ignores the harness's own reports of tokens once the gateway has metered a call, because the gateway has
 * already reported the tokens.
 */
function openStepJournal(
  platform: Platform,
  lease: RunLease,
  session: Session & { stepId: string },
  { flush }: Pace,
  { meter, replay }: StepContext,
): Journal {
  const journal = openJournal(platform, lease, session, flush);
  // Calls that a recording has answered cost nothing.
  if (replay) return { ...journal, usage: () => {}, cost: () => {} };
  return { ...journal, usage: (one) => void (meter?.isUsed() || journal.usage(one)) };
}

/**
 * Returns two promises: the first resolves when the last turn of the harness has ended, and the second when the harness itself has ended.
 * Each resolves with the reason if the turn has failed, and with an empty text if it was successful.
 */
const endings = (harness: Harness, over: Promise<Turn>, result: { output: string | null }): Promise<string>[] => [
  over.then((turn) => failureOf(turn, result)),
  // The wait for `over` is not endless: `ended` resolves only for a harness that has started, and such a harness reports the end of its
  // turn before the harness itself ends. For a harness that cannot be started, `ended` rejects.
  harness.ended.then(() => over).then((turn) => failureOf(turn, result)),
];

/** Ends the harness. A harness stores its session when its turn ends, so a turn with a call that is kept open is interrupted first. */
async function endHarness({ replay }: StepContext, harness: Harness, over: Promise<Turn>, { grace }: Pace) {
  if (replay?.isCut()) await Promise.race([harness.interrupt().then(() => over), wait(grace)]).catch(() => {});
  await harness.end();
}

/**
 * Whether the step has ended as it did in its recording; also true for a step that is not a replay. If false, its work is not delivered:
 * the replay is repeated, or the mission fails.
 */
const hasEndedAsRecorded = ({ replay }: StepContext): boolean =>
  !replay || (!replay.isCut() && replay.result().difference === null);

/**
 * Promises that resolve when something other than the harness ends the step: its models fail, the services of its environment fail, or its
 * replay is over. They resolve with the reason, which is empty for a replay, because a replay reports its failure itself.
 */
const endsAround = ({ models, broken, replay }: StepContext, { log }: Journal): Promise<string>[] => [
  ...(models ? [models.failed] : []),
  ...(replay ? [replay.over().then(() => '')] : []),
  broken.then((why) => {
    log(`${why}\n`);
    return why;
  }),
];

/** Writes the parts of the prompt, and the platform, program and folder of the step, to the log of the sandbox. */
async function writePrompt({ write }: Journal, { agent: { harness } }: Step, context: StepContext): Promise<void> {
  const { prompt, version, place, description } = context;
  for (const [i, { text, ...span }] of prompt.entries()) {
    await write('prompt', i < prompt.length - 1 ? `${text}\n\n` : text, span);
  }
  const program = harness === 'shell' ? 'node' : harness;
  await write('system', `${process.platform} ${release()}, ${program} ${version}, in ${place.work}\n${description}\n`);
}

/** Waits for both promises and returns the result of `first`. An error of `other` is thrown only after `first` has resolved. */
async function both<T>(first: Promise<T>, other: Promise<void>): Promise<T> {
  other.catch(() => {});
  const result = await first;
  await other;
  return result;
}

/** A failed checkpoint does not fail the mission. */
const saveCheckpoint = (context: StepContext, journal: Journal): Promise<void> =>
  context.save().catch((error) => {
    if (error instanceof RequestRejected && error.code === 'lease_lost') throw error;
    journal.log(`No checkpoint: ${clip((error as Error).message, 2_000)}\n`);
  });

/** No checkpoint of a replay is stored: if another runtime takes over, the replay begins anew from the workspace before the step. */
const keepCheckpoints = (context: StepContext, journal: Journal, { checkpoint }: Pace, ended: AbortSignal) =>
  context.replay ? Promise.resolve() : repeat(() => saveCheckpoint(context, journal), checkpoint, ended);

/** An incomplete recording does not fail the mission. */
async function saveLast(context: StepContext, journal: Journal, isOverDisk: boolean, failure: string): Promise<void> {
  // A step over its disk limit gets no checkpoint, which would need the same amount of space again.
  if (!isOverDisk) await saveCheckpoint(context, journal);
  const why = await context.endRecording(failure);
  if (why) journal.log(`The recording is incomplete: ${why}\n`);
}

/** Repeats the work every `everyMs` until aborted; an error ends the repetition, because the work would fail again. */
async function repeat(work: () => Promise<void>, everyMs: number, signal: AbortSignal): Promise<void> {
  try {
    for (;;) {
      await wait(everyMs, undefined, { signal });
      await work();
    }
  } catch {
    // The work ends without an error when the signal is aborted or the lease is lost.
  }
}

/** Returns the error of a turn. If the turn was successful, returns an empty text and stores the turn's structured output in `result`. */
function failureOf(turn: Turn, result: { output: string | null }): string {
  if (turn.status !== 'completed') return clip(turn.error || 'The turn failed.', 2_000);
  if (turn.structured === undefined) return '';
  const output = JSON.stringify(turn.structured);
  if (output.length > maxOutputCharacters)
    return `The structured output is longer than ${maxOutputCharacters} characters.`;
  result.output = output;
  return '';
}

async function openSession(
  platform: Platform,
  step: Step,
  lease: RunLease,
  { version: harnessVersion, meter }: StepContext,
  timeout: number,
): Promise<Session> {
  const { role, harness } = step.agent;
  const { instanceType } = step.environment;
  const sandbox = { key: step.stepId, role, harness, harnessVersion, instanceType, timeoutAt: Date.now() + timeout };
  const { sandboxId } = await platform.mutate(registerSandbox, { ...lease, ...sandbox });
  const session = { sandboxId, leaseId: lease.leaseId, role, sessionId: randomUUID() };
  await platform.mutate(reportSession, session);
  meter?.countFor({ ...session, stepId: step.stepId, traceparent: step.traceparent });
  return session;
}
