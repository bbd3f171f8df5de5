// A capacity that callers share. The total use is limited, and so is the use by callers with the same key. While the capacity is full,
// callers wait in a short queue. The queue serves the keys in turn, so that a key that has used up its share never delays another key.
// Among the waiting callers of one key, urgent callers go first, except in every fourth turn. Urgent callers and other callers are counted
// separately, so that an urgent caller may still wait when the queue is full of other callers.
import { tooBusy } from '../problem.ts';
import { createLine, type Line } from './line.ts';

interface QueueLength {
  perKey: number;
  all: number;
}

export interface CapacitySettings {
  /** Name of the capacity in the metrics, unique in a process; a capacity without a name is not measured. */
  name?: string;
  all: number;
  perKey: number;
  /**
   * Limits of the queue in which callers wait for capacity: how many callers may wait, how many urgent callers may wait (absent means the
   * same number), and for how many milliseconds a caller may wait. Absent means that there is no queue.
   */
  queue?: QueueLength & { urgent?: QueueLength; waitMs: number };
  /** First sentence of the error when the capacity is exhausted. */
  description: string;
}

export interface Hold {
  /** Changes how much of the capacity the caller uses. */
  resize(amount: number): void;
  /** Frees the part of the capacity that the caller uses; a second call does nothing. */
  release(): void;
}

export interface Taking {
  /**
   * Signal that ends the wait when it is aborted. A caller with a signal waits without a time limit, and does not count towards the length
   * of the queue.
   */
  signal?: AbortSignal | undefined;
  isUrgent?: boolean | undefined;
}

export interface Capacity {
  /**
   * Waits until `amount` units of the capacity (1 or more) are free, and reserves them for a caller with this key. Each key has a share of
   * the capacity; an amount above this share is reduced to the share.
   * @throws 503 with `Retry-After` when the capacity stays full; the signal's reason when the signal is aborted
   */
  take(key: string, amount?: number, taking?: Taking): Promise<Hold>;
}

interface Waiter {
  amount: number;
  isUrgent: boolean;
  /** Whether the waiter counts towards the length of the queue. */
  counts: boolean;
  admit(hold: Hold): void;
}

const retryAfterSeconds = 2;

/** The use of each named capacity of this process: how many units are in use, how many callers wait, and the limit. */
export const capacities = new Map<string, () => { used: number; waiting: number; limit: number }>();

export function createCapacity({ name, all, perKey, queue, description }: CapacitySettings): Capacity {
  const held = createHeld(all, perKey);
  const waiting = createWaiting();
  if (name) capacities.set(name, () => ({ used: held.inAll(), waiting: waiting.count(), limit: all }));

  function hold(key: string, first: number): Hold {
    let amount = first;
    held.add(key, amount);
    const resize = (next: number) => {
      held.add(key, next - amount);
      amount = next;
      admitWaiting();
    };
    let released = false;
    return {
      resize: (next) => void (released || resize(Math.min(next, perKey))),
      release() {
        if (released) return;
        released = true;
        resize(0);
      },
    };
  }

  /** Admits waiting callers while any of them fits. When a waiter is admitted, its key moves behind the other keys in the queue. */
  function admitWaiting(): void {
    for (let admitted = true; admitted; ) {
      admitted = false;
      for (const [key, next] of waiting.nexts()) {
        if (held.isFull()) return;
        if (!held.fits(key, next.amount)) continue;
        waiting.leave(key, next, true);
        next.admit(hold(key, next.amount));
        admitted = true;
      }
    }
  }

  function wait(key: string, amount: number, { signal, isUrgent = false }: Taking): Promise<Hold> {
    const busy = () => tooBusy(description, retryAfterSeconds);
    const length = isUrgent ? (queue?.urgent ?? queue) : queue;
    if (!signal && (!length || waiting.isFull(key, isUrgent, length))) throw busy();
    signal?.throwIfAborted();
    const waits = signal ? { signal } : { waitMs: queue!.waitMs, busy };
    return inQueue(
      { amount, isUrgent },
      waits,
      (waiter) => waiting.enter(key, waiter),
      (waiter) => waiting.leave(key, waiter),
    );
  }

  return {
    async take(key, wanted = 1, taking = {}) {
      const amount = Math.min(wanted, perKey);
      return !waiting.has(key) && held.fits(key, amount) ? hold(key, amount) : wait(key, amount, taking);
    },
  };
}

