// Bounds of outside effects.

/** Bounds of a policy, of the effects of one run, and of the arguments of a staged call. */
export const effectBounds = {
  allowedTools: 100,
  toolName: { min: 1, max: 200 },
  perRun: 200,
  payload: 65_536,
} as const;
