// The order of the test files. The slowest files start first, so that no slow file runs alone at the end while other workers are idle.
// Every third file is one that mostly waits for processes or time limits, because several such files at once would leave the cores idle.
// Without lists the order would be by size, and short files that start processes would come last.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Test files that take more than five seconds and mostly wait, the slowest first. */
const waiting = [
  'runner/local-runner',
  'runner/agent-missions',
  'runner/terminals',
  'runner/checkpoints',
  'surfaces/start',
  'foundation/failover',
  'runner/kills',
  'surfaces/operator-database',
  'runner/mcp-servers',
  'runner/isolations',
  'runner/environments',
  'domain/outside-effects-kills',
  'foundation/embedded-database',
  'runner/install',
  'surfaces/local-runner',
  'upgrade',
  'surfaces/held-connections',
  'runner/acp',
  'runner/container',
  'surfaces/inbound-kills',
  'surfaces/subscriptions',
  'surfaces/workers',
  'foundation/move',
  'clients/pull',
  'foundation/replica',
  'runner/workspace',
  'runner/connected-models',
  'runner/caps',
  'runner/self-test',
  'foundation/backup',
  'surfaces/scheduler',
];

/** Test files that take more than five seconds and mostly use the CPU, the slowest first. */
const busy = [
  'surfaces/console-application',
  'surfaces/console-runs',
  'surfaces/console-forms',
  'surfaces/console-organization-forms',
  'limits',
  'surfaces/pages-in-browser',
  'surfaces/idempotency-key',
  'tenancy',
  'surfaces/console-finding',
  'surfaces/billing-pages',
  'surfaces/changes-page',
  'foundation/migrations',
  'domain/pull-request-loop',
  'surfaces/mcp-gateway',
  'surfaces/environment-pages',
  'surfaces/project-mcp-pages',
  'domain/mcp-remote',
  'surfaces/inbound',
  'domain/outside-effects',
  'surfaces/console-connect',
  'surfaces/operator-commands',
  'domain/closure',
  'clients/command-line',
  'domain/model-calls',
  'domain/agent-choice',
  'surfaces/mcp-conformance',
  'clients/package',
  'domain/sign-in',
  'domain/mcp-oauth',
  'surfaces/passkeys-in-browser',
];

const rankIn =
  (names: readonly string[]) =>
  ({ moduleId }: TestSpecification): number => {
    const rank = names.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
    return rank < 0 ? names.length : rank;
  };

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const [rankOfWaiting, rankOfBusy] = [rankIn(waiting), rankIn(busy)];
    const mostlyWaits = (file: TestSpecification) => rankOfWaiting(file) < waiting.length;
    const waits = files.filter(mostlyWaits).toSorted((a, b) => rankOfWaiting(a) - rankOfWaiting(b));
    const others = (await super.sort(files.filter((file) => !mostlyWaits(file)))).toSorted(
      (a, b) => rankOfBusy(a) - rankOfBusy(b),
    );
    const mixed = others.flatMap((file, i) => (i % 2 === 0 ? [...waits.splice(0, 1), file] : [file]));
    return [...mixed, ...waits];
  }
}
