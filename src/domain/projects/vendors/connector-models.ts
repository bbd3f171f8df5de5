// Checks of the models that a connector lists.
import type { Transaction } from '#foundation/postgres/database.ts';
import { invalid } from '#foundation/problem.ts';
import { vendorOfModel } from '../agents/catalog.ts';
import type { Integration } from '../integrations/model.ts';
import { findTakenModel } from '../integrations/operations.ts';

type Naming = Pick<Integration, 'id' | 'orgId' | 'vendor' | 'vendorKind' | 'models'>;

/**
 * Checks the models of a connector, whose organization the caller has locked: within an organization, a model id has one price and one API.
 * @throws 400
 */
export async function checkModels(trx: Transaction, { id, orgId, vendor, vendorKind, models }: Naming): Promise<void> {
  if (models.length === 0) return;
  if (vendorKind !== 'llm') throw invalid.field('models', 'must be absent for a connector that is not of the kind llm');
  const ids = models.map((model) => model.id);
  const taken = await findTakenModel(trx, { id, orgId, models });
  for (const [at, model] of models.entries()) {
    const field = `models.${at}.id`;
    const known = vendorOfModel(model.id);
    if (ids.indexOf(model.id) !== at) throw invalid.field(field, `must be unique: ${model.id} is listed twice`);
    if (known && known !== vendor)
      throw invalid.field(field, `must not be ${model.id}, a model of ${known}, for a connector of ${vendor}`);
    if (taken?.id === model.id)
      throw invalid.field(field, `must not be ${model.id}, which the connector ${taken.displayName} lists`);
  }
}
