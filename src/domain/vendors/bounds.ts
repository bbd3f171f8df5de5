// The bounds of model connectors.

/** Of one organization. */
export const maxModelConnectors = 20;

/** Characters. */
export const modelText = {
  apiKey: { min: 1, max: 1_000 },
  baseUrl: { min: 1, max: 500 },
} as const;
