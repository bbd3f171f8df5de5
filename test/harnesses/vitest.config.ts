// The suite of the real programs: `npm run test:harnesses`. They are installed by `npm ci --prefix test/harnesses`.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    include: ['test/harnesses/*.test.ts'],
    pool: 'forks',
    // Each program needs half a gigabyte.
    maxWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
