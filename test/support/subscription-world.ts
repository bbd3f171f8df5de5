// Opens GraphQL subscriptions over real HTTP and parses their server-sent events, as a client program does. Also creates the runs whose changes
// the subscriptions report.
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { expect, vi } from 'vitest';
import type { Held } from './runtime-client.ts';
import { openRuntimeWorld } from './runtime-world.ts';
import { type Event, eventsOf } from './server-sent-events.ts';

export async function until(fulfilled: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await fulfilled()); tries++) {
    if (tries === 10_000) throw new Error(`never: ${fulfilled}`);
    await pause(10);
  }
}

export interface Reading {
  status: number;
  headers: Headers;
  /**
   * The next event; undefined after the last. An event that repeats its predecessor is skipped, because a change may be
   * announced twice.
   */
  next(): Promise<Event | undefined>;
  /** Data of the next event. */
  news(): Promise<Event['data']>;
  leave(): void;
}

/** The data of the subscription's root field. A subscription has exactly one root field. */
const dataOf = ({ data }: Event): Event['data'] => Object.values(data.data)[0];

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

export const complete: Event = { name: 'complete', data: null };

export const onRun = 'subscription ($runId: String!) { runUpdated(runId: $runId) { status missionActivity } }';
export const onSandbox = `subscription ($sandboxId: String!, $after: Int) {
  sandboxUpdated(sandboxId: $sandboxId, after: $after) {
    sandbox { status } fragments { body } nextFragment metrics { t cpuPct }
  } }`;

export async function openSubscriptionWorld() {
  const readers: AbortController[] = [];
  const base = await openRuntimeWorld();
  const { world, alice, runtime, taken } = base;

  /** Subscriptions that the process counts as open. */
  async function openNow(): Promise<number> {
    const { body } = await world.request('GET', '/metrics');
    return Number(/^graphql_subscriptions_open (\d+)$/m.exec(body)![1]);
  }

  async function subscribe(
    query: string,
    variables: object = {},
    headers: object = bearer(alice),
    url = world.url,
  ): Promise<Reading> {
    const leaving = new AbortController();
    readers.push(leaving);
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { accept: 'text/event-stream', 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query, variables }),
      signal: leaving.signal,
    });
    const events = eventsOf(response);
    let last: unknown;
    const next = async (): Promise<Event | undefined> => {
      const event = (await events.next()).value as Event | undefined;
      if (event?.name !== 'next' || event.data.errors) return event;
      const data = dataOf(event);
      const quiet = !data.fragments?.length && !data.metrics?.length;
      const state = data.fragments ? { ...data, fragments: [], metrics: [] } : data;
      const repeated = quiet && isDeepStrictEqual(state, last);
      last = state;
      return repeated ? next() : event;
    };
    const news = async (): Promise<Event['data']> => {
      const event = await next();
      expect(event?.name).toBe('next');
      return event!.data.errors ?? dataOf(event!);
    };
    return {
      status: response.status,
      headers: response.headers,
      next,
      news,
      leave: () => leaving.abort(),
    };
  }

  return {
    ...base,
    /** Open readers, closed after each test. */
    readers,
    openNow,
    subscribe,
    progress: (held: Held, activity: string) => runtime.beat(held, { activity }),
    /** A run that the runtime has claimed, with a sandbox. */
    async working() {
      const held = await taken();
      const sandboxId = await runtime.register(held);
      return { held, sandboxId, place: { sandboxId, leaseId: held.leaseId } };
    },
    async check(): Promise<void> {
      vi.useRealTimers();
      for (const reader of readers.splice(0)) reader.abort();
      await until(async () => (await openNow()) === 0);
    },
  };
}
