// The order of the test files: the slowest start first, so that none of them runs alone at the end while other workers are idle.
// Without a list the order would be by size, and short files that start processes would come last.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const longest = [
  'limits',
  'runner/local-runner',
  'runner/workspace',
  'runner/environments',
  'runner/isolations',
  'tenancy',
  'clients/command-line',
  'runner/agent-missions',
  'runner/services',
  'domain/mcp-remote',
  'domain/closure',
  'surfaces/idempotency-key',
  'surfaces/pages-in-browser',
  'surfaces/console-application',
  'runner/hostile',
  'runner/checkpoints',
  'surfaces/start',
  'runner/install',
  'surfaces/operator-database',
  'runner/kills',
  'surfaces/console-forms',
  'surfaces/console-finding',
  'foundation/migrations',
  'foundation/failover',
  'upgrade',
  'surfaces/held-connections',
  'runner/container',
  'surfaces/operator-commands',
  'foundation/move',
  'surfaces/workers',
  'surfaces/scheduler',
  'foundation/embedded-database',
  'runner/mcp-servers',
  'surfaces/inbound-kills',
  'surfaces/environment-pages',
  'surfaces/few-descriptors',
  'domain/mcp-oauth',
  'runner/caps',
  'surfaces/project-mcp-pages',
  'surfaces/mcp-conformance',
  'surfaces/mcp-gateway',
  'surfaces/subscriptions',
  'surfaces/billing-pages',
  'surfaces/local-runner',
  'surfaces/console-connect',
  'domain/credits',
  'domain/offboarding',
  'surfaces/passkeys-in-browser',
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
