// So many per window per key; says when to come back. Counted in memory per process, which is enough to keep a process
// healthy; what must hold over a fleet is counted in the database by its own noun.
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { tooMany } from './problem.ts';

export interface Allowance {
  limit: number;
  windowSeconds: number;
  remaining: number;
  /** Seconds until the window ends. */
  reset: number;
}

export interface Throttle {
  /** Counts `points` against a key. @throws 429 with `Retry-After` when they are more than remain. */
  take(key: string, points?: number): Promise<Allowance>;
  /** Throws the 429 of a key that is over its limit, without counting. */
  check(key: string): Promise<void>;
}

export function createThrottle(name: string, limit: number, windowSeconds: number, description?: string): Throttle {
  const limiter = new RateLimiterMemory({ keyPrefix: name, points: limit, duration: windowSeconds });
  const allowance = (state: RateLimiterRes): Allowance => ({
    limit,
    windowSeconds,
    remaining: Math.max(0, state.remainingPoints),
    reset: Math.ceil(state.msBeforeNext / 1_000),
  });
  const refuse = (state: RateLimiterRes) => {
    const { reset } = allowance(state);
    const problem = tooMany(Math.max(1, reset), description);
    Object.assign(problem.headers, rateLimitHeaders({ ...allowance(state), remaining: 0 }));
    return problem;
  };
  return {
    async take(key, points = 1) {
      try {
        return allowance(await limiter.consume(key, points));
      } catch (state) {
        throw state instanceof RateLimiterRes ? refuse(state) : state;
      }
    },
    async check(key) {
      const state = await limiter.get(key);
      if (state && state.consumedPoints > limit) throw refuse(state);
    },
  };
}

/** The fields of draft-ietf-httpapi-ratelimit-headers-11. */
export const rateLimitHeaders = ({ limit, windowSeconds, remaining, reset }: Allowance): Record<string, string> => ({
  ratelimit: `"default";r=${remaining};t=${reset}`,
  'ratelimit-policy': `"default";q=${limit};w=${windowSeconds}`,
});
