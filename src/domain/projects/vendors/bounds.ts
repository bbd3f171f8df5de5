// The bounds of connectors.

/** Maximum of each kind per organization. */
export const maxConnectors = 20;

/** Characters. */
export const connectorText = {
  credentials: { min: 1, max: 1_000 },
  baseUrl: { min: 1, max: 500 },
} as const;
