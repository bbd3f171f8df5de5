// Setup of an environment: its image is built, and its commands run once for all missions of the same key.
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { type PreparationStatus, reportPreparation } from './generated/operations.ts';
import type { IsolatedStep } from './isolated-step.ts';
import { chownRecursive } from './isolation/accounts.ts';
import { buildImage, pullImage } from './isolation/image.ts';
import type { RunPlace } from './run-place.ts';
import { runCommands } from './setup-commands.ts';
import type { RunSettings, SetupReport } from './step-context.ts';
import { clip } from './text.ts';
import { environmentKey } from './workspace/environment-key.ts';

/** Time within which services have to be ready, once their images are available. */
const servicesTimeoutMs = 120_000;
/** Maximum number of characters of the last log lines in a report. */
const maxTailCharacters = 4_000;
/** Maximum number of characters of a note, and maximum number of notes in a report. */
const maxNote = { characters: 1_000, count: 20 };

/** Prepares the environment once, then applies the agents' network policy. @returns the reason for a failure; empty on success */
export async function setUp(
  settings: RunSettings,
  runPlace: RunPlace,
  isolated: IsolatedStep,
  report: SetupReport,
): Promise<string> {
  const { plan, egress, containers } = runPlace;
  if (runPlace.isPrepared) {
    if (containers && !containers.pod) await settings.capabilities.images.used(containers.image);
  } else {
    for (const note of plan.notes) report.log(`${note}\n`);
    const failure = await prepare(settings, runPlace, isolated, report).catch((error) => error.message);
    if (failure) return clip(`The environment ${plan.template.templateName} is not ready: ${failure}`, 2_000);
  }
  const ended = runPlace.services?.failure();
  if (ended) return noLongerReady(runPlace, ended);
  runPlace.isPrepared = true;
  egress?.set({ phase: 'agent', policy: plan.network.agent });
  return '';
}

const noLongerReady = ({ plan }: RunPlace, why: string): string =>
  clip(`The environment ${plan.template.templateName} is no longer ready: ${why}`, 2_000);

/**
 * Resolves when a service of the environment ends while a step is running; the value says which environment is no longer ready, and why.
 */
export const serviceFailure = async (runPlace: RunPlace): Promise<string> =>
  noLongerReady(runPlace, await (runPlace.services?.failed ?? new Promise<string>(() => {})));

async function prepare(
  settings: RunSettings,
  runPlace: RunPlace,
  isolated: IsolatedStep,
  report: SetupReport,
): Promise<string> {
  const { capabilities, orgId } = settings;
  const { prepared } = capabilities;
  const { plan, place, account, containers, egress, interception } = runPlace;
  const secrets = interception?.secrets;
  const key = await keyOf(runPlace);
  const { log, tell, failWith } = openTelling(settings, runPlace, key, report);
  const own = async () => {
    for (const folder of [place.work, place.home]) await chownRecursive(folder, account);
  };
  const hasServices = plan.template.services.length > 0;
  const missing = await openContainers(settings, runPlace, { ...report, log }, () => tell('preparing'));
  if (missing) return failWith(missing);
  if (plan.commands.length === 0) {
    if (hasServices || plan.notes.length > 0 || (containers && (plan.image || plan.dockerfile))) await tell('ready');
    return '';
  }

  async function restored(): Promise<boolean> {
    // The files of an earlier setup are not restored if the environment has services: the setup must run again, because it may also fill a
    // database in a service.
    if (hasServices) return false;
    const begun = Date.now();
    const found = await prepared.restore(orgId, key, place);
    if (!found) return false;
    secrets?.accept(found.placeholders ?? {});
    await own();
    log(`The environment was prepared before, in ${found.seconds} s; copying it took ${Date.now() - begun} ms.\n`);
    await tell('ready', found.bytes, 0);
    return true;
  }

  if (await restored()) return '';
  return prepared.alone(orgId, key, async () => {
    if (report.signal.aborted) return 'stopped';
    if (await restored()) return '';
    const begun = Date.now();
    await tell('preparing');
    await prepared.seed(orgId, place.home);
    await own();
    egress?.set({ phase: 'setup', policy: plan.network.setup });
    const failure = await runCommands(settings, runPlace, isolated, { ...report, log });
    if (failure) return failWith(failure);
    const seconds = Math.round((Date.now() - begun) / 1_000);
    const bytes = await keep(settings, runPlace, isolated, key, seconds).catch((error) => {
      log(`The environment could not be stored for later missions: ${error.message}\n`);
      return 0;
    });
    await tell('ready', bytes);
    void prepared.sweep().catch(() => {});
    return '';
  });
}

function keyOf({ plan, place, containers, isolation }: RunPlace): Promise<string> {
  const image = plan.image ?? plan.dockerfile ?? containers?.image;
  const machine = [1, isolation.level, process.platform, process.arch, image];
  return environmentKey(place.work, [...machine, plan.commands, plan.variables, plan.network.setup]);
}

