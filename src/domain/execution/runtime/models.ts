// The model connectors of an organization for the runtime that holds one of its runs: besides calls to the vendors, the only place where
// their keys leave the service.
import { createHash } from 'node:crypto';
import type { Caller } from '#access/principal.ts';
import { now } from '#foundation/clock.ts';
import type { Row } from '#foundation/postgres/base-model.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { type ModelVendor, modelVendors } from '../../projects/agents/catalog.ts';
import { Integration } from '../../projects/integrations/model.ts';
import { credentialsOf, listModelConnectors } from '../../projects/integrations/operations.ts';
import { Project } from '../../projects/projects/model.ts';
import { addressOf } from '../../projects/vendors/addresses.ts';
import { checkConnector } from '../../projects/vendors/check.ts';
import { leaseIsLost, lockHeldRun } from '../../work/runs/lock.ts';

export interface RunModels {
  revision: string;
  connectors: {
    integrationId: string;
    name: string;
    vendor: ModelVendor;
    baseUrl: string;
    apiKey: string;
  }[];
}

type Connector = Row<Integration>;

const revisionOf = (connectors: readonly Connector[]): string =>
  createHash('sha256')
    .update(connectors.map(({ id, updatedAt }) => `${id} ${updatedAt}`).join())
    .digest('base64url')
    .slice(0, 16);

/** By organization: a value that changes when a connector is added, rotated, revoked or deleted. */
export async function modelRevisions(trx: Transaction, orgIds: readonly string[]): Promise<Map<string, string>> {
  if (orgIds.length === 0) return new Map();
  const connectors = await listModelConnectors(orgIds, trx);
  return new Map(orgIds.map((orgId) => [orgId, revisionOf(connectors.filter((one) => one.orgId === orgId))]));
}

export interface Rejection {
  runId: string;
  leaseId: string;
  integrationId: string;
}

/** Checks with the vendor, so that a runtime's report alone cannot mark a connector as rejected. @throws 404, or 409 `lease_lost` */
export async function reportModelRejected(caller: Caller, { integrationId: id, ...held }: Rejection): Promise<void> {
  const { orgId } = await transaction((trx) => lockHeldRun(trx, caller, held));
  await checkConnector(await Integration.get({ id, orgId, vendorKind: 'llm' }));
}

/** The project's connector if it is of the vendor, else the oldest whose credentials are not known to be rejected. */
function connectorFor(
  vendor: ModelVendor,
  connectors: readonly Connector[],
  project: Row<Project>,
): Connector | undefined {
  const vendorConnectors = connectors.filter((one) => one.vendor === vendor);
  return (
    vendorConnectors.find(({ id }) => id === project.llmConnectorId) ??
    vendorConnectors.find((one) => one.brokenSince === null) ??
    vendorConnectors[0]
  );
}

/** @throws 404, or 409: `lease_lost`, also for a canceled run, or for credentials that cannot be read */
export async function modelsOfRun(caller: Caller, held: { runId: string; leaseId: string }): Promise<RunModels> {
  const run = await transaction((trx) => lockHeldRun(trx, caller, held));
  if (run.status !== 'running' || run.leaseUntil! <= now()) throw leaseIsLost();
  const project = await Project.get({ id: run.projectId });
  const connectors = await listModelConnectors([run.orgId]);
  const chosen = modelVendors.flatMap((vendor) => connectorFor(vendor, connectors, project) ?? []);
  return { revision: revisionOf(connectors), connectors: await Promise.all(chosen.map(withKey)) };
}

async function withKey(connector: Connector): Promise<RunModels['connectors'][number]> {
  const { id: integrationId, displayName: name, vendor } = connector;
  const apiKey = await credentialsOf(connector);
  return { integrationId, name, vendor: vendor as ModelVendor, baseUrl: addressOf(connector), apiKey };
}
