// A person's shell in the sandbox of a step: isolated like the agent of the step, with the same files, variables and network.
import type { RunLease } from './contract.ts';
import type { IsolatedStep } from './isolated-step.ts';
import { commonPaths } from './isolation/cell.ts';
import { hasEgress } from './isolation/level.ts';
import { hasDevices, startShell } from './isolation/shell.ts';
import type { OpenShell } from './protocol/terminals.ts';
import { type RunPlace, variablesOf } from './run-place.ts';

/** A shell script that enters the checkout and starts bash, or sh if bash is missing. */
const script = 'cd "$0" && exec "$(command -v bash || command -v sh)" -i';

/**
 * Returns a function that opens shells in the sandbox. @param isReadOnly Whether the agent is not allowed to change its checkout. Then the
 * person may not change it either, because the changes would be lost.
 */
export const shellIn =
  (runPlace: RunPlace, isolated: IsolatedStep, { runId }: RunLease, isReadOnly: boolean): OpenShell =>
  async (size, on) => {
    const { place, isolation } = runPlace;
    const { launch, enclosure } = isolated.openShell(isReadOnly, await hasDevices());
    const { work, home } = hasEgress(isolation.level) ? commonPaths : place;
    const own = { HOME: home, ARTIFACTS: place.artifacts, RUN_ID: runId, TERM: 'xterm-256color' };
    const env = { ...launch.env, ...variablesOf(runPlace), ...own };
    const { watchdogArguments } = enclosure ?? {};
    return startShell({ ...launch, env, watchdogArguments }, ['-c', script, work], size, on);
  };