/** Collects the log of a preparation. Reports the status of the preparation to the platform, with the last lines of the log. */
function openTelling({ platform, lease }: RunSettings, { plan, checkout }: RunPlace, key: string, report: SetupReport) {
  const begun = Date.now();
  const lines: string[] = [];
  const tell = (status: PreparationStatus, bytes = 0, seconds = (Date.now() - begun) / 1_000) => {
    const { templateId } = plan.template;
    const lastLines = lines.join('').slice(-maxTailCharacters).toWellFormed();
    const notes = plan.notes.slice(0, maxNote.count).map((note) => clip(note.replaceAll('\0', ''), maxNote.characters));
    const input = { ...lease, key, templateId, commit: checkout.base, status, lastLines, notes, seconds, bytes };
    return platform.mutate(reportPreparation, input);
  };
  return {
    tell,
    log(text: string): void {
      report.log(text);
      lines.push(text);
      if (lines.length > 20) lines.shift();
    },
    async failWith(failure: string): Promise<string> {
      if (!report.signal.aborted) await tell('failed');
      return [failure, lines.slice(-10).join('')].join('\n').trim();
    },
  };
}

/**
 * Stores the files that the setup has created, for later missions. @returns their size in bytes @throws with the reason why they are not
 * stored
 */
async function keep(
  { capabilities, orgId }: RunSettings,
  runPlace: RunPlace,
  isolated: IsolatedStep,
  key: string,
  seconds: number,
): Promise<number> {
  const { plan, place, checkout, interception } = runPlace;
  // The files are not stored if the environment has services: the setup may also have filled a database in a service.
  if (plan.template.services.length > 0) return 0;
  // A checkout that contains changes by an agent may be used only in the mission of this agent.
  if (!checkout.isUntouched)
    throw new Error('an environment whose checkout contains changes by an agent is not stored.');
  const work = await untracked(runPlace, isolated);
  const placeholders = interception?.secrets.placeholders;
  return capabilities.prepared.keep(orgId, key, place, { work, seconds, placeholders });
}

/** Untracked paths of the checkout. git runs inside the isolation, because the setup may have changed its settings. */
async function untracked({ place }: RunPlace, { runScript }: IsolatedStep): Promise<string[]> {
  const names = await readdir(place.work);
  if (!names.includes('.git')) return names;
  const listed = await runScript('git ls-files -z --others --directory', [], 60_000);
  return listed
    .split('\0')
    .filter(Boolean)
    .map((name) => path.normalize(name).replace(/\/$/, ''));
}

/** Makes the image of the containers available, then starts the services. @returns an error; empty on success */
async function openContainers(
  settings: RunSettings,
  runPlace: RunPlace,
  report: SetupReport,
  begin: () => Promise<unknown>,
): Promise<string> {
  try {
    const missing = await chooseImage(settings, runPlace, report, begin);
    if (missing || runPlace.plan.template.services.length === 0) return missing;
    await begin();
    return await startServices(settings, runPlace, report);
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * Starts the services of the environment. @returns an error when this runner cannot have services; empty when all are ready @throws with
 * the reason why a service is not ready
 */
async function startServices(
  { capabilities }: RunSettings,
  { plan, services, isolation }: RunPlace,
  report: SetupReport,
): Promise<string> {
  const names = plan.template.services.map(({ name }) => name).join(', ');
  if (!services)
    return isolation.containers
      ? `it has services (${names}), which pods of missions do not have yet`
      : `it has services (${names}), which need ISOLATION=container, but ISOLATION is ${isolation.level}`;
  const { setupTimeoutMs, images } = capabilities;
  await services.start({ ...report, timeoutMs: setupTimeoutMs, images }, Math.min(servicesTimeoutMs, setupTimeoutMs));
  return '';
}

/** Makes the environment's image available to the containers of the step. @returns an error; empty on success */
async function chooseImage(
  { capabilities }: RunSettings,
  { plan, containers, isolation }: RunPlace,
  { log, signal }: SetupReport,
  begin: () => Promise<unknown>,
): Promise<string> {
  const { template, image, dockerfile } = plan;
  if (!image && dockerfile === null) return '';
  if (!containers) {
    if (template.base !== 'machine')
      return `its base is an image, but this runner has no containers (ISOLATION is ${isolation.level})`;
    const note = 'The image of devcontainer.json is not used: this runner has no containers.';
    plan.notes.push(note);
    log(`${note}\n`);
    return '';
  }
  if (containers.pod) {
    if (containers.image === image) return '';
    const why =
      'the image of a pod is that of the template or of the runner: it is neither built nor taken from devcontainer.json';
    if (template.base !== 'machine') return why;
    plan.notes.push(`The image of devcontainer.json is not used: ${why}.`);
    return '';
  }
  const { setupTimeoutMs: timeoutMs, images } = capabilities;
  const source = { engine: containers.program, signal, log, timeoutMs, images };
  await begin();
  if (image) await pullImage(source, image);
  containers.image = image ?? (await buildImage(source, dockerfile!, capabilities.buildNetwork));
  return '';
}
