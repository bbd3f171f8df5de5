// Tests must not fail on a busy machine: Vitest stops waiting for a condition after one second, but here it waits as long as a test may
// take.
import { type VitestUtils, vi } from 'vitest';

/** The timeout in milliseconds. */
const timeout = 100_000;
type Options = number | { timeout?: number; interval?: number } | undefined;
const patient = (options: Options) => (typeof options === 'number' ? options : { timeout, ...options });

const { waitFor, waitUntil } = vi;
const patience = {
  waitFor: (callback, options) => waitFor(callback, patient(options)),
  waitUntil: (callback, options) => waitUntil(callback, patient(options)),
} satisfies Partial<VitestUtils>;
Object.assign(vi, patience);
