// The order of the test files: those that take longest begin first, so that none of them runs alone at the end while other
// workers have nothing left to do. Without a list the order would be by size, and short files that start processes come last.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const longest = [
  'limits',
  'runner/local-runner',
  'surfaces/pages-in-browser',
  'surfaces/dashboard',
  'surfaces/idempotency-key',
  'surfaces/console-forms',
  'upgrade',
  'surfaces/start',
  'tenancy',
  'surfaces/operator-commands',
  'runner/agent-missions',
  'runner/kills',
  'surfaces/console-finding',
  'surfaces/operator-database',
  'surfaces/workers',
  'surfaces/billing-pages',
  'foundation/failover',
  'surfaces/subscriptions',
  'surfaces/local-runner',
  'runner/checkpoints',
  'foundation/pgbouncer',
  'foundation/embedded-database',
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
