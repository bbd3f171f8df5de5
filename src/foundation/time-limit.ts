// Time limits of work that can also be aborted for another reason.

/**
 * A signal that aborts with `signal`, or after this number of milliseconds with a `TimeoutError`. `AbortSignal.any` refers to its sources weakly:
 * without the listener, Node 20 would collect the signal of the limit, and the limit would never end the work.
 */
export function withTimeLimit(signal: AbortSignal, ms: number): AbortSignal {
  const limit = AbortSignal.timeout(ms);
  limit.addEventListener('abort', () => {});
  return AbortSignal.any([signal, limit]);
}
