// The recording of a step. It begins with everything that a replay needs to repeat the step, without secrets.
import type { Step } from './contract.ts';
import type { Found } from './harness/discovery.ts';
import type { Recorder } from './protocol/recorder.ts';
import type { ReplayedCalls } from './protocol/replayed-calls.ts';
import type { RunPlace } from './run-place.ts';
import type { RunSettings, StepContext } from './step-context.ts';

interface Begun {
  step: Step;
  runPlace: RunPlace;
  found: Found;
  /** URLs of the MCP servers at the gateway by their names. */
  mcp: Record<string, string>;
  replay: ReplayedCalls | null;
}

function describeBeginning({ lease, orgId }: RunSettings, { step, runPlace, found, mcp }: Begun): object {
  const { environment, checkpoint, replay } = step;
  const { checkout, place } = runPlace;
  const secrets = environment.secrets.map((secret) => ({ ...secret, value: '[secret]' }));
  // A signed URL is a credential.
  const order = {
    ...step,
    checkpoint: checkpoint && { ...checkpoint, url: '' },
    replay: replay && { ...replay, url: '' },
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
 * Begins the recording of a step if the organization wants it, and its replay if there is one.
 * @param upload Stores the workspace and returns the id of its tree; null for an agent that changes nothing.
 */
export function recordStep(
  settings: RunSettings,
  recorder: Recorder,
  begun: Begun,
  upload: (() => Promise<string>) | null,
): Pick<StepContext, 'save' | 'endRecording' | 'replay'> {
  let tree: string | null = null;
  const { replay } = begun;
  const { stepId, isRecorded } = begun.step;
  const beginning = describeBeginning(settings, begun);
  if (isRecorded) recorder.begin(stepId, beginning);
  replay?.begin(stepId, beginning);
  return {
    replay,
    async save() {
      if (upload) tree = await upload();
      await recorder.save();
    },
    async endRecording(failure) {
      await replay?.end({ failure, tree });
      return recorder.end({ failure, tree, ...(replay?.isCut() && { isCut: true }) });
    },
  };
}
