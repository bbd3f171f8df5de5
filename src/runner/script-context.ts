// Context of a script step. Scripts run where agents do, in the checkout of the repository.
import type { Step } from './contract.ts';
import { serviceFailure, setUp } from './environment-setup.ts';
import { shell } from './harness/shell.ts';
import { isolate } from './isolated-step.ts';
import { type RunPlaces, variablesOf, writeScript } from './run-place.ts';
import type { RunSettings, StepContext } from './step-context.ts';
import { shellIn } from './step-shell.ts';
import { turnParts } from './workspace/instructions.ts';

export async function openScriptContext(settings: RunSettings, places: RunPlaces, step: Step): Promise<StepContext> {
  const { lease, graceMs } = settings;
  const runPlace = await places.of(step);
  const { place, isolation, caps, checkout, limits, connections, services } = runPlace;
  await writeScript(runPlace, step.prompt);
  const isolated = isolate(runPlace, step, graceMs);
  const { launch, enclosure, processOf } = isolated.open();
  // PATH is the only variable that a script inherits from the runner.
  const env = {
    ...launch.env,
    ...variablesOf(runPlace),
    HOME: place.home,
    ARTIFACTS: place.artifacts,
    RUN_ID: lease.runId,
  };
  // Isolated scripts have a separate /tmp.
  if (isolation.level === 'none') Object.assign(env, { TMPDIR: `${place.home}/tmp` });
  return {
    place,
    description: `${isolation.description} ${caps.description}\n${checkout.description}`,
    version: process.version,
    limits,
    enclosure,
    processOf,
    models: null,
    meter: null,
    questions: null,
    connections,
    services,
    setUp: (report) => setUp(settings, runPlace, isolated, report),
    broken: serviceFailure(runPlace),
    openShell: shellIn(runPlace, isolated, lease, false),
    start: (on) => shell({ ...launch, env, file: place.file }, on),
    prompt: turnParts(step, false),
    remember: () => {},
    save: async () => {},
    replay: null,
    endRecording: async () => '',
    deliver: checkout.deliver,
    attest: checkout.attest,
    clear: isolated.close,
  };
}
