import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

export default defineConfig({
  // graphql 16 ships CommonJS and ESM side by side. Vite would pick the ESM file for our sources while every library
  // loads the CommonJS one: two instances, "Cannot use GraphQLSchema from another module or realm".
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['test/**/*.test.ts'],
    // Suites of their own (docs/decisions/0065-two-suites.md).
    exclude: ['test/programs/**', 'test/harnesses/**', 'test/engines/**'],
    globalSetup: ['test/support/global-setup.ts'],
    // The JSON is for `.ci/run`, which ends with the counts.
    reporters: [
      'default',
      ['json', { outputFile: 'node_modules/.cache/tests.json' }],
      './test/support/second-attempts.ts',
    ],
    // A test of a browser or a process can lose a race on a loaded machine: it is tried once more, and named at the end.
    retry: 1,
    pool: 'forks',
    // Neither the harnesses nor the prepared environments that a developer's own runner keeps in this folder.
    env: { DATA_DIR: 'node_modules/.cache/data' },
    isolate: false,
    // Few, because each worker loads and optimizes the service itself. On two cores and without cached modules, two workers take 172
    // seconds and three 212.
    maxWorkers: 2,
    execArgv: [
      // Larger young generation for the garbage of requests: with the default, its collection takes a tenth of the time.
      '--min-semi-space-size=64',
      '--max-semi-space-size=64',
      // Most functions run too seldom to earn the time of V8's optimizing compiler: it waits five times as long, and its quick compiler
      // takes every function. Files of a second take a tenth less CPU time, and those of half a minute not more than before.
      '--interrupt-budget=700000',
      '--always-sparkplug',
    ],
    sequence: { sequencer: LongestFirst },
    // Modules that an earlier run has transformed are read from there, by their content and the lock file: a run of one file takes a
    // quarter less CPU time.
    experimental: { fsModuleCache: true, fsModuleCachePath: 'node_modules/.cache/modules' },
    // Bounds for what hangs, not for what is slow: no test may depend on the speed of a machine.
    setupFiles: ['test/support/wait-timeouts.ts', 'test/support/check-references.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 100_000 } },
  },
});
