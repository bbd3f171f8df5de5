// Finds the harnesses of this machine: programs that a setting names or that are in PATH. Their release must be in the range that the
// drivers were tested with, and they must pass a self-test.
import path from 'node:path';
import { type Vendor, vendors } from '../contract.ts';
import { inPath, isProgram, type RunProgram, reasonOf, runDirectly } from '../isolation/programs.ts';
import { readCommand } from './acp-command.ts';
import { installable, pinned, programIn } from './pinned.ts';
import type { AgentHarness, HarnessCommand, TestedHarness } from './port.ts';
import { isTested, rangeOf } from './versions.ts';

export interface Found {
  harness: AgentHarness;
  program: string;
  version: string;
  /** Command of a program that the operator has configured. */
  command?: HarnessCommand;
}
export interface Missing {
  harness: AgentHarness;
  why: string;
  /** Whether a program was found, but refused. */
  isRefused?: true;
}

/** A test of a program. @returns why the program cannot be used; null means it can */
export type SelfTest = (program: Found) => Promise<string | null>;

/** Settings for testing programs. */
export interface Probe {
  run: RunProgram;
  /** Tests a program before it is offered to missions; absent means that only the version of the program is checked. */
  selfTest?: SelfTest | undefined;
}

/** By harness: the setting with the path of its program, the program's name in PATH, and the vendors whose models the harness supports. */
export const searched: Record<TestedHarness, { setting: string; name: string; vendors: readonly Vendor[] }> = {
  'claude-code': { setting: 'CLAUDE_CODE_PROGRAM', name: 'claude', vendors: ['anthropic'] },
  codex: { setting: 'CODEX_PROGRAM', name: 'codex', vendors: ['openai'] },
  opencode: { setting: 'OPENCODE_PROGRAM', name: 'opencode', vendors: ['anthropic', 'openai'] },
};

/**
 * Finds every harness: its program, or the reason why it has none. @param installed Folder of harnesses that the runner has installed.
 * @param add Called with each program as soon as it is found
 */
export async function discover(
  env: NodeJS.ProcessEnv,
  probe: Probe = { run: runDirectly },
  installed?: string,
  add: (one: Found) => unknown = () => {},
): Promise<{ found: Found[]; missing: Missing[] }> {
  const looked = await Promise.all(
    [...(Object.keys(searched) as TestedHarness[]), ...(env.ACP_HARNESS ? (['acp'] as const) : [])].map(
      async (harness) => {
        const one = harness === 'acp' ? await lookForAcp(env, probe) : await look(harness, env, probe, installed);
        if ('program' in one) add(one);
        return one;
      },
    ),
  );
  return {
    found: looked.filter((one): one is Found => 'program' in one),
    missing: looked.filter((one): one is Missing => 'why' in one),
  };
}

export const vendorsOf = (harness: AgentHarness): readonly Vendor[] =>
  harness === 'acp' ? vendors : searched[harness].vendors;

export const notOffered = ({ harness, why }: Missing): string => `${harness} is not offered: ${why}.`;

/** Lines for the log about offered and missing harnesses. @param hasModel Whether the runner has credentials for the models of a vendor. */
export function describe(
  found: readonly Found[],
  missing: readonly Missing[],
  hasModel: (vendor: Vendor) => boolean,
): string[] {
  const usable = found.flatMap(({ harness, version, program }) => {
    const its = vendorsOf(harness);
    const keys = its.map((vendor) => `${vendor.toUpperCase()}_API_KEY`).join(' or ');
    const needed = `${harness} is offered to organizations that have connected a model: ${keys} is not set.`;
    return [`${harness} ${version}: ${program}`, ...(its.some(hasModel) ? [] : [needed])];
  });
  return [...usable, ...missing.map(notOffered)];
}

/**
 * Looks for the program of a harness. A program named by the setting is the only candidate; otherwise the program in PATH is tried before
 * the installed program.
 */
async function look(
  harness: TestedHarness,
  env: NodeJS.ProcessEnv,
  probe: Probe,
  installed?: string,
): Promise<Found | Missing> {
  const { setting, name } = searched[harness];
  const configured = env[setting];
  const program = configured || inPath(name, env.PATH);
  const first: Found | Missing = !program
    ? { harness, why: `there is no ${name} in PATH, and ${setting} is not set` }
    : isProgram(program)
      ? await tryProgram(harness, program, probe)
      : { harness, why: `${setting}: ${program} is not a program` };
  const own = installed && installedProgram(harness, installed);
  if ('program' in first || configured || !own) return first;
  return tryProgram(harness, own, probe);
}

/** Finds the program that the setting ACP_HARNESS names. Any version of the program is accepted, because the operator has chosen it. */
async function lookForAcp(env: NodeJS.ProcessEnv, probe: Probe): Promise<Found | Missing> {
  const harness = 'acp';
  const read = readCommand(env.ACP_HARNESS!);
  if (typeof read === 'string') return { harness, why: read, isRefused: true };
  const { program: name, ...command } = read;
  const program = name.includes('/') ? name : inPath(name, env.PATH);
  if (program && isProgram(program)) return tryProgram(harness, program, probe, command);
  return { harness, why: `ACP_HARNESS.command: ${name} is not a program`, isRefused: true };
}

function installedProgram(harness: AgentHarness, folder: string): string | undefined {
  const one = installable.find((name) => name === harness);
  const of = one && pinned(one);
  const program = typeof of === 'object' ? programIn(folder, of) : '';
  return isProgram(program) ? program : undefined;
}

/** Reads the version of the program, and tests it. */
export async function tryProgram(
  harness: AgentHarness,
  file: string,
  { run, selfTest }: Probe,
  command?: HarnessCommand,
): Promise<Found | Missing> {
  const program = path.resolve(file);
  const refused = (why: string): Missing => ({ harness, why, isRefused: true });
  try {
    const version = /\d+\.\d+\.\d+/.exec(await run(program, ['--version']))?.[0];
    if (!version) return refused(`${file} does not print its version`);
    if (harness !== 'acp' && !isTested(harness, version))
      return refused(`${version} is not among the tested releases: ${rangeOf(harness)}`);
    const found = { harness, program, version, ...(command && { command }) };
    const failure = await selfTest?.(found);
    return failure ? refused(failure) : found;
  } catch (error) {
    return refused(`${file} cannot be run: ${reasonOf(error as Error)}`);
  }
}
