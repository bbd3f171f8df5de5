// The cell, container or cgroup of a step, and how its programs are started in it.
import type { Step } from './contract.ts';
import { prefixOf } from './isolation/caps.ts';
import { openContainer, watchdogArguments } from './isolation/container.ts';
import { launchOf, scriptIn } from './isolation/isolation.ts';
import type { Place } from './isolation/place.ts';
import type { HarnessLaunch } from './isolation/process.ts';
import type { RunPlace } from './run-place.ts';
import { guardByGroup, openGroup, type StepContext } from './step-context.ts';

export type IsolatedStep = ReturnType<typeof isolate>;

export function isolate(runPlace: RunPlace, step: Step, graceMs: number) {
  const { isolation, caps, limits, place, account, containers } = runPlace;
  const { level } = isolation;
  const group = openGroup(caps, step, limits);
  const prefix = prefixOf(caps, limits);

  /**
   * Creates the isolation in which one program runs. If the mission runs in containers, each program gets its own container.
   * @param other Folders that replace the folders of the mission
   */
  function open(
    isServer = false,
    isReadOnly = false,
    other: Partial<Place> = {},
    /** Whether the program gets a terminal device. */
    hasDevice = false,
    ownContainers = containers,
  ): { launch: HarnessLaunch; enclosure: StepContext['enclosure']; processOf: StepContext['processOf'] } {
    const its = { ...place, ...other, isReadOnly };
    const container = ownContainers && openContainer(ownContainers, its, account, limits, isServer, hasDevice);
    const launch = launchOf(level, its, account, graceMs, isServer, prefix, container, hasDevice);
    return {
      launch: { ...launch, group: group ?? undefined },
      enclosure: container
        ? { ...container, watchdogArguments: watchdogArguments(ownContainers!, container) }
        : group && guardByGroup(group),
      processOf: container ? container.firstProcess : async ({ pid }) => pid,
    };
  }

  /**
   * The isolation of a person's shell. The shell does not join the network of the services, because the running agent already uses its
   * ports there.
   */
  const openShell = (isReadOnly: boolean, hasDevice: boolean) =>
    open(false, isReadOnly, {}, hasDevice, containers && { ...containers, network: undefined });

  return {
    open,
    openShell,
    runScript: scriptIn({ ...isolation, ...(containers && { containers }) }, place, account, limits, prefix),
    close: async () => group?.close(),
  };
}
