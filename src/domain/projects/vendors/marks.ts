// Texts of runs at vendors without idempotency keys: an invisible mark shows whether an issue or comment exists already, and that a mission
// has written it; concurrent calls in this process wait for each other.

export const markOf = (runId: string): string => `<!-- run: ${runId} -->`;
export const marked = (text: string, runId: string): string => `${text}\n\n${markOf(runId)}`;
/** Whether a mission wrote the text; such a text starts no other mission. */
export const isOfMission = (text: string | null | undefined): boolean => /<!-- run: run_\w+ -->/.test(text ?? '');

const sharing = new Map<string, Promise<unknown>>();

/** Concurrent calls with the same key share one result. The lease on the run excludes other processes. */
export function shareCall<T>(key: string, work: () => Promise<T>): Promise<T> {
  const running = sharing.get(key) as Promise<T> | undefined;
  if (running) return running;
  const begun = work().finally(() => sharing.delete(key));
  sharing.set(key, begun);
  return begun;
}

const waiting = new Map<string, Promise<void>>();

/** Calls with the same key run one after the other, so that a later call finds the comment of the earlier one. */
export function queueCall(key: string, work: () => Promise<void>): Promise<void> {
  const before = waiting.get(key)?.catch(() => {}) ?? Promise.resolve();
  const begun = before.then(work).finally(() => {
    if (waiting.get(key) === begun) waiting.delete(key);
  });
  waiting.set(key, begun);
  return begun;
}
