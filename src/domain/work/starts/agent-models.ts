// The agent of a mission, possibly with a model other than its own.
import type { Id } from '#foundation/ids.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { invalid, modelRequired } from '#foundation/problem.ts';
import { builtinAgentId, builtinAgents, harnessOptionsWith, providerNeeded } from '../../projects/agents/catalog.ts';
import type { HarnessId } from '../../projects/agents/model.ts';
import { requireSupportedModel } from '../../projects/agents/models.ts';
import { lockAgentOf } from '../../projects/agents/operations.ts';
import { isModelKnown } from '../../projects/agents/runnable.ts';
import { listNamedModels } from '../../projects/integrations/operations.ts';
import type { NewRun } from '../runs/create.ts';

interface NamedAgent {
  agentId?: string | null | undefined;
  agentModel?: string | null | undefined;
}

type AgentColumns = Pick<NewRun, 'agentId' | 'agentModel' | 'nextHarness' | 'nextVendor'>;

/**
 * The columns of a run that name its agent.
 * @param field Name of the request's member that contains the model.
 * @throws 400 for a model that the agent's harness does not support, 404 for an unknown agent, 409 for a model that nothing provides
 */
export async function agentColumns(
  trx: Transaction,
  orgId: Id<'organization'>,
  { agentId = null, agentModel: model = null }: NamedAgent,
  field: string,
): Promise<AgentColumns> {
  const agent = agentId === null ? null : await lockAgentOf(trx, orgId, agentId);
  if (agent === null || model === null) return { agentId };
  const builtin = builtinAgents.find((one) => builtinAgentId(one) === agentId);
  if (!builtin) await requireSupportedModel(trx, { orgId, harness: agent.harness, model }, field);
  const ways = builtin ? harnessOptionsWith(builtin, model) : [{ harness: agent.harness, model }];
  const pairs = ways.map((way) => ({ ...way, vendor: providerNeeded(way) }));
  const isUnknown = pairs.some(({ vendor }) => vendor?.startsWith('model:')) && (await isUnnamed(trx, orgId, model));
  if (pairs.length === 0 || isUnknown)
    throw invalid.field(field, `is not a model that the agent ${agent.name} can use`);
  if (!(await isAnyKnown(trx, orgId, pairs)))
    throw modelRequired(`No connector with a key, and no connected runtime, provides the model ${model}.`);
  // No harness is stored for a built-in agent: it is chosen when a runtime claims the run.
  const [{ harness: nextHarness, vendor: nextVendor }] = pairs as [(typeof pairs)[number]];
  return { agentId, agentModel: model, ...(!builtin && { nextHarness, nextVendor }) };
}

/**
 * Checks that the harness of the agent supports the model, and that something provides the model.
 * @throws 400, 409 for a model that nothing provides
 */
export async function requireModel(
  trx: Transaction,
  orgId: Id<'organization'>,
  { harness, model }: { harness: HarnessId; model: string },
  field: string,
): Promise<void> {
  await requireSupportedModel(trx, { orgId, harness, model }, field);
  if (!(await isAnyKnown(trx, orgId, [{ harness, vendor: providerNeeded({ harness, model }) }])))
    throw modelRequired(`No connector with a key, and no connected runtime, provides the model ${model}.`);
}

const isUnnamed = async (trx: Transaction, orgId: Id<'organization'>, model: string): Promise<boolean> =>
  (await listNamedModels(orgId, model, trx)).length === 0;

const anyKnownSql = `select exists (select from unnest($2::text[], $3::text[]) w (harness, vendor)
  where ${isModelKnown('w.harness', 'w.vendor', '$1::text')}) as known`;

async function isAnyKnown(
  trx: Transaction,
  orgId: string,
  pairs: readonly { harness: HarnessId; vendor: string | null }[],
): Promise<boolean> {
  const values = [orgId, pairs.map(({ harness }) => harness), pairs.map(({ vendor }) => vendor)];
  return (await sql<{ known: boolean }>(anyKnownSql, values, trx))[0]!.known;
}
