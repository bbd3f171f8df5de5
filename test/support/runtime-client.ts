// A runtime without a runner: a test itself claims runs, reports on them and finishes them, with the same operations that src/runner sends.
import { createServiceToken } from '#domain/identity/tokens/service-tokens.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Id } from '#foundation/ids.ts';
import type { World } from './world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

export interface Held {
  runId: string;
  leaseId: string;
}
const heldOf = ({ runId, leaseId }: Held): Held => ({ runId, leaseId });

export type Runtime = Awaited<ReturnType<typeof createRuntime>>;

/** A runtime with a token of one organization, or of the installation. */
export async function createRuntime(world: Pick<World, 'field'>, organization?: Pick<Organization, 'id'>) {
  const { token } = await createServiceToken({ name: 'Runtime', orgId: organization?.id });

  /** The data of the response, or its problem. */
  const ask = (name: string, input: object, selection = '{ ok }', as: string = token): Promise<Json> => {
    const query = `mutation ($input: ${name[0]!.toUpperCase()}${name.slice(1)}Request!) { ${name}(input: $input) ${selection} }`;
    return world.field(query, { token: as, variables: { input } });
  };
  async function report(name: string, input: object, selection?: string): Promise<Json> {
    const answer = await ask(name, input, selection);
    if (answer?.category) throw new Error(`${name}: ${answer.code}: ${answer.description}`);
    return answer;
  }

  return {
    token,
    ask,
    report,
    /** The claimed run; null when none waits for this runtime. */
    claim: (more: object = {}, selection = '{ runId leaseId }') =>
      report('claimRun', { runtime: 'Runtime', harnesses: ['claude-code'], ...more }, selection),
    /** Sends a heartbeat, and returns the response for the run. */
    beat: async (held: Held, more: object = {}, selection = '{ desired }') =>
      (await report('heartbeat', { runs: [{ ...heldOf(held), ...more }] }, `{ runs ${selection} }`)).runs[0],
    /** Registers the sandbox that the run works in, and returns its id. */
    async register(held: Held, more: object = {}): Promise<Id<'sandbox'>> {
      const box = { key: 'box', role: 'builder', harness: 'claude-code', instanceType: 'lite' };
      return (await report('registerSandbox', { ...heldOf(held), ...box, ...more }, '{ sandboxId }')).sandboxId;
    },
    finish: (held: Held, more: object = {}) => report('finishRun', { ...heldOf(held), status: 'completed', ...more }),
  };
}
