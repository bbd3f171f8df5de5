// Time limits of work that can also be aborted for another reason.

/**
 * A signal that aborts with `signal`, or after this number of milliseconds with a `TimeoutError`. `AbortSignal.any` refers to its sources weakly:
 * Node 20 collects a signal of `AbortSignal.timeout` that nothing else refers to, and the limit never ends the work.
 */
export function withTimeLimit(signal: AbortSignal, ms: number): AbortSignal {
  const limit = new AbortController();
  const end = () => limit.abort(new DOMException('The time limit has ended.', 'TimeoutError'));
  setTimeout(end, ms).unref();
  return AbortSignal.any([signal, limit.signal]);
}
