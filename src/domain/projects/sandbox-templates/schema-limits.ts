// GraphQL arguments for the limits of a whole mission, used when it starts and when an open run is changed.
import { z } from 'zod';
import { missionLimits } from '#foundation/settings/mission-settings.ts';

interface Bounds {
  min: number;
  max: number;
}

const limit = ({ min, max }: Bounds, what: string) => ({
  description: `${what}: ${min} to the maximum of the installation (\`agentCatalog.missionBounds\`).`,
  validate: { schema: z.int().min(min).max(max) },
});

export const missionLimitArguments = {
  maxMinutes: limit(missionLimits.maxMinutes, 'Maximum number of minutes that the mission may use its sandbox'),
  maxModelCalls: limit(missionLimits.maxModelCalls, 'Maximum number of model calls of the mission'),
  maxTokens: limit(
    missionLimits.maxTokens,
    'Maximum total number of input, output and cached tokens that the mission may use',
  ),
};
