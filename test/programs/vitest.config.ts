// The tests that start programs (`npm run test:programs`): a browser, services, runners, database servers and MCP servers. Some of the
// tests kill these programs.
import { defineConfig } from 'vitest/config';
import suite from '../../vitest.config.ts';

export default defineConfig({
  ...suite,
  test: {
    ...suite.test,
    include: ['test/programs/**/*.test.ts'],
    exclude: [],
    globalSetup: [...suite.test!.globalSetup!, 'test/support/programs-setup.ts'],
    // There are more workers than the two cores of a machine, because these tests spend most of their time waiting for their programs.
    maxWorkers: 3,
    reporters: [
      'default',
      ['json', { outputFile: 'node_modules/.cache/program-tests.json' }],
      './test/support/second-attempts.ts',
    ],
  },
});
