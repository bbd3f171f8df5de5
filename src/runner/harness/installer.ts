// Installs harnesses that missions need and this machine lacks, in the background, as soon as a model is connected.
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Vendor, vendors } from '../contract.ts';
import { type Found, type Probe, searched, tryProgram } from './discovery.ts';
import { InstallFailed, install } from './install.ts';
import { type Installable, installable, pinned } from './pinned.ts';
import type { AgentHarness } from './port.ts';

/** Harnesses and models that the organizations of the runner need. */
export interface Demand {
  /** Vendors of models that the organizations have connected. */
  modelVendors: readonly Vendor[];
  /** Harnesses of the organizations' own agents. */
  harnesses: readonly string[];
}

export interface Surroundings {
  env: NodeJS.ProcessEnv;
  /** Folder of the installed harnesses. */
  folder: string;
  probe: Probe;
  signal: AbortSignal;
  log(line: string): void;
}

interface Options extends Surroundings {
  demand(): Promise<Demand>;
  /** Vendors whose models the runner has credentials for. */
  own: readonly Vendor[];
  /** Available harnesses, to which newly installed ones are added. */
  found: Found[];
  pause?: number;
}

/**
 * Milliseconds: the interval between polls of the demand, the delay after the first failure, and the maximum delay. The delay doubles after
 * each further failure.
 */
const [pauseMs, firstDelayMs, maxDelayMs] = [3_000, 15_000, 10 * 60_000];

/** The folder for a runner whose cells run as other users, because these users cannot reach the runner's own folder. */
const commonFolder = '/var/lib/agent-engineering-platform/harnesses';

/** The folder of installed harnesses: `HARNESSES_DIR`, or below `DATA_DIR`. @param isCell Whether agents run in cells. */
export async function installationFolder(env: NodeJS.ProcessEnv, isCell: boolean): Promise<string> {
  const folder = path.resolve(env.HARNESSES_DIR || path.join(env.DATA_DIR || '.data', 'harnesses'));
  if (!isCell || process.getuid?.() !== 0) return folder;
  for (let at = folder; at !== path.dirname(at); at = path.dirname(at)) {
    const found = await stat(at).catch(() => null);
    if (found && (found.mode & 0o001) === 0) return commonFolder;
  }
  return folder;
}

/**
 * The harnesses to install: those that agents of the organization use and, if no harness for the built-in agents is available, one for
 * them. OpenCode is preferred for the built-in agents, because it supports the models of all vendors.
 */
export function wantedHarnesses(
  { modelVendors, harnesses }: Demand,
  { own, found, env }: { own: readonly Vendor[]; found: readonly { harness: AgentHarness }[]; env: NodeJS.ProcessEnv },
): Installable[] {
  const provided = vendors.filter((vendor) => own.includes(vendor) || modelVendors.includes(vendor));
  // A harness named by a setting is managed by the operator.
  const candidates = installable.filter((one) => {
    const { setting, vendors: usable } = searched[one];
    return !env[setting] && usable.some((vendor) => provided.includes(vendor));
  });
  const general = candidates.find((one) => typeof pinned(one) === 'object') ?? candidates[0];
  return candidates.filter(
    (one) =>
      !found.some(({ harness }) => harness === one) &&
      // Built-in agents do not use an ACP harness.
      (harnesses.includes(one) || (found.every(({ harness }) => harness === 'acp') && one === general)),
  );
}

export function startInstaller({ demand, own, found, pause = pauseMs, ...around }: Options) {
  const { env, signal, log } = around;
  const failures = new Map<Installable, { delay: number; until: number; notice: string }>();
  let current: string | null = null;

  async function tryOne(harness: Installable): Promise<void> {
    const before = failures.get(harness);
    if (before && before.until > Date.now()) return;
    try {
      const program = await installOne(harness, around, (notice) => {
        current = notice;
      });
      found.push(program);
      failures.delete(harness);
      log(`${harness} ${program.version}: ${program.program}`);
    } catch (error) {
      if (signal.aborted) return;
      const { message, detail = '' } = error as InstallFailed;
      const delay = Math.min((before?.delay ?? firstDelayMs / 2) * 2, maxDelayMs);
      const until = Date.now() + delay;
      const notice = `${message}. Next attempt at ${new Date(until).toISOString().slice(11, 19)} UTC.`;
      failures.set(harness, { delay, until, notice });
      for (const line of [notice, ...detail.split('\n').filter(Boolean)]) log(line);
    } finally {
      current = null;
    }
  }

  async function work(): Promise<void> {
    while (!signal.aborted) {
      // The platform may be unreachable, or too old to report the demand.
      const needed = await demand().catch((): Demand => ({ modelVendors: [], harnesses: [] }));
      const wanted = wantedHarnesses(needed, { own, found, env });
      for (const harness of failures.keys()) if (!wanted.includes(harness)) failures.delete(harness);
      for (const harness of wanted) await tryOne(harness);
      await wait(pause, undefined, { signal }).catch(() => {});
    }
  }

  return {
    /** Resolves once the runner stops. */
    ended: work(),
    /** The notice that people see while their missions wait for the installation. */
    notice: (): string | null => current ?? [...failures.values()][0]?.notice ?? null,
  };
}

/** Installs one harness, and finds its program. @throws InstallFailed, with the name of the harness */
export async function installOne(
  harness: Installable,
  { env, folder, probe, signal, log }: Surroundings,
  tell: (notice: string) => void,
): Promise<Found> {
  const one = pinned(harness);
  if (typeof one === 'string') throw new InstallFailed(one);
  log(`Installing ${one.title} in ${folder}`);
  let last = 0;
  const progress = (percent: number): void => {
    tell(`Installing ${one.title} (${percent} %).`);
    if (percent < last + 20) return;
    last = percent;
    log(`Installing ${one.title}: ${percent} %`);
  };
  progress(0);
  const check = async (program: string, by: Probe): Promise<Found> => {
    const result = await tryProgram(harness, program, by);
    if ('program' in result) return result;
    throw new Error(result.why);
  };
  const isRelease = (program: string) => check(program, { run: probe.run });
  try {
    return await check(await install({ env, folder, pinned: one, signal, check: isRelease, progress }), probe);
  } catch (error) {
    if (!(error instanceof InstallFailed)) throw error;
    throw new InstallFailed(`${one.title} is not installed: ${error.message}`, error.detail);
  }
}
