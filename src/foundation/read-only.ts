// Whether the data of this process is read-only: it shows the organization of an opened file. Bound once at start.
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

/** Whether a request may be handled. Mutations of GraphQL are refused by their fields (graph/exposure.ts). */
export const mayHandle = (method: string | undefined, path: string): boolean =>
  !bound || method === 'GET' || method === 'HEAD' || harmless.has(path);
