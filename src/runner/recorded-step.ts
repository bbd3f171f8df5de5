// The recording of a step: its beginning has everything that a replay needs to begin it again, without secrets.
import type { Step } from './contract.ts';
import type { Found } from './harness/discovery.ts';
import type { Recorder } from './protocol/recorder.ts';
import type { RunPlace } from './run-place.ts';
import type { RunSettings, StepContext } from './step-context.ts';

interface Begun {
  step: Step;
  runPlace: RunPlace;
  found: Found;
  /** Addresses of the MCP servers at the gateway by their names. */
  mcp: Record<string, string>;
}

function describeBeginning({ lease, orgId }: RunSettings, { step, runPlace, found, mcp }: Begun): object {
  const { environment, checkpoint } = step;
  const { checkout, place } = runPlace;
  const secrets = environment.secrets.map((secret) => ({ ...secret, value: '[secret]' }));
  // The signed address of a checkpoint is a credential.
  const order = {
    ...step,
    checkpoint: checkpoint && { ...checkpoint, url: '' },
    environment: { ...environment, secrets },
  };
  return {
    run: { runId: lease.runId, orgId },
    order,
    harness: { harness: found.harness, version: found.version },
    start: checkout.start,
    folders: { work: place.work, home: place.home, artifacts: place.artifacts },
    mcp: Object.keys(mcp),
  };
}

/**
 * Begins the recording of a step if the organization wants it.
 * @param upload Stores the workspace and returns the id of its tree; null for an agent that changes nothing.
 */
export function recordStep(
  settings: RunSettings,
  recorder: Recorder,
  begun: Begun,
  upload: (() => Promise<string>) | null,
): Pick<StepContext, 'save' | 'endRecording'> {
  let tree: string | null = null;
  const { stepId, isRecorded } = begun.step;
  if (isRecorded) recorder.begin(stepId, describeBeginning(settings, begun));
  return {
    async save() {
      if (upload) tree = await upload();
      await recorder.save();
    },
    endRecording: (failure) => recorder.end({ failure, tree }),
  };
}
