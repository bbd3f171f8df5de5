// Settings of missions: prices of instance types, the largest limits of a mission, and when its logs leave the database.
import { z } from 'zod';
import { hours } from '../clock.ts';
import { integer, jsonText } from './setting-values.ts';

/** Limits of a whole mission: the bounds of each setting, and its default. */
export const missionLimits = {
  maxMinutes: { min: 1, max: 43_200, default: 1_440 },
  maxModelCalls: { min: 1, max: 1_000_000, default: 50_000 },
  maxTokens: { min: 1_000, max: 2_000_000_000, default: 1_000_000_000 },
} as const;

const maxUsd = 1_000;
/** Costs are stored with six decimals of a US dollar. */
const decimals = 6;
const priceFormat = `must be US dollars per minute: 0 to ${maxUsd}, with up to ${decimals} decimals`;
const price = z
  .number(priceFormat)
  .min(0, priceFormat)
  .max(maxUsd, priceFormat)
  .refine((usd) => Number(usd.toFixed(decimals)) === usd, priceFormat);

const instancePrices = jsonText.pipe(
  z.record(z.string(), price, 'must be a JSON object: instance types with US dollars per minute'),
);

const { maxMinutes, maxModelCalls, maxTokens } = missionLimits;

export const missionSettings = {
  INSTANCE_PRICES: instancePrices.default({}),
  MISSION_MINUTES: integer(maxMinutes.min, maxMinutes.max).default(maxMinutes.default),
  MISSION_MODEL_CALLS: integer(maxModelCalls.min, maxModelCalls.max).default(maxModelCalls.default),
  MISSION_TOKENS: integer(maxTokens.min, maxTokens.max).default(maxTokens.default),
  LOG_ARCHIVE_HOURS: integer(0, 8_760).default(24),
};

export interface MissionSettings {
  /** US dollars per started minute of a sandbox, by instance type. */
  readonly instancePrices: Readonly<Record<string, number>>;
  /** The largest limits of a mission. */
  readonly bounds: Readonly<Record<keyof typeof missionLimits, number>>;
  /** How long after a mission its logs are moved from the database to the content storage; 0 means never. */
  readonly logArchiveMs: number;
}

export const missionSettingsOf = (set: z.infer<z.ZodObject<typeof missionSettings>>): MissionSettings =>
  Object.freeze({
    instancePrices: Object.freeze(set.INSTANCE_PRICES),
    bounds: Object.freeze({
      maxMinutes: set.MISSION_MINUTES,
      maxModelCalls: set.MISSION_MODEL_CALLS,
      maxTokens: set.MISSION_TOKENS,
    }),
    logArchiveMs: hours(set.LOG_ARCHIVE_HOURS),
  });
