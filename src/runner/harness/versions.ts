// The releases that the drivers were tested with (`npm run test:harnesses`). Tools, events and defaults change between releases, so that
// no other is used: add a release here and in test/harnesses/package.json once the tests pass with it.
import type { AgentHarness } from './port.ts';

export const testedVersions: Record<AgentHarness, readonly string[]> = {
  'claude-code': ['2.1.330'],
  codex: ['0.169.0'],
  opencode: ['1.18.33'],
};
