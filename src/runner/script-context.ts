// Context of a script step: a place and an account of its own.
import type { Step } from './contract.ts';
import { shell } from './harness/shell.ts';
import { prefixOf } from './isolation/caps.ts';
import { commandFor, newAccount } from './isolation/confinement.ts';
import { makePlace } from './isolation/place.ts';
import { inGroup, openGroup, type RunSettings, type StepContext } from './step-context.ts';
import { turnParts } from './workspace/instructions.ts';

export async function openScriptContext(
  { capabilities, lease, limits, graceMs }: RunSettings,
  step: Step,
): Promise<StepContext> {
  const { caps, confinement } = capabilities;
  const { kind, description } = confinement;
  const account = await newAccount();
  const place = await makePlace(step.prompt, account);
  const { file, work: cwd, artifacts } = place;
  // All that a script gets of the runner's environment is PATH.
  const env = { PATH: process.env.PATH ?? '', LANG: 'C.UTF-8', HOME: cwd, ARTIFACTS: artifacts, RUN_ID: lease.runId };
  // Confined scripts have a /tmp of their own.
  if (kind === 'none') Object.assign(env, { TMPDIR: `${place.home}/tmp` });
  const wrap = () => commandFor(kind, place, prefixOf(caps.scripts, limits));
  const group = openGroup(caps.scripts, step, limits);
  const isConfined = kind !== 'none';
  const task = { file, cwd, env, account, graceMs, wrap, isConfined, group: group ?? undefined };
  return {
    place,
    description: `${description} ${caps.scripts.description}`,
    version: process.version,
    limits,
    enclosure: group && inGroup(group),
    processOf: async ({ pid }) => pid,
    models: null,
    meter: null,
    start: (on) => shell(task, on),
    prompt: turnParts(step, false),
    remember: () => {},
    save: async () => {},
    deliver: async () => {},
    async clear() {
      await group?.close();
      await place.remove();
    },
  };
}
