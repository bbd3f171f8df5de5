// Whether this process shows data that nobody may change: the organization of a file that was opened. Bound once at start.
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

/** Requests that change nothing of the data: queries, and those with which a person signs in and out. */
const harmless: ReadonlySet<string> = new Set([
  ...['/graphql', '/sign-in/link', '/sign-out', '/console/passkeys/skip'],
]);

/** Whether a request may be handled. Mutations of GraphQL are refused by their fields (graph/exposure.ts). */
export const mayHandle = (method: string | undefined, path: string): boolean =>
  !bound || method === 'GET' || method === 'HEAD' || harmless.has(path);
