// The releases that the drivers were tested with (`npm run test:harnesses`), as ranges whose ends were tested. Tools, events and defaults
// change between releases, so other releases are not used, and a runner tests each program itself (../self-test.ts). Extend a range here
// and in docs/harnesses.md once the tests pass with its new end.
import type { TestedHarness } from './port.ts';

export const testedVersions: Record<TestedHarness, { from: string; below: string }> = {
  'claude-code': { from: '2.1.327', below: '2.1.331' },
  codex: { from: '0.166.0', below: '0.170.0' },
  opencode: { from: '1.18.31', below: '1.18.35' },
};

/** The range of tested releases, in the notation of npm. */
export const rangeOf = (harness: TestedHarness): string =>
  `>=${testedVersions[harness].from} <${testedVersions[harness].below}`;

/** Whether the release is in the tested range. @param version Three numbers. */
export function isTested(harness: TestedHarness, version: string): boolean {
  const { from, below } = testedVersions[harness];
  return compare(version, from) >= 0 && compare(version, below) < 0;
}

const compare = (one: string, other: string): number => one.localeCompare(other, 'en', { numeric: true });
