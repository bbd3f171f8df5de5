// A capacity that callers share: a total, a maximum share per key, and a short queue while it is full. The queue is served in turn
// over the keys, so that a key at its share never delays another.
import { tooBusy } from '../problem.ts';

export interface CapacitySettings {
  all: number;
  perKey: number;
  /** The queue: how many of one key and in all, and for how many milliseconds each. Absent: no queue. */
  queue?: { perKey: number; all: number; waitMs: number };
  /** The first sentence of the error. */
  description: string;
}

export interface Hold {
  /** Changes the held amount. */
  resize(amount: number): void;
  /** Releases the held amount; a second call does nothing. */
  release(): void;
}

export interface Capacity {
  /**
   * More than the share of a key counts as its whole share. With a signal it waits as long as that is not aborted, and takes no
   * place in the queue from others.
   * @throws 503 with `Retry-After` when it stays full; the reason of the signal
   */
  take(key: string, amount?: number, signal?: AbortSignal): Promise<Hold>;
}

interface Waiter {
  amount: number;
  /** Whether it takes a place in the queue. */
  counts: boolean;
  admit(hold: Hold): void;
}

const retryAfterSeconds = 2;

export function createCapacity({ all, perKey, queue, description }: CapacitySettings): Capacity {
  const held = new Map<string, number>();
  /** In the order in which the keys are served. */
  const waiting = new Map<string, Waiter[]>();
  let heldInAll = 0;
  let waitingInAll = 0;

  const fits = (key: string, amount: number): boolean =>
    heldInAll + amount <= all && (held.get(key) ?? 0) + amount <= perKey;

  function add(key: string, amount: number): void {
    heldInAll += amount;
    const left = (held.get(key) ?? 0) + amount;
    if (left > 0) held.set(key, left);
    else held.delete(key);
  }

  function hold(key: string, first: number): Hold {
    let amount = first;
    add(key, amount);
    const resize = (next: number) => {
      add(key, next - amount);
      amount = next;
      if (waiting.size > 0) admitWaiting();
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

  /** Each pass admits at most one of every key; a key that was admitted goes to the end. */
  function admitWaiting(): void {
    for (let admitted = true; admitted; ) {
      admitted = false;
      for (const [key, waiters] of [...waiting]) {
        const [first] = waiters;
        if (!first || !fits(key, first.amount)) continue;
        leaveQueue(key, first);
        const rest = waiting.get(key);
        if (rest) {
          waiting.delete(key);
          waiting.set(key, rest);
        }
        first.admit(hold(key, first.amount));
        admitted = true;
      }
    }
  }

  function leaveQueue(key: string, waiter: Waiter): void {
    const rest = waiting.get(key)!.filter((one) => one !== waiter);
    if (waiter.counts) waitingInAll--;
    if (rest.length > 0) waiting.set(key, rest);
    else waiting.delete(key);
  }

  function wait(key: string, amount: number, signal?: AbortSignal): Promise<Hold> {
    const waiters = waiting.get(key) ?? [];
    const isFull =
      queue && (waiters.filter(({ counts }) => counts).length >= queue.perKey || waitingInAll >= queue.all);
    if (!signal && (!queue || isFull)) throw tooBusy(description, retryAfterSeconds);
    signal?.throwIfAborted();
    return new Promise<Hold>((resolve, reject) => {
      const leave = (reason: unknown) => {
        leaveQueue(key, waiter);
        reject(reason);
      };
      const abort = () => leave(signal!.reason);
      const late = signal ? undefined : setTimeout(() => leave(tooBusy(description, retryAfterSeconds)), queue!.waitMs);
      signal?.addEventListener('abort', abort);
      const waiter: Waiter = {
        amount,
        counts: !signal,
        admit(granted) {
          clearTimeout(late);
          signal?.removeEventListener('abort', abort);
          resolve(granted);
        },
      };
      waiting.set(key, [...waiters, waiter]);
      if (waiter.counts) waitingInAll++;
    });
  }

  return {
    async take(key, wanted = 1, signal) {
      const amount = Math.min(wanted, perKey);
      return !waiting.has(key) && fits(key, amount) ? hold(key, amount) : wait(key, amount, signal);
    },
  };
}
