// Lists the tests that failed on the first attempt and passed on the second, with the error of the first. Each such test reveals a defect,
// either in the test itself or in the code that it tests.
import type { Reporter, TestModule } from 'vitest/node';

export default class SecondAttempts implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const names = modules.flatMap(({ moduleId, children }) =>
      [...children.allTests('passed')]
        .filter((test) => test.diagnostic()?.flaky)
        .map((test) => `  ${moduleId}: ${test.fullName}\n    ${test.result().errors?.[0]?.message}`),
    );
    if (names.length > 0) console.log(`Passed on the second attempt:\n${names.join('\n')}\n`);
  }
}
