// The real programs with stand-in models: where they are, and where they work.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AgentHarness } from '../../src/runner/harness/port.ts';

const packages = process.env.HARNESS_PACKAGES ?? fileURLToPath(new URL('node_modules', import.meta.url));
export const programs: Record<AgentHarness, string> = {
  'claude-code': path.join(packages, '.bin/claude'),
  codex: path.join(packages, '.bin/codex'),
  // The program itself: `opencode-ai` names packages for other machines that a registry may lack.
  opencode: path.join(packages, 'opencode-linux-x64/bin/opencode'),
};
export const isInstalled = (name: AgentHarness): boolean => existsSync(programs[name]);
let count = 0;
const base = mkdtempSync(path.join(tmpdir(), 'harnesses-'));
/** A checkout with one commit, and a home. */
export function makePlace(at = path.join(base, String(++count))): { cwd: string; home: string } {
  const [cwd, home] = [path.join(at, 'checkout'), path.join(at, 'home')];
  mkdirSync(home, { recursive: true });
  const git = (...args: string[]) => execFileSync('git', ['-C', cwd, ...args]);
  execFileSync('git', ['init', '-q', '-b', 'main', cwd]);
  git('config', 'user.email', 'agent@example.com');
  git('config', 'user.name', 'Agent');
  writeFileSync(path.join(cwd, 'a.txt'), 'hello old world\n');
  git('add', '.');
  git('commit', '-qm', 'first');
  return { cwd, home };
}
