// Time limits of work that can also be aborted for another reason.

/**
 * A signal that aborts when `signal` does, or after `ms` milliseconds with a `TimeoutError`. `AbortSignal.any` refers to its sources weakly:
 * without the listener, Node 20 would collect the limit as garbage, and the work could last forever.
 */
export function withTimeLimit(signal: AbortSignal, ms: number): AbortSignal {
  const limit = AbortSignal.timeout(ms);
  limit.addEventListener('abort', () => {});
  return AbortSignal.any([signal, limit]);
}
