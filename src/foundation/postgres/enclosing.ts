// The transactions that enclose statements whose code is unaware of them, by async context.
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
  // Tracking stops a minute after the last call, when no statement of that call can still run: such a statement could bypass its
  // transaction.
  unfollow ??= setTimeout(() => openTransactions === 0 && enclosing.disable(), unfollowedAfterMs).unref();
  unfollow.refresh();
}

/** Transactions that were committed early: later statements use the pool again. */
export const committed = new WeakSet<Transaction>();

/**
 * The transaction that statements of the caller join: the innermost open one around it. A failed transaction is still joined, and rejects
 * statements, so that none of them bypasses its rollback.
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

/** The outermost transaction around the caller, even after its early commit. */
export function outermostOfCaller(): Transaction | undefined {
  const trx = enclosing.getStore();
  return trx && outermost(trx);
}
