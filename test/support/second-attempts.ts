// Lists the tests that failed and passed when they were tried again. Each of them is a defect, of the test or of what it tests.
import type { Reporter, TestModule } from 'vitest/node';

export default class SecondAttempts implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const names = modules.flatMap(({ moduleId, children }) =>
      [...children.allTests('passed')]
        .filter((test) => test.diagnostic()?.flaky)
        .map(({ fullName }) => `  ${moduleId}: ${fullName}`),
    );
    if (names.length > 0) console.log(`Passed on the second attempt:\n${names.join('\n')}\n`);
  }
}
