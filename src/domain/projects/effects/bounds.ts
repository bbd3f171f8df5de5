// Limits for outside effects.

/** Maximums: tools in a policy, characters of a tool's name, effects of one run, and bytes of a staged call's arguments. */
export const effectBounds = {
  allowedTools: 100,
  toolName: { min: 1, max: 200 },
  perRun: 200,
  payload: 65_536,
} as const;
