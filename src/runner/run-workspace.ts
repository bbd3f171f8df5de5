// Workspace of a run: the working folders of its steps, with the gateway to the models of its agents.
import { openAgentContexts } from './agent-context.ts';
import type { Claimed, Pace, RunLease, Step } from './contract.ts';
import type { Platform } from './protocol/platform.ts';
import { openPlaces } from './run-place.ts';
import { openScriptContext } from './script-context.ts';
import type { RunnerCapabilities, RunSettings, StepContext } from './step-context.ts';

export function openRunWorkspace(
  platform: Platform,
  capabilities: RunnerCapabilities,
  lease: RunLease,
  { orgId }: Claimed,
  pace: Pace,
) {
  const settings: RunSettings = {
    platform,
    capabilities,
    lease,
    orgId,
    limits: capabilities.limits,
    graceMs: pace.grace,
    askAgainMs: pace.heartbeat,
  };
  const places = openPlaces(settings);
  const agents = openAgentContexts(settings, places);
  return {
    prepare: (step: Step, maxCalls: number): Promise<StepContext> =>
      step.agent.harness === 'shell' ? openScriptContext(settings, places, step) : agents.prepare(step, maxCalls),
    close: places.close,
  };
}
