// The context of a resolver: the caller, and one batch loader per relation, created at first use, for one request.
import DataLoader from 'dataloader';
import type { Caller } from '#access/principal.ts';
import { traced } from '#foundation/tracing/tracing.ts';

export interface Context {
  caller: Caller;
  requestId: string;
  /** Loaders by relation. A plain member, because yoga copies contexts with Object.assign. */
  loaders: Map<unknown, DataLoader<string, unknown>>;
  /** Cursor of the next page, set by a resolver whose record has no member for it; REST sends it in a `Link` header. */
  nextCursor: string | null;
  /** Follows records for a subscription; throws in an API without subscriptions. */
  follow: Follow;
}

/**
 * Yields at once, and again after each change of one of these records. Each yielded value is a function that looks up the caller again;
 * call it before you read any data. Throws the problem when the caller is no longer authorized; ends after the maximum lifetime.
 */
export type Follow = (...ids: readonly string[]) => AsyncIterable<() => Promise<Caller>>;

const unsupported: Follow = () => {
  throw new Error('subscriptions are not supported here');
};

export const createContext = (caller: Caller, requestId: string, follow: Follow = unsupported): Context => ({
  caller,
  requestId,
  loaders: new Map(),
  nextCursor: null,
  follow,
});

type Batch<V> = (keys: readonly string[], caller: Caller) => Promise<V[]>;

function relation<V, R>(name: string, batch: Batch<V>, arrange: (keys: readonly string[], rows: V[]) => R[]) {
  const identity = {};
  const span = (size: number) => ({ name: `load ${name}`, attributes: { 'aep.batch_size': size } });
  return (context: Context): DataLoader<string, R> => {
    let loader = context.loaders.get(identity) as DataLoader<string, R> | undefined;
    if (!loader) {
      loader = new DataLoader<string, R>(async (keys) => {
        const load = () => batch(keys, context.caller);
        return arrange(keys, await traced(() => span(keys.length), load));
      });
      context.loaders.set(identity, loader as DataLoader<string, unknown>);
    }
    return loader;
  };
}

/** A to-one relation: `batch` finds rows by keys, `keyOf` is the key of a row. Unknown keys load null. @param name For traces */
export const toOne = <V>(batch: Batch<V>, keyOf: (row: V) => string, name = batch.name) =>
  relation<V, V | null>(name, batch, (keys, rows) => {
    const byKey = new Map(rows.map((row) => [keyOf(row), row]));
    return keys.map((key) => byKey.get(key) ?? null);
  });

/** A to-many relation: rows in the order of `batch`, grouped by the key they belong to. */
export const toMany = <V>(batch: Batch<V>, keyOf: (row: V) => string, name = batch.name) =>
  relation<V, V[]>(name, batch, (keys, rows) => {
    const groups = new Map<string, V[]>(keys.map((key) => [key, []]));
    for (const row of rows) groups.get(keyOf(row))?.push(row);
    return keys.map((key) => groups.get(key)!);
  });