/** Amounts that are in use, by key and in total. */
function createHeld(all: number, perKey: number) {
  const held = new Map<string, number>();
  let heldInAll = 0;
  return {
    inAll: (): number => heldInAll,
    isFull: (): boolean => heldInAll >= all,
    fits: (key: string, amount: number): boolean =>
      heldInAll + amount <= all && (held.get(key) ?? 0) + amount <= perKey,
    add(key: string, amount: number): void {
      heldInAll += amount;
      const left = (held.get(key) ?? 0) + amount;
      if (left > 0) held.set(key, left);
      else held.delete(key);
    },
  };
}

/** Maximum number of urgent callers that are admitted one after the other for the same key while other callers of this key wait. */
const urgentInRow = 3;

/** Waiters of a key. */
interface Waiters {
  key: string;
  urgent: Line<Waiter>;
  others: Line<Waiter>;
  /** Number of urgent waiters that were admitted after the last waiter that was not urgent. */
  inRow: number;
  /** Number of waiters of each kind that count towards the length of the queue. */
  counted: Record<'urgent' | 'others', number>;
}

const kindOf = ({ isUrgent }: Pick<Waiter, 'isUrgent'>) => (isUrgent ? 'urgent' : 'others');

/** Waiters by key, in the order in which the keys are served. Each enters and leaves in constant time. */
function createWaiting() {
  const byKey = new Map<string, Waiters>();
  const keys = createLine<Waiters>();
  const counted = { urgent: 0, others: 0 };
  let count = 0;
  const add = (ofKey: Waiters, waiter: Waiter, change: 1 | -1) => {
    count += change;
    if (!waiter.counts) return;
    counted[kindOf(waiter)] += change;
    ofKey.counted[kindOf(waiter)] += change;
  };
  const enterKey = (key: string): Waiters => {
    const lines = { urgent: createLine<Waiter>(), others: createLine<Waiter>() };
    const ofKey = { key, ...lines, inRow: 0, counted: { urgent: 0, others: 0 } };
    byKey.set(key, ofKey);
    keys.join(ofKey);
    return ofKey;
  };
  return {
    has: (key: string): boolean => byKey.has(key),
    count: (): number => count,
    isFull(key: string, isUrgent: boolean, length: QueueLength): boolean {
      const kind = kindOf({ isUrgent });
      return counted[kind] >= length.all || (byKey.get(key)?.counted[kind] ?? 0) >= length.perKey;
    },
    /**
     * Yields every key with the waiter that is admitted next for this key. Callers may remove this waiter from the queue during the
     * iteration.
     */
    *nexts(): Iterable<[string, Waiter]> {
      for (const { key, urgent, others, inRow } of keys) {
        const [first, other] = [urgent.first(), others.first()];
        yield [key, (inRow >= urgentInRow ? (other ?? first) : (first ?? other))!];
      }
    },
    enter(key: string, waiter: Waiter): void {
      const ofKey = byKey.get(key) ?? enterKey(key);
      ofKey[kindOf(waiter)].join(waiter);
      add(ofKey, waiter, 1);
    },
    leave(key: string, waiter: Waiter, toTheEnd = false): void {
      const ofKey = byKey.get(key)!;
      ofKey[kindOf(waiter)].leave(waiter);
      add(ofKey, waiter, -1);
      if (toTheEnd) ofKey.inRow = waiter.isUrgent ? ofKey.inRow + 1 : 0;
      const isEmpty = ofKey.urgent.size() + ofKey.others.size() === 0;
      if (isEmpty) byKey.delete(key);
      if (toTheEnd || isEmpty) keys.leave(ofKey);
      if (toTheEnd && !isEmpty) keys.join(ofKey);
    },
  };
}

/** Waits in the queue until it is admitted or its signal is aborted. Without a signal, the wait has a time limit. */
const inQueue = (
  wanted: Pick<Waiter, 'amount' | 'isUrgent'>,
  waits: { signal: AbortSignal } | { waitMs: number; busy: () => Error },
  enter: (waiter: Waiter) => void,
  leave: (waiter: Waiter) => void,
): Promise<Hold> =>
  new Promise<Hold>((resolve, reject) => {
    const signal = 'signal' in waits ? waits.signal : undefined;
    const giveUp = (reason: unknown) => {
      leave(waiter);
      reject(reason);
    };
    const abort = () => giveUp(signal!.reason);
    const late = 'signal' in waits ? undefined : setTimeout(() => giveUp(waits.busy()), waits.waitMs);
    signal?.addEventListener('abort', abort);
    const waiter: Waiter = {
      counts: !signal,
      admit(granted) {
        clearTimeout(late);
        signal?.removeEventListener('abort', abort);
        resolve(granted);
      },
      ...wanted,
    };
    enter(waiter);
  });
