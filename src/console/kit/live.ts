// Live updates: a subscription over server-sent events. Without a subscription, or while its connection is broken, the page polls every few seconds.
// A hidden page keeps no connection open.
import { useEffect, useRef } from 'preact/hooks';
import type { Operation } from '../generated/documents.ts';

/** Milliseconds between polls, and before a reconnection: doubled from the first value up to the last. */
const between = 5_000;
const retryMs = { first: 1_000, last: 60_000 };

interface Live<Data, Variables> {
  operation: Operation<Data, Variables>;
  variables: Variables;
  /** Called for every event; the first of a connection contains the current state. */
  take(data: Data, isFirst: boolean): void;
  /** Polls once, instead of waiting for an event. */
  poll(): void;
  /** Whether the data is final, so that it need not be followed any longer. */
  isOver(): boolean;
}

export function useLive<Data, Variables>(live: Live<Data, Variables>): void {
  const latest = useRef(live);
  latest.current = live;
  useEffect(() => follow(() => latest.current as Live<unknown, unknown>), []);
}

/** Starts live updates, and returns a function that stops them. */
function follow(live: () => Live<unknown, unknown>): () => void {
  let source: EventSource | undefined;
  let wait = retryMs.first;
  let again: ReturnType<typeof setTimeout> | undefined;
  let polling: ReturnType<typeof setInterval> | undefined;

  function connect(): void {
    const { operation, variables } = live();
    const query = new URLSearchParams({ query: operation.text, variables: JSON.stringify(variables) });
    let isFirst = true;
    source = new EventSource(`/graphql?${query}`);
    source.addEventListener('next', ({ data: text }: MessageEvent<string>) => {
      const { data } = JSON.parse(text) as { data?: unknown };
      if (!data) return;
      // Polling stops when the first event of the subscription arrives, not when the connection opens, because a proxy may
      // hold back all events of an open connection.
      clearInterval(polling);
      wait = retryMs.first;
      live().take(data, isFirst);
      isFirst = false;
    });
    source.addEventListener('complete', retry);
    source.addEventListener('error', retry);
  }
  function retry(): void {
    source?.close();
    clearInterval(polling);
    if (live().isOver()) return;
    polling = setInterval(() => live().poll(), between);
    again = setTimeout(connect, wait);
    wait = Math.min(wait * 2, retryMs.last);
  }
  function stop(): void {
    source?.close();
    clearTimeout(again);
    clearInterval(polling);
  }
  function start(): void {
    stop();
    if (document.hidden || live().isOver()) return;
    polling = setInterval(() => live().poll(), between);
    connect();
  }
  start();
  document.addEventListener('visibilitychange', start);
  // Connects at once, without the usual wait, because the browser itself was offline.
  addEventListener('online', start);
  return () => {
    document.removeEventListener('visibilitychange', start);
    removeEventListener('online', start);
    stop();
  };
}
