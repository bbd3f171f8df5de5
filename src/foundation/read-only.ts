// Whether the data of this process is read-only, because the process only shows an organization from a file that was opened. Set once when
// the process starts.
import { readOnly } from './problem.ts';

let bound = false;

export function bindReadOnly(isReadOnly = true): void {
  bound = isReadOnly;
}

export const isShowingFile = (): boolean => bound;

/** @throws 409 `read_only` in a process that only shows data */
export function requireWritable(): void {
  if (bound) throw readOnly();
}

/** Requests that do not change the data: queries, and requests for signing in and out. */
const harmless: ReadonlySet<string> = new Set([
  ...['/graphql', '/sign-in/link', '/sign-out', '/console/passkeys/skip'],
]);

/**
 * Whether a request may be handled. Every GraphQL request may be; if the data is read-only, the resolver of each mutation refuses it
 * (graph/exposure.ts).
 */
export const mayHandle = (method: string | undefined, path: string): boolean =>
  !bound || method === 'GET' || method === 'HEAD' || harmless.has(path);
