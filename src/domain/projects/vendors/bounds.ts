// Limits for connectors and for signatures of events.
import { minutes } from '#foundation/clock.ts';

/** Maximum number of connectors of each kind per organization. */
export const maxConnectors = 20;

/** Maximum number of models that a connector lists. */
export const maxConnectorModels = 50;

/** Maximum price in US dollars per million tokens. */
export const modelPriceUsd = { min: 0, max: 10_000 } as const;

/** Minimum and maximum lengths of texts, in characters. */
export const connectorText = {
  credentials: { min: 1, max: 1_000 },
  baseUrl: { min: 1, max: 500 },
  githubAppId: { min: 1, max: 40 },
  privateKey: { min: 1, max: 10_000 },
  linearApp: { min: 1, max: 200 },
} as const;

/** Maximum difference between the signed time and the clock of this service, for Standard Webhooks. */
export const signatureAgeMs = minutes(5);
