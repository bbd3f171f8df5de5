// Harnesses that missions need, for runtimes that install them.
import type { Caller } from '#access/principal.ts';
import { sql } from '#foundation/postgres/database.ts';
import { listModelVendors } from '../integrations/operations.ts';
import type { ModelVendor } from './catalog.ts';
import type { HarnessId } from './model.ts';

export interface HarnessDemand {
  /** Model vendors that organizations have connected. */
  modelVendors: ModelVendor[];
  /** Harnesses of the organizations' own agents, except the shell. */
  harnesses: HarnessId[];
}

const harnessesSql = `select distinct harness from agents
  where harness <> 'shell' and ($1::text is null or org_id = $1) order by harness`;

/** The harnesses and model vendors that the organizations of the runtime need. */
export async function readHarnessDemand({ orgId }: Caller): Promise<HarnessDemand> {
  const [vendors, agents] = await Promise.all([
    listModelVendors(orgId),
    sql<{ harness: HarnessId }>(harnessesSql, [orgId]),
  ]);
  return {
    modelVendors: vendors.map(({ vendor }) => vendor as ModelVendor),
    harnesses: agents.map(({ harness }) => harness),
  };
}
