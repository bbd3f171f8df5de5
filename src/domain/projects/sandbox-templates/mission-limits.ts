// Limits of a whole mission: minutes of its sandbox, model calls and tokens. The operator's maximums apply to a mission without a limit,
// and no limit exceeds them.
import { invalid } from '#foundation/problem.ts';
import { missionLimits } from '#foundation/settings/mission-settings.ts';

export const missionLimitNames = ['maxMinutes', 'maxModelCalls', 'maxTokens'] as const;
export type MissionLimits = Record<(typeof missionLimitNames)[number], number | null>;
export type MissionBounds = Readonly<Record<keyof MissionLimits, number>>;

const { maxMinutes, maxModelCalls, maxTokens } = missionLimits;
let bounds: MissionBounds = {
  maxMinutes: maxMinutes.default,
  maxModelCalls: maxModelCalls.default,
  maxTokens: maxTokens.default,
};

/** Sets the maximum limits of missions that the operator allows. Called once, at the start of the process. */
export function bindMissionBounds(set: MissionBounds): void {
  bounds = set;
}

export const missionBounds = (): MissionBounds => bounds;

/** The limit that applies: the mission's limit, at most the operator's maximum. */
export const limitOf = (limits: MissionLimits, name: keyof MissionLimits): number =>
  Math.min(limits[name] ?? bounds[name], bounds[name]);

/** Checks limits of a mission. @throws 400 for a limit above the operator's maximum */
export function refuseBeyondBounds(limits: { [K in keyof MissionLimits]?: number | null | undefined }): void {
  for (const name of missionLimitNames) {
    if ((limits[name] ?? 0) <= bounds[name]) continue;
    throw invalid.field(name, `must be at most ${bounds[name]}, the maximum of this installation`);
  }
}
