// Requirements that must be met before the organization's agents can start a mission. They are read from the current connections and never
// stored.
import type { Id } from '#foundation/ids.ts';
import { lookUp } from '#foundation/postgres/database.ts';
import { harnessesFor, isModelKnown } from '../../projects/agents/runnable.ts';
import { hasSourceHost } from '../../projects/integrations/operations.ts';

export const requirementIds = ['model', 'source_host'] as const;

export interface Requirement {
  id: (typeof requirementIds)[number];
  isMet: boolean;
}

const requirementsSql = `select
  exists (select from (${harnessesFor('$1::text', 'null::text')}) w
    where ${isModelKnown('w.harness', 'w.vendor', '$1::text')}) as model,
  ${hasSourceHost('$1')} as source_host`;

export async function readRequirements(orgId: Id<'organization'>): Promise<Requirement[]> {
  const [row] = await lookUp<{ model: boolean; sourceHost: boolean }>(requirementsSql, [orgId]);
  return [
    { id: 'model', isMet: row!.model },
    { id: 'source_host', isMet: row!.sourceHost },
  ];
}
