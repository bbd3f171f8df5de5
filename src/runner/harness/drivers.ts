// The drivers of all harnesses that use a model.
import { acp } from './acp.ts';
import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import { limited } from './limits.ts';
import { opencode } from './opencode.ts';
import type { AgentHarness, Driver } from './port.ts';

export const drivers: Record<AgentHarness, Driver> = {
  'claude-code': limited(claudeCode),
  codex: limited(codex),
  opencode: limited(opencode),
  acp: limited(acp),
};
