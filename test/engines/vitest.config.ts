// The tests with real programs of the machine, `npm run test:engines`: attackers in each isolation, services beside missions, missions in
// containers, a release, the Helm chart, and a restored database. On a machine that has neither bubblewrap nor a container engine (Podman
// or Docker), the tests of isolation are skipped with a message.
import { defineConfig } from 'vitest/config';
import suite from '../../vitest.config.ts';

/** Names of the test files in test/programs/runner whose container tests run in this suite. */
const inContainers = ['environments', 'isolations', 'checkpoints'];

export default defineConfig({
  resolve: suite.resolve!,
  test: {
    include: ['test/engines/*.test.ts', ...inContainers.map((name) => `test/programs/runner/${name}.test.ts`)],
    env: { TEST_ENGINES: 'on' },
    testNamePattern: /container|image|attacker|agents|services|^a (release|database) |^the chart /,
    globalSetup: [...suite.test!.globalSetup!, 'test/support/programs-setup.ts'],
    setupFiles: suite.test!.setupFiles!,
    // A failed test is tried once more and listed at the end, as in the ordinary suite.
    retry: 1,
    reporters: ['default', './test/support/second-attempts.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 240_000,
    hookTimeout: 120_000,
    expect: suite.test!.expect!,
  },
});
