// The suite of the real programs: `npm run test:harnesses`. They are installed by `npm ci --prefix test/harnesses`.
import { defineConfig } from 'vitest/config';
import suite from '../../vitest.config.ts';

export default defineConfig({
  resolve: suite.resolve!,
  test: {
    include: ['test/harnesses/*.test.ts'],
    globalSetup: [...suite.test!.globalSetup!, 'test/support/programs-setup.ts'],
    setupFiles: suite.test!.setupFiles!,
    pool: 'forks',
    // A program that started slowly gets a second attempt; two failures fail the test.
    retry: 1,
    // Each program needs half a gigabyte of memory, and several seconds of CPU time to start.
    maxWorkers: 2,
    // A limit for hanging programs, not for slow ones.
    testTimeout: 240_000,
    hookTimeout: 60_000,
  },
});
