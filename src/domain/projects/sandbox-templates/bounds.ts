// Limits for sandbox templates.

/** Minimum and maximum lengths of texts, in characters. */
export const templateText = {
  name: { min: 1, max: 120 },
  description: { max: 500 },
  image: { min: 1, max: 300 },
  dockerfile: { min: 1, max: 20_000 },
  setupScript: { max: 20_000 },
  /** Maximum length of a host: `*.`, a name of at most 253 characters, and a port. */
  host: { min: 1, max: 261 },
  variable: { max: 4_000 },
  serviceName: { min: 1, max: 30 },
  /** Maximum total length of the arguments of a service's command. */
  command: { max: 2_000 },
  healthCheck: { min: 1, max: 1_000 },
  label: { min: 1, max: 63 },
} as const;

/**
 * Maximums: hosts per policy, variables per template or service, services per template, arguments per service, labels per template or
 * runtime, and templates per organization.
 */
export const templateCounts = {
  hosts: 100,
  variables: 50,
  services: 5,
  arguments: 50,
  labels: 20,
  templates: 100,
} as const;

/** The largest limits that a template can set for a mission; a runner may have lower limits of its own. */
export const templateLimits = {
  memoryMb: { min: 64, max: 262_144 },
  diskMb: { min: 256, max: 1_048_576 },
  processes: { min: 16, max: 32_768 },
  stepMinutes: { min: 1, max: 1_440 },
  stepModelCalls: { min: 1, max: 1_000 },
  stepTokens: { min: 1_000, max: 1_000_000_000 },
} as const;

/** Maximum number of projects, and of agents, that are listed as users of a template. */
export const maxUsesShown = 20;
