// Rate limits: points per key and window; an error contains the time to wait. Limits that protect a process are counted in its memory.
// Limits that protect lasting state are counted in the database, for all processes together.
import cluster from 'node:cluster';
import {
  RateLimiterCluster,
  RateLimiterClusterMaster,
  RateLimiterMemory,
  type RateLimiterRes,
} from 'rate-limiter-flexible';
import { now, seconds } from '../clock.ts';
import { sql } from '../postgres/database.ts';
import { tooMany } from '../problem.ts';
import { signature } from '../secrets/secrets.ts';

export interface Allowance {
  limit: number;
  windowSeconds: number;
  remaining: number;
  /** Seconds until the current window of the rate limit ends. */
  reset: number;
}

export interface Throttle {
  /** Counts `points` against a key. @throws 429 with `Retry-After` when fewer remain */
  take(key: string, points?: number): Promise<Allowance>;
  /** Returns whether a key is over its limit. This call itself is not counted. */
  isOver(key: string): Promise<boolean>;
}

/** The points counted in the current window of a key, and the milliseconds until it ends. */
type Count = Pick<RateLimiterRes, 'consumedPoints' | 'msBeforeNext'>;

interface Store {
  add(key: string, points: number): Promise<Count>;
  /** The count of the key; null when the key has no current window. */
  read(key: string): Promise<Count | null>;
}

/**
 * Counts calls in the memory of this process or, if this process is one of several workers, in the memory of the process that started the
 * workers (`shareThrottles`). `description` is the first sentence of the error.
 */
export const createThrottle = (name: string, limit: number, windowSeconds: number, description?: string): Throttle =>
  throttleOver(memoryStore(name, windowSeconds), limit, windowSeconds, description);

/** Creates a rate limit for the events that another system sends from one network address. */
export const createEventThrottle = (name: string, perMinute: number): Throttle =>
  createThrottle(name, perMinute, 60, 'Too many events were sent from this address.');

/**
 * Creates a rate limit whose counts are in the database, so that all processes share them. A single SQL statement adds a call and reads the
 * count, so that concurrent calls are counted exactly. It does not belong to a transaction of the caller. Keys may be email or network
 * addresses, so only a keyed digest of a key is stored.
 */
export const createSharedThrottle = (
  name: string,
  limit: number,
  windowSeconds: number,
  description?: string,
): Throttle => throttleOver(databaseStore(name, windowSeconds), limit, windowSeconds, description);

/** Counts the calls of all workers in this process, so that a limit applies to all workers together. */
export const shareThrottles = (): void => void new RateLimiterClusterMaster();

function throttleOver(store: Store, limit: number, windowSeconds: number, description?: string): Throttle {
  const allowance = ({ consumedPoints, msBeforeNext }: Count): Allowance => ({
    limit,
    windowSeconds,
    remaining: Math.max(0, limit - consumedPoints),
    reset: Math.ceil(msBeforeNext / 1_000),
  });
  const admit = (count: Count): Allowance => {
    const state = allowance(count);
    if (count.consumedPoints <= limit) return state;
    const problem = tooMany(Math.max(1, state.reset), description);
    Object.assign(problem.headers, rateLimitHeaders(state));
    throw problem;
  };
  return {
    take: async (key, points = 1) => admit(await store.add(key, points)),
    isOver: async (key) => ((await store.read(key))?.consumedPoints ?? 0) > limit,
  };
}

function memoryStore(name: string, windowSeconds: number): Store {
  const Limiter = cluster.isWorker ? RateLimiterCluster : RateLimiterMemory;
  const limiter = new Limiter({ keyPrefix: name, points: Number.MAX_SAFE_INTEGER, duration: windowSeconds });
  return {
    add: (key, points) => limiter.consume(key, points),
    read: (key) => limiter.get(key),
  };
}

const addPointsSql = `insert into throttle_counts as c (key, points, window_ends_at) values ($1, $2, $4)
  on conflict (key) do update set
    points = case when c.window_ends_at <= $3 then $2 else c.points + $2 end,
    window_ends_at = case when c.window_ends_at <= $3 then $4 else c.window_ends_at end
  returning points, window_ends_at`;
function databaseStore(name: string, windowSeconds: number): Store {
  const keyDigest = (key: string) => signature(`throttle:${name}`, key);
  const count = ({ points, windowEndsAt }: { points: number; windowEndsAt: number }): Count => ({
    consumedPoints: points,
    msBeforeNext: windowEndsAt - now(),
  });
  return {
    async add(key, points) {
      const at = now();
      const values = [keyDigest(key), points, at, at + seconds(windowSeconds)];
      const [row] = await sql<{ points: number; windowEndsAt: number }>(addPointsSql, values);
      return count(row!);
    },
    async read(key) {
      const [row] = await sql<{ points: number; windowEndsAt: number }>(
        'select points, window_ends_at from throttle_counts where key = $1 and window_ends_at > $2',
        [keyDigest(key), now()],
      );
      return row ? count(row) : null;
    },
  };
}

/** Deletes the counts of past windows. */
export const sweepThrottleCounts = async (): Promise<void> => {
  await sql('delete from throttle_counts where window_ends_at <= $1', [now()]);
};

/** The header fields of draft-ietf-httpapi-ratelimit-headers-11. */
export const rateLimitHeaders = ({ limit, windowSeconds, remaining, reset }: Allowance): Record<string, string> => ({
  ratelimit: `"default";r=${remaining};t=${reset}`,
  'ratelimit-policy': `"default";q=${limit};w=${windowSeconds}`,
});
