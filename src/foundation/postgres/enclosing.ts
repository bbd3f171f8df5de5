// Stores the open transaction in the async context. A statement finds its transaction there, so that the code that sends the statement
// need not pass the transaction along.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Knex } from 'knex';
import { minutes } from '../clock.ts';

type Transaction = Knex.Transaction;

export const enclosing = new AsyncLocalStorage<Transaction>();
let openTransactions = 0;
/** Async context tracking takes CPU time in each request (Node 20 and 22), so it is enabled only while calls need it. */
const unfollowedAfterMs = minutes(1);
let unfollow: NodeJS.Timeout | undefined;

export function hold(): void {
  openTransactions++;
}

export function release(): void {
  if (--openTransactions > 0) return;
  // Async context tracking stops a minute after the last call has ended, because a statement of that call may still be running until then.
  // Without tracking, this statement would be sent outside of its transaction.
  unfollow ??= setTimeout(() => openTransactions === 0 && enclosing.disable(), unfollowedAfterMs).unref();
  unfollow.refresh();
}

/**
 * Transactions that were committed before the work inside them ended. Later statements of this work run outside of a transaction, on any connection
 * of the pool.
 */
export const committed = new WeakSet<Transaction>();

/**
 * Returns the transaction in which the statements of the caller run, which is the innermost open transaction that encloses the caller. If all
 * enclosing transactions have ended because the outermost one has failed, the outermost transaction is returned. It rejects the statements, so that
 * none of them bypasses the rollback.
 */
export function joined(): Transaction | undefined {
  let trx = enclosing.getStore();
  if (!trx || committed.has(outermost(trx))) return undefined;
  while (trx.parentTransaction && trx.isCompleted()) trx = trx.parentTransaction;
  return trx;
}

/** Whether the transaction was committed early: later statements are outside of it. */
export const isCommitted = (trx: Transaction): boolean => committed.has(trx);

/** The outermost transaction that contains this one; only its commit makes changes visible to others. */
export const outermost = (trx: Transaction): Transaction =>
  trx.parentTransaction ? outermost(trx.parentTransaction) : trx;

/** The outermost transaction that encloses the caller, even if this transaction was already committed early. */
export function outermostOfCaller(): Transaction | undefined {
  const trx = enclosing.getStore();
  return trx && outermost(trx);
}
