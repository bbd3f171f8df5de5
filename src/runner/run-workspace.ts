// Workspace of a run: one place for its agents, with the gateway that is their only way out, and one for each script.
import { openAgentContexts } from './agent-context.ts';
import type { Pace, RunLease, Step } from './contract.ts';
import type { Platform } from './protocol/platform.ts';
import { openScriptContext } from './script-context.ts';
import type { RunnerCapabilities, RunSettings, StepContext } from './step-context.ts';

export function openRunWorkspace(
  platform: Platform,
  capabilities: RunnerCapabilities,
  lease: RunLease,
  memoryMb: number,
  pace: Pace,
) {
  const memoryBytes = Math.min(memoryMb * 1024 ** 2, capabilities.limits.memoryBytes);
  const settings: RunSettings = {
    platform,
    capabilities,
    lease,
    limits: { ...capabilities.limits, memoryBytes },
    graceMs: pace.grace,
    askAgainMs: pace.heartbeat,
  };
  const agents = openAgentContexts(settings);
  return {
    prepare: (step: Step, maxCalls: number): Promise<StepContext> =>
      step.agent.harness === 'shell' ? openScriptContext(settings, step) : agents.prepare(step, maxCalls),
    close: agents.close,
  };
}
