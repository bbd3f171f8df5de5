// Finds the harnesses of this machine: programs named by a setting or in PATH, of a release that the drivers were tested with.
import path from 'node:path';
import type { Vendor } from '../contract.ts';
import { type Ask, askDirectly, inPath, isProgram } from '../isolation/programs.ts';
import { installable, pinned, programIn } from './pinned.ts';
import type { AgentHarness } from './port.ts';
import { testedVersions } from './versions.ts';

export interface Found {
  harness: AgentHarness;
  program: string;
  version: string;
}
export interface Missing {
  harness: AgentHarness;
  why: string;
}

/** The setting with the path of the program, its name in PATH, and the vendors whose models it supports. */
export const searched: Record<AgentHarness, { setting: string; name: string; vendors: readonly Vendor[] }> = {
  'claude-code': { setting: 'CLAUDE_CODE_PROGRAM', name: 'claude', vendors: ['anthropic'] },
  codex: { setting: 'CODEX_PROGRAM', name: 'codex', vendors: ['openai'] },
  opencode: { setting: 'OPENCODE_PROGRAM', name: 'opencode', vendors: ['anthropic', 'openai'] },
};

/** Every harness, found or with the reason why not. @param installed Folder of harnesses that the runner has installed. */
export async function discover(
  env: NodeJS.ProcessEnv,
  ask: Ask = askDirectly,
  installed?: string,
): Promise<{ found: Found[]; missing: Missing[] }> {
  const looked = await Promise.all(
    (Object.keys(searched) as AgentHarness[]).map((harness) => look(harness, env, ask, installed)),
  );
  return {
    found: looked.filter((one): one is Found => 'program' in one),
    missing: looked.filter((one): one is Missing => 'why' in one),
  };
}

/** A program named by its setting is the only candidate; an installed one follows one in PATH. */
async function look(
  harness: AgentHarness,
  env: NodeJS.ProcessEnv,
  ask: Ask,
  installed?: string,
): Promise<Found | Missing> {
  const { setting, name } = searched[harness];
  const configured = env[setting];
  const program = configured || inPath(name, env.PATH);
  const first: Found | Missing = !program
    ? { harness, why: `there is no ${name} in PATH, and ${setting} is not set` }
    : isProgram(program)
      ? await tryProgram(harness, program, ask)
      : { harness, why: `${setting}: ${program} is not a program` };
  const own = installed && installedProgram(harness, installed);
  if ('program' in first || configured || !own) return first;
  return tryProgram(harness, own, ask);
}

function installedProgram(harness: AgentHarness, folder: string): string | undefined {
  const one = installable.find((name) => name === harness);
  const of = one && pinned(one);
  const program = typeof of === 'object' ? programIn(folder, of) : '';
  return isProgram(program) ? program : undefined;
}

/** Runs the program to read its version. */
export async function tryProgram(harness: AgentHarness, program: string, ask: Ask): Promise<Found | Missing> {
  try {
    const version = /\d+\.\d+\.\d+/.exec(await ask(path.resolve(program), ['--version']))?.[0];
    if (!version) return { harness, why: `${program} does not say its version` };
    if (testedVersions[harness].includes(version)) return { harness, program: path.resolve(program), version };
    return { harness, why: `${version} is not one of the tested versions: ${testedVersions[harness].join(', ')}` };
  } catch (error) {
    return { harness, why: `${program} cannot be run: ${(error as Error).message.trim().split('\n').at(-1)}` };
  }
}
