// Models that agents can use: models of the catalog, and models that the organization's connectors list.
import type { Caller } from '#access/principal.ts';
import { ownOrganization } from '#access/reach.ts';
import { lookUp, type Transaction } from '#foundation/postgres/database.ts';
import { invalid } from '#foundation/problem.ts';
import { listNamedModels } from '../integrations/operations.ts';
import * as catalog from './catalog.ts';
import { anyModelHarnesses, type Harness, harnesses } from './catalog.ts';
import type { Agent } from './model.ts';
import { harnessesFor, isModelKnown } from './runnable.ts';

const withModelSql = `select o.id from unnest($2::text[]) o (id) where exists (select from (${harnessesFor('$1::text', 'o.id')}) w
  where ${isModelKnown('w.harness', 'w.vendor', '$1::text')})`;

/** The ids of agents whose missions may start, because they need no model or their model is available. */
export const findWithModel = (caller: Caller, ids: readonly string[]): Promise<Pick<Agent, 'id'>[]> =>
  lookUp(withModelSql, [ownOrganization(caller), ids]);

/**
 * Checks that the harness can use the model. @throws 400 for a model that is neither in the catalog nor, for OpenCode and ACP, listed by a
 * connector of the organization
 */
export async function requireSupportedModel(
  trx: Transaction,
  agent: Pick<Agent, 'orgId' | 'harness' | 'model'>,
  field = 'model',
): Promise<void> {
  const { orgId, harness, model } = agent;
  const { models } = harnesses.find(({ id }) => id === harness)!;
  if (models.some(({ id }) => id === model)) return;
  const isNamed = (await listNamedModels(orgId, model, trx)).length > 0;
  const takesNamed = anyModelHarnesses.includes(harness);
  if (isNamed && takesNamed) return;
  const offered = `must be one that ${harness} runs: ${models.map(({ id }) => id).join(', ')}`;
  const orNamed = takesNamed ? `${offered}, or one that a model connector lists` : offered;
  throw invalid.field(
    field,
    isNamed
      ? `${offered}; ${model} is a model of a connector, which only ${anyModelHarnesses.join(' and ')} run`
      : orNamed,
  );
}

/** The catalog, extended with the models that the organization's connectors list. */
export async function readCatalog(caller: Caller): Promise<typeof catalog> {
  // A project-bound credential cannot reach connectors, so their models are omitted.
  const named = caller.orgId && caller.projectId === null ? await listNamedModels(caller.orgId) : [];
  const add = (harness: Harness): Harness => {
    const others = named.filter(({ id }) => harness.models.every((known) => known.id !== id));
    return { ...harness, models: [...harness.models, ...others.map(({ id, name: label }) => ({ id, label }))] };
  };
  return { ...catalog, harnesses: harnesses.map((one) => (anyModelHarnesses.includes(one.id) ? add(one) : one)) };
}
