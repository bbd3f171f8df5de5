// Operations on the model connectors of an organization: connect, check, rotate, revoke, delete. A key is write-only, and its
// address is fixed: whoever could change it would be sent the key.
import type { Caller } from '#access/principal.ts';
import { beyondOneProject, ownOrganization } from '#access/reach.ts';
import type { Row } from '#foundation/base-model.ts';
import { transaction } from '#foundation/database.ts';
import { conflict } from '#foundation/problem.ts';
import type { ModelVendor } from '../agents/catalog.ts';
import { Integration } from '../integrations/model.ts';
import { replaceCredentials, revokeCredentials } from '../integrations/operations.ts';
import { lockOrganization } from '../organizations/operations.ts';
import { connectIntegration, disconnectIntegration } from '../projects/connectors.ts';
import { maxModelConnectors } from './bounds.ts';
import { checkBaseUrl } from './model-address.ts';
import { checkModel } from './models.ts';

export interface NewModelConnector {
  vendor: ModelVendor;
  displayName: string;
  apiKey: string;
  baseUrl?: string | null | undefined;
}

/** Connects a vendor, also to projects without a model connector. @throws 400 for an address that is not public, 409 at the limit */
export async function connectModelVendor(caller: Caller, input: NewModelConnector): Promise<Row<Integration>> {
  beyondOneProject(caller);
  const orgId = ownOrganization(caller);
  const { apiKey: credentials, vendor, displayName } = input;
  const baseUrl = input.baseUrl ? await checkBaseUrl(input.baseUrl) : undefined;
  return transaction(async (trx) => {
    await lockOrganization(trx, orgId);
    const connectors = await Integration.query(trx).where({ orgId, vendorKind: 'llm' }).resultSize();
    if (connectors >= maxModelConnectors) {
      throw conflict(`The organization has ${maxModelConnectors} model connectors, which is the most.`);
    }
    return connectIntegration({ orgId, vendor, vendorKind: 'llm', displayName, baseUrl, credentials }, trx);
  });
}

/** @throws 404 */
function ownConnector(caller: Caller, id: string): Promise<Row<Integration>> {
  beyondOneProject(caller);
  return Integration.get({ id, orgId: ownOrganization(caller), vendorKind: 'llm' });
}

/** Asks the vendor now whether it accepts the key. @throws 404 */
export const checkModelConnector = async (caller: Caller, id: string): Promise<Row<Integration>> =>
  checkModel(await ownConnector(caller, id));

/** Replaces the key. @throws 404 */
export const rotateModelConnector = async (caller: Caller, id: string, apiKey: string): Promise<Row<Integration>> =>
  replaceCredentials((await ownConnector(caller, id)).id, apiKey);

/** Deletes the key at once: runtimes stop using it with their next heartbeat. @throws 404 */
export const revokeModelConnector = async (caller: Caller, id: string): Promise<Row<Integration>> =>
  revokeCredentials((await ownConnector(caller, id)).id);

/** @throws 404 */
export async function deleteModelConnector(caller: Caller, id: string): Promise<{ ok: true; id: string }> {
  await disconnectIntegration((await ownConnector(caller, id)).id);
  return { ok: true, id };
}
