// The suite of isolation by real programs, `npm run test:engines`: attackers in each isolation, and services beside missions. Where a machine
// has neither bubblewrap nor Podman or Docker, tests say so and are skipped.
import { defineConfig } from 'vitest/config';
import suite from '../../vitest.config.ts';

export default defineConfig({
  resolve: suite.resolve!,
  test: {
    include: ['test/engines/*.test.ts'],
    globalSetup: suite.test!.globalSetup!,
    setupFiles: suite.test!.setupFiles!,
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 240_000,
    hookTimeout: 120_000,
    expect: suite.test!.expect!,
  },
});
