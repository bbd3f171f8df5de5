// Runs the commands of a setup in the isolation of missions, with the setup's network, secrets and time limit.
import { setTimeout as wait } from 'node:timers/promises';
import type { IsolatedStep } from './isolated-step.ts';
import { commonPaths } from './isolation/cell.ts';
import { hasEgress } from './isolation/level.ts';
import { startProcess } from './isolation/process.ts';
import { type RunPlace, variablesOf } from './run-place.ts';
import type { RunSettings, SetupReport } from './step-context.ts';
import { watchUsage } from './step-usage.ts';
import { bounded } from './text.ts';

const sampleMs = 1_000;

/** Runs the commands one after the other. @returns the reason for a failure; empty on success */
export async function runCommands(
  settings: RunSettings,
  runPlace: RunPlace,
  isolated: IsolatedStep,
  report: SetupReport,
): Promise<string> {
  if (report.signal.aborted) return 'stopped';
  const done = new AbortController();
  const timeoutMs = settings.capabilities.setupTimeoutMs;
  const timeout = wait(timeoutMs, `the setup took longer than ${Math.round(timeoutMs / 1_000)} s`, {
    signal: done.signal,
  });
  timeout.catch(() => {});
  const log = bounded(report.log);
  try {
    for (const command of runPlace.plan.commands) {
      const failure = await runOne(runPlace, isolated, command, timeout, { ...report, log });
      if (failure) return failure;
    }
    return '';
  } finally {
    done.abort();
  }
}

async function runOne(
  runPlace: RunPlace,
  isolated: IsolatedStep,
  command: string,
  timeout: Promise<string>,
  { log, signal }: SetupReport,
): Promise<string> {
  const { place, plan, limits, isolation, services } = runPlace;
  const { launch, enclosure, processOf } = isolated.open();
  // In a cell or container, the working folder and the home directory have the same paths for every mission.
  const { work, home } = hasEgress(isolation.level) ? commonPaths : place;
  const env = { ...launch.env, ...variablesOf(runPlace), ...plan.setupSecrets, HOME: home, CI: 'true' };
  const program = startProcess(
    { ...launch, env },
    {
      program: 'sh',
      args: ['-c', 'cd "$0" && exec sh -c "$1"', work, command],
      hasInput: false,
      maxLineBytes: 20_000,
      out: log,
      err: log,
    },
  );
  place.guard(program.pid, enclosure?.watchdogArguments);
  const ended = new AbortController();
  const context = { enclosure, processOf, limits, place, services };
  const usage = watchUsage(context, program, sampleMs, ended.signal);
  try {
    const failure = await Promise.race([
      program.silent,
      timeout,
      usage.exceeded,
      ...(services ? [services.failed] : []),
      new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('stopped'), { once: true })),
    ]);
    await program.end();
    return failure && ((await usage.reason(failure === 'stopped')) ?? failure);
  } finally {
    ended.abort();
    await program.end();
    place.guard(undefined);
  }
}
