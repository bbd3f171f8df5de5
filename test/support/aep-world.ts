// A person in a terminal who uses `aep` against a service: a command that waits, reads input or is interrupted runs the bundled program as
// a separate process; other commands run in this process.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, vi } from 'vitest';
import { type Ended, openAep } from './aep.ts';
import { openOAuthWorld } from './oauth-world.ts';
import { projectFolder } from './processes.ts';
import { createRuntime, type Held } from './runtime-client.ts';

/** Bundles the program into a folder, and returns its path. */
export async function bundleAep(folder: string): Promise<string> {
  writeFileSync(path.join(folder, 'package.json'), '{"type": "module"}');
  const { build } = await import('vite');
  const root = path.join(projectFolder, 'clients/cli');
  const configFile = path.join(root, 'vite.config.ts');
  await build({ root, configFile, configLoader: 'runner', build: { outDir: folder, emptyOutDir: false } });
  return path.join(folder, 'aep.js');
}

export async function openAepWorld() {
  const world = await openOAuthWorld();
  const ada = await world.visitor('ada');
  const runtime = await createRuntime(world);
  const token = await world.personalToken(ada);
  const runHere = await openAep();
  const folder = mkdtempSync(path.join(tmpdir(), 'aep-cli-'));
  /** The person's configuration folder. */
  let settings: string;

  /** Runs a command in this process. */
  const command = (args: string[], env: NodeJS.ProcessEnv, input?: string): Promise<Ended> =>
    runHere(args, { XDG_CONFIG_HOME: settings, AEP_URL: world.url, ...env }, input);
  const aep = (...args: string[]): Promise<Ended> => command(args, { AEP_TOKEN: token });
  async function json(...args: string[]) {
    const { code, stdout, stderr } = await aep(...args, '--json');
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout);
  }

  const claim = (harness = 'shell') =>
    vi.waitFor(async () => {
      const run = await runtime.claim({ harnesses: [harness] });
      expect(run).not.toBeNull();
      return run as Held;
    });
  return {
    world,
    ada,
    runtime,
    token,
    folder,
    settings: () => settings,
    aep,
    json,
    claim,
    command,
    async close(): Promise<void> {
      rmSync(folder, { recursive: true, force: true });
      await world.close();
    },
    async reset(): Promise<void> {
      settings = mkdtempSync(path.join(folder, 'settings-'));
    },
  };
}
