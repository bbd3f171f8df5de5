// The suite of the real programs: `npm run test:harnesses`. They are installed by `npm ci --prefix test/harnesses`.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/harnesses/*.test.ts'],
    pool: 'forks',
    // A program that was slow to start is started again; what fails twice fails.
    retry: 1,
    // Each program needs half a gigabyte, and seconds of a processor to start.
    maxWorkers: 2,
    // A bound for what hangs, not for what is slow.
    testTimeout: 240_000,
    hookTimeout: 60_000,
  },
});
