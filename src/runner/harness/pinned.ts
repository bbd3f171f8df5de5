// The open-source harnesses that a runner can install from the package registry. One lock file lists the packages of each harness for each
// platform.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import lockFile from './packages/package-lock.json' with { type: 'json' };
import type { AgentHarness } from './port.ts';
import { rangeOf } from './versions.ts';

export const installable = ['opencode', 'codex'] as const satisfies readonly AgentHarness[];
export type Installable = (typeof installable)[number];

interface Locked {
  version: string;
  integrity: string;
  /** The name in the registry, if it differs from the name of the folder. */
  name?: string;
  optional?: boolean;
  optionalDependencies?: Record<string, string>;
}
export interface Lock {
  packages: Record<string, Locked>;
}
export interface Pinned {
  /** Name with version, for display. */
  title: string;
  version: string;
  /** Folder of the installation, and the program in it. */
  folder: string;
  program: string;
  /** Approximate bytes of the installed files, from which the progress is computed. */
  bytes: number;
  /** Files of a project that installs only this harness. */
  files: Record<'package.json' | 'package-lock.json', string>;
}

/** A platform, by its name in the package registry. */
export interface Machine {
  name: string;
  /** Whether the C library is not glibc. */
  isMusl: boolean;
  hasAvx2: boolean;
}

export function thisMachine(): Machine {
  const isLinux = process.platform === 'linux';
  const { header } = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } };
  return {
    name: `${process.platform}-${process.arch}`,
    isMusl: isLinux && !header.glibcVersionRuntime,
    hasAvx2: !isLinux || process.arch !== 'x64' || /\bavx2\b/.test(readFileSync('/proc/cpuinfo', 'utf8')),
  };
}

const harnesses: Record<
  Installable,
  { label: string; bytes: number; program: string; packages(machine: Machine): string[] }
> = {
  // There is a package with the program for each platform. The package `opencode-ai`, whose install script would choose one of them, is not
  // installed.
  opencode: {
    label: 'OpenCode',
    bytes: 186e6,
    program: 'bin/opencode',
    packages: ({ name, isMusl, hasAvx2 }) => [`opencode-${name}${hasAvx2 ? '' : '-baseline'}${isMusl ? '-musl' : ''}`],
  },
  codex: {
    label: 'Codex',
    bytes: 423e6,
    program: 'bin/codex.js',
    packages: ({ name }) => ['@openai/codex', `@openai/codex-${name}`],
  },
};

/** Returns a string with the reason when the harness has no package for the machine. */
export function pinned(
  harness: Installable,
  machine = thisMachine(),
  lock = lockFile as unknown as Lock,
): Pinned | string {
  const { label, bytes, program, packages } = harnesses[harness];
  const names = packages(machine);
  const [main] = names.map((name) => lock.packages[`node_modules/${name}`]);
  if (!names.every((name) => `node_modules/${name}` in lock.packages)) {
    const package_ = names[0]!;
    const own = `~/agents/node_modules/${package_}/${program}`;
    return (
      `${label} has no checksum here for ${machine.name}${machine.isMusl ? ' with musl' : ''}: run npm install --prefix ~/agents ` +
      `'${package_}@${rangeOf(harness)}', and set ${harness.toUpperCase()}_PROGRAM=${own}`
    );
  }
  const { version } = main!;
  return {
    title: `${label} ${version}`,
    version,
    folder: `${harness}-${version}`,
    program: path.join('node_modules', names[0]!, program),
    bytes,
    files: projectOf(names, lock),
  };
}

/** Path of the program of a harness, if the harness is installed in this folder. */
export const programIn = (folder: string, { folder: own, program }: Pinned): string => path.join(folder, own, program);

/** A project with these packages from the lock file and their dependencies. The packages are not optional: a missing one is an error. */
function projectOf(wanted: readonly string[], lock: Lock): Pinned['files'] {
  const names = [...wanted];
  const entries: Record<string, Locked> = {};
  for (const name of names) {
    const { optional, ...entry } = lock.packages[`node_modules/${name}`]!;
    entries[`node_modules/${name}`] = wanted.includes(name) || !optional ? entry : { ...entry, optional };
    names.push(...Object.keys(entry.optionalDependencies ?? {}).filter((one) => !names.includes(one)));
  }
  const specOf = ({ name, version }: Locked) => (name ? `npm:${name}@${version}` : version);
  const dependencies = Object.fromEntries(wanted.map((name) => [name, specOf(entries[`node_modules/${name}`]!)]));
  const project = { name: 'harness', version: '0.0.0', dependencies };
  const packages = { '': project, ...entries };
  const { name, version } = project;
  return {
    'package.json': JSON.stringify({ ...project, private: true }),
    'package-lock.json': JSON.stringify({ name, version, lockfileVersion: 3, requires: true, packages }),
  };
}
