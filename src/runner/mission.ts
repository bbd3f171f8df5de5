// One mission, from its claim to its end: the sequence of steps, each of which has a file.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { release } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { handIn } from './artifacts.ts';
import { type Account, type Confinement, commandFor, newAccount } from './confinement.ts';
import type { HarnessEvent } from './harness/port.ts';
import { shell } from './harness/shell.ts';
import { type State, startHeart } from './heart.ts';
import { clip, openJournal, type Session } from './journal.ts';
import { meter } from './measure.ts';
import { makePlace, type Place } from './place.ts';
import { type Platform, PlatformUnreachable, RequestRejected } from './platform.ts';
import { openPreview, type Preview } from './preview.ts';

export interface Claimed {
  runId: string;
  leaseId: string;
  missionTitle: string | null;
  prompt: string;
  instanceType: string;
  agent: { role: string; harness: string };
}
export const claimed = '{ runId leaseId missionTitle prompt instanceType agent { role harness } }';

/** Goes with every report of a run. */
export interface Held {
  runId: string;
  leaseId: string;
}

/** Milliseconds. */
export interface Pace {
  heartbeat: number;
  sample: number;
  flush: number;
  /** From asking a script to stop to ending it. */
  grace: number;
  timeout: number;
}

/**
 * Does what was claimed, and reports it. When `leaving` aborts, the run is handed back.
 * @throws what kept it from reporting how the run ended
 */
export async function carryOut(
  platform: Platform,
  run: Claimed,
  pace: Pace,
  confinement: Confinement,
  leaving: AbortSignal,
): Promise<void> {
  const held = { runId: run.runId, leaseId: run.leaseId };
  let place: Place | undefined;
  try {
    const account = await newAccount();
    place = await makePlace(run.prompt, account);
    const session = await openSession(platform, run, held, pace.timeout);
    const outcome = await execute(platform, run, held, session, place, account, pace, confinement, leaving);
    if (outcome === left) await platform.say('handBackRun', { ...held, reason: 'the runner is shutting down' });
    else await finish(platform, held, session, outcome);
  } catch (error) {
    // Another runtime holds the run, or will after the lease has expired: nothing more is reported.
    if (error instanceof PlatformUnreachable || (error instanceof RequestRejected && error.code === 'lease_lost'))
      throw error;
    const why = clip(`The runner failed: ${(error as Error).message}`, 2_000);
    await platform.say('finishRun', { ...held, status: 'failed', error: why });
  } finally {
    await place?.remove();
  }
}

async function openSession(platform: Platform, run: Claimed, held: Held, timeout: number): Promise<Session> {
  const { role, harness } = run.agent;
  const { sandboxId } = await platform.say<{ sandboxId: string }>(
    'registerSandbox',
    {
      ...held,
      key: 'shell',
      role,
      harness,
      harnessVersion: process.version,
      instanceType: run.instanceType,
      timeoutAt: Date.now() + timeout,
    },
    '{ sandboxId }',
  );
  const session = { sandboxId, leaseId: held.leaseId, role, sessionId: randomUUID() };
  await platform.say('reportSession', session);
  return session;
}

/** How a mission ends whose runner leaves. */
const left = 'left';

/** Gives how it came to its end: empty when all went well. */
async function execute(
  platform: Platform,
  run: Claimed,
  held: Held,
  session: Session,
  place: Place,
  account: Account | undefined,
  pace: Pace,
  { kind, description }: Confinement,
  leaving: AbortSignal,
): Promise<string> {
  const { sandboxId, role, sessionId } = session;
  const { work: cwd, artifacts } = place;
  const journal = openJournal(platform, held, session, pace.flush);
  const state: State = { progress: 0, activity: run.missionTitle ?? 'Working', changed: true, preview: null };
  let opening: Promise<Preview | null> | undefined;
  let over: (outcome: string) => void = () => {};
  const turn = new Promise<string>((resolve) => {
    over = resolve;
  });

  /** A preview is worth having, but no mission fails for want of one. */
  async function preview(shown: string): Promise<Preview | null> {
    try {
      state.preview = await openPreview(platform, held, sandboxId, cwd, shown, pace.timeout);
      journal.show({ kind: 'action', action: 'preview', parameter: state.preview.address });
      return state.preview;
    } catch (error) {
      journal.show({ kind: 'error', body: clip(`no preview: ${(error as Error).message}`, 2_000) });
      return null;
    }
  }

  async function take(event: HarnessEvent): Promise<void> {
    if ('turn' in event) return over(event.turn.error ?? '');
    if ('log' in event) journal.log(event.log);
    else if ('fragment' in event) journal.show(event.fragment);
    else if ('cost' in event) journal.cost(event.cost);
    else if ('preview' in event) opening ??= preview(event.preview);
    else if ('progress' in event) {
      const { progress, activity = state.activity } = event;
      Object.assign(state, { progress, activity, changed: true });
    }
    await journal.room();
  }

  await journal.write('prompt', run.prompt, 'mission');
  await journal.write(
    'system',
    `${process.platform} ${release()}, node ${process.version}, in ${cwd}\n${description}\n`,
  );
  if (leaving.aborted) return left;
  // All that a script gets of the runner's environment is PATH.
  const env = { PATH: process.env.PATH ?? '', LANG: 'C.UTF-8', HOME: cwd, ARTIFACTS: artifacts, RUN_ID: run.runId };
  const isConfined = kind !== 'none';
  const wrap = () => commandFor(kind, place);
  const script = shell({ file: place.file, cwd, env, account, graceMs: pace.grace, wrap, isConfined }, take);
  place.guard(script.pid);
  const sample = meter(script.pid, cwd);
  const heart = startHeart(platform, held, sandboxId, state, async () => (script.isRunning() ? sample() : null), pace);
  const decided = new AbortController();
  try {
    const outcome = await Promise.race([
      turn,
      script.ended.then(() => turn),
      heart.stopped,
      journal.broken,
      once(leaving, 'abort', { signal: decided.signal }).then(() => left),
      wait(pace.timeout, 'timeout', { signal: decided.signal }),
    ]);
    await script.end();
    place.guard(undefined);
    await (await opening)?.close();
    await journal.close();
    if (outcome !== left) await handIn(platform, held, { sandboxId, role, sessionId }, artifacts);
    await heart.end();
    return outcome;
  } finally {
    decided.abort();
    heart.stop();
    journal.stop();
    await script.end();
    await (await opening)?.close();
  }
}

async function finish(platform: Platform, held: Held, session: Session, outcome: string): Promise<void> {
  const status = outcome ? 'failed' : 'completed';
  const { sandboxId, leaseId } = session;
  await platform.say('reportSession', { ...session, outcome: outcome || status });
  await platform.say('finishSandbox', { sandboxId, leaseId, status, terminationReason: outcome || status });
  await platform.say('finishRun', { ...held, status, ...(outcome && { error: outcome }) });
}
