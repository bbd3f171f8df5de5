// Installs packages of MCP servers that run in sandboxes. npm runs inside the isolation of the mission, in a folder that the agent does not
// see, with the network policy for setup commands, and does not execute the packages' own scripts. An installation is kept for later
// missions of the organization.
import { createHash } from 'node:crypto';
import { realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Json, parsed } from './harness/fragments.ts';
import { causeIn } from './harness/install.ts';
import type { IsolatedStep } from './isolated-step.ts';
import { chownRecursive } from './isolation/accounts.ts';
import { isInside, openInside } from './isolation/inside.ts';
import type { Place } from './isolation/place.ts';
import type { McpCommand } from './protocol/platform.ts';
import type { RunPlace } from './run-place.ts';
import { runCommands } from './setup-commands.ts';
import type { RunSettings, SetupReport } from './step-context.ts';

export interface InstalledPackage {
  /** Path of the server's program. */
  program: string;
  /** Checksum of the first package, taken from the lock file of the installation. */
  integrity: string;
}

/**
 * Installs the packages of a server, or uses an installation that was kept. @param place A separate folder for the server. @throws with the
 * reason why a package is not installed
 */
export async function installPackages(
  settings: RunSettings,
  runPlace: RunPlace,
  isolated: IsolatedStep,
  place: Place,
  { packages, program }: McpCommand,
  report: SetupReport,
): Promise<InstalledPackage> {
  const { orgId, capabilities } = settings;
  const { prepared } = capabilities;
  // Only files in `work` are kept and restored. The empty folder `root` stands for the home directory.
  const tree = { work: place.work, home: place.root };
  const key = keyOf(runPlace, packages);
  const isRestored = async () => (await prepared.restore(orgId, key, tree)) !== null;
  if (!(await isRestored()))
    await prepared.alone(orgId, key, async () => {
      if (await isRestored()) return;
      await install(settings, runPlace, isolated, place, packages, report);
      await prepared
        .keepTree(orgId, key, tree, { work: ['node_modules', 'package-lock.json'], seconds: 0 })
        .catch((error) => report.log(`${packages[0]} is not kept for later missions: ${error.message}\n`));
    });
  await chownRecursive(place.work, runPlace.account);
  return find(place.work, packages[0]!, program);
}

const keyOf = ({ isolation, containers, plan }: RunPlace, packages: string[]): string => {
  const machine = [isolation.level, process.platform, process.arch, containers?.image];
  const text = JSON.stringify([machine, packages, plan.variables, plan.network.setup]);
  return `mcp-${createHash('sha256').update(text).digest('hex').slice(0, 40)}`;
};

async function install(
  settings: RunSettings,
  runPlace: RunPlace,
  isolated: IsolatedStep,
  own: Place,
  packages: string[],
  report: SetupReport,
): Promise<void> {
  const { root, trust } = runPlace.place;
  // The server's folder contains the sockets of the mission, but none of the mission's other folders.
  const place = { ...own, root, trust };
  await writeFile(path.join(place.work, 'package.json'), '{"private":true}');
  await chownRecursive(place.work, runPlace.account);
  const options =
    '--ignore-scripts --save-exact --no-audit --no-fund --no-update-notifier --no-progress --fetch-retries=1 --loglevel=error';
  const command = `npm install ${options} ${packages.map((spec) => `'${spec}'`).join(' ')}`;
  const lines: string[] = [];
  const log = (text: string) => {
    lines.push(text);
    report.log(text);
  };
  const failure = await runCommands(
    settings,
    { ...runPlace, place, plan: { ...runPlace.plan, commands: [command] } },
    { ...isolated, open: () => isolated.open(false, false, place) },
    { ...report, log },
  );
  if (!failure) return;
  const cause = failure.startsWith('exit code') ? causeIn(lines.join('')) : failure;
  throw new Error(`${packages.join(', ')} could not be installed: ${cause}`);
}

/**
 * Returns the path of the program that an installed package contains, and the checksum of the package in the lock file. @param program Name
 * of the program. If it is null, the only program of the package is chosen, or among several the program with the name of the package.
 */
async function find(folder: string, spec: string, program: string | null): Promise<InstalledPackage> {
  const lock = await readLock(folder);
  const name = spec.slice(0, spec.lastIndexOf('@'));
  const { integrity, bin = {} } = lock?.packages?.[`node_modules/${name}`] ?? {};
  if (typeof integrity !== 'string') throw new Error(`${spec} has no checksum in its lock file`);
  const names = Object.keys(bin);
  const chosen = program ?? (names.length === 1 ? names[0]! : path.basename(name));
  const packages = path.join(folder, 'node_modules');
  const file = /^\w[\w.-]*$/.test(chosen) && (await realpath(path.join(packages, '.bin', chosen)).catch(() => null));
  if (!file || !isInside(packages, file)) throw new Error(`${spec} has no program ${chosen}`);
  return { program: file, integrity };
}

/** The text was written inside the isolation, so it may be anything. */
async function readLock(folder: string): Promise<Json | null> {
  const handle = await openInside(folder, path.join(folder, 'package-lock.json'));
  try {
    return parsed(await handle.readFile('utf8'));
  } finally {
    await handle.close();
  }
}
