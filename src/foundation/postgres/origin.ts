// The origin of changes: who makes them, with which credential, through which operation. Each transaction carries it as a setting of the
// database, which the triggers of the audit log read (docs/decisions/0061-the-database-records-changes.md).
import { AsyncLocalStorage } from 'node:async_hooks';
import { now } from '../clock.ts';
import { tracing } from '../tracing/tracing.ts';
import type { Repeated } from './statement.ts';

export const actorTypes = ['person', 'application', 'agent', 'service', 'system', 'operator', 'unknown'] as const;

export interface ChangeOrigin {
  actorType: (typeof actorTypes)[number];
  /** The person, or the credential of another actor; null when nobody has signed in yet. */
  actorId: string | null;
  /** The person for whom an application or agent acts. */
  onBehalfOf: string | null;
  credentialId: string | null;
  surface: string;
  /** The root field, route, job or command that makes the changes. */
  operation: string | null;
  requestId: string | null;
  /** The trace of the request; absent means the trace of the current span. */
  traceId?: string;
  address: string | null;
}

/**
 * A function that returns the origin of the changes of a transaction. The function is called only when a transaction sets its origin, because the
 * caller of the operation may not be known earlier. If the function returns null, the changes are not recorded.
 */
export type DescribeOrigin = () => ChangeOrigin | null;

const origins = new AsyncLocalStorage<DescribeOrigin>();
let open = 0;

/** Executes `work`, whose changes get this origin. Async context tracking takes CPU time, so it stops when the last such work has ended. */
export async function withOrigin<T>(describe: DescribeOrigin, work: () => T): Promise<Awaited<T>> {
  open++;
  try {
    // A query that is built lazily begins when it is awaited, so it is awaited here.
    return await origins.run(describe, async () => await work());
  } finally {
    if (--open === 0) origins.disable();
  }
}

/** Runs work of the service itself, or a command of its operator. */
export const asService = <T>(actorType: 'system' | 'operator', surface: string, operation: string, work: () => T) =>
  withOrigin(() => ({ actorType, surface, operation, ...nobody }), work);

const nobody = { actorId: null, onBehalfOf: null, credentialId: null, requestId: null, address: null };

/**
 * Executes `work` without recording its changes in the audit log. Used to erase an organization together with its audit log, and to open an
 * organization file.
 */
export const unrecorded = <T>(work: () => T): Promise<Awaited<T>> => withOrigin(() => null, work);

/** The function that describes the origin of the caller's changes, if there is one. */
export const presentOrigin = (): DescribeOrigin | undefined => origins.getStore();

/** The value of the setting `audit.origin`. */
function originText(describe: DescribeOrigin): string {
  const origin = describe();
  return origin === null ? 'off' : JSON.stringify({ at: now(), traceId: tracing()?.active()?.traceId, ...origin });
}

/**
 * Begins a transaction and sets its origin in one message without parameters. Question marks are escaped, because knex would mistake them
 * for parameters.
 */
export function beginSql(): string {
  const describe = presentOrigin();
  if (!describe) return 'BEGIN;';
  const literal = originText(describe).replaceAll("'", "''").replaceAll('?', '\\u003f');
  // SET is used instead of a query: after a query, the isolation level of the transaction could no longer be chosen.
  return `BEGIN; SET LOCAL audit.origin = '${literal}'`;
}

/** The origin that was last set in each open transaction. */
const carried = new WeakMap<object, DescribeOrigin | undefined>();
export const carriesOrigin = (trx: object): void => void carried.set(trx, presentOrigin());

/**
 * An SQL expression for the origin of the current transaction, in the form in which it is stored; null if the transaction has no origin.
 */
export const originSql = `nullif(current_setting('audit.origin', true), '')`;

export const setOriginSql = `select set_config('audit.origin', $1, true)`;

/**
 * The statement to send before a write, unless its transaction already carries the origin. A write outside of a transaction forms a
 * transaction with this statement, because both are sent in one message.
 */
export function originBefore(trx: object | undefined): readonly Repeated[] {
  const describe = presentOrigin();
  if (!describe || (trx && carried.get(trx) === describe)) return [];
  if (trx) carriesOrigin(trx);
  return [{ text: setOriginSql, values: [[originText(describe)]] }];
}

const writing = new Map<string, boolean>();
const maxKept = 5_000;

/** Whether a statement may change rows. The results for a bounded number of texts are cached. */
export function isWriting(text: string): boolean {
  let known = writing.get(text);
  if (known === undefined) {
    known = /\b(insert into|update|delete from)\b/i.test(text);
    if (writing.size < maxKept) writing.set(text, known);
  }
  return known;
}
