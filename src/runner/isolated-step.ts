// The cell, container or cgroup of a step, with the launch of its programs.
import type { Step } from './contract.ts';
import { prefixOf } from './isolation/caps.ts';
import { openContainer, watchdogArguments } from './isolation/container.ts';
import { launchOf, scriptIn } from './isolation/isolation.ts';
import type { Place } from './isolation/place.ts';
import type { HarnessLaunch } from './isolation/process.ts';
import type { RunPlace } from './run-place.ts';
import { inGroup, openGroup, type StepContext } from './step-context.ts';

export type IsolatedStep = ReturnType<typeof isolate>;

export function isolate(runPlace: RunPlace, step: Step, graceMs: number) {
  const { isolation, caps, limits, place, account, containers } = runPlace;
  const { level } = isolation;
  const group = openGroup(caps, step, limits);
  const prefix = prefixOf(caps, limits);

  /** Opens the isolation for one program: each program gets its own container. @param other Folders that replace those of the mission. */
  function open(
    isServer = false,
    isReadOnly = false,
    other: Partial<Place> = {},
  ): { launch: HarnessLaunch; enclosure: StepContext['enclosure']; processOf: StepContext['processOf'] } {
    const its = { ...place, ...other, isReadOnly };
    const container = containers && openContainer(containers, its, account, limits, isServer);
    const launch = launchOf(level, its, account, graceMs, isServer, prefix, container);
    return {
      launch: { ...launch, group: group ?? undefined },
      enclosure: container
        ? { ...container, watchdogArguments: watchdogArguments(containers, container) }
        : group && inGroup(group),
      processOf: container ? container.firstProcess : async ({ pid }) => pid,
    };
  }

  return {
    open,
    runScript: scriptIn({ ...isolation, ...(containers && { containers }) }, place, account, limits, prefix),
    close: async () => group?.close(),
  };
}
