// The order of the test files: those that take longest begin first, so that none of them runs alone at the end while other
// workers have nothing left to do. Without a list the order would be by size, and short files that start processes come last.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const longest = [
  'surfaces/idempotency-key',
  'runner/local-runner',
  'surfaces/scheduler',
  'surfaces/start',
  'surfaces/operator-database',
  'foundation/embedded-database',
  'domain/mcp-oauth',
  'surfaces/operator-commands',
  'surfaces/pages-in-browser',
  'limits',
  'tenancy',
  'domain/mcp-remote',
];

const rankOf = ({ moduleId }: TestSpecification): number => {
  const rank = longest.findIndex((name) => moduleId.endsWith(`test/${name}.test.ts`));
  return rank < 0 ? longest.length : rank;
};

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}
