// Limits of a whole mission in arguments: of its start, and of the change of an open run.
import { z } from 'zod';
import { missionLimits } from '#foundation/settings/mission-settings.ts';

interface Bounds {
  min: number;
  max: number;
}

const limit = ({ min, max }: Bounds, what: string) => ({
  description: `${what}: ${min} to the bound of the installation (\`agentCatalog.missionBounds\`).`,
  validate: { schema: z.int().min(min).max(max) },
});

export const missionLimitArguments = {
  maxMinutes: limit(missionLimits.maxMinutes, 'The most minutes that the mission may hold its sandbox'),
  maxModelCalls: limit(missionLimits.maxModelCalls, 'The most model calls of the mission'),
  maxTokens: limit(missionLimits.maxTokens, 'The most tokens of the mission, read and written, cached ones included'),
};
