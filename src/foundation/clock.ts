// The only source of time. Tests set it; the database's own clock is never read.

type Reader = () => number;
const system: Reader = Date.now;
let reader: Reader = system;

/** The present time, epoch milliseconds. */
export const now = (): number => reader();

/** The present time, but at least a millisecond after `earlier`: two changes within a millisecond differ. */
export const nowAfter = (earlier: number): number => Math.max(now(), earlier + 1);

/** Replaces the source of time; without an argument, restores the system clock. */
export function setClock(next: Reader = system): void {
  reader = next;
}

export const seconds = (n: number): number => n * 1_000;
export const minutes = (n: number): number => seconds(n * 60);
export const hours = (n: number): number => minutes(n * 60);
export const days = (n: number): number => hours(n * 24);

/** The number of whole hours since 1970. */
export const hourOf = (epochMs: number): number => Math.floor(epochMs / hours(1));

/** The last formatted time, which log lines within one millisecond reuse. */
let [lastMs, lastText] = [0, new Date(0).toISOString()];
export function isoTime(epochMs: number): string {
  if (epochMs !== lastMs) [lastMs, lastText] = [epochMs, new Date(epochMs).toISOString()];
  return lastText;
}
