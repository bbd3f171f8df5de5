// The model connectors of an organization, for the runtime that holds one of its runs. The keys of connectors leave the service only here,
// and in calls to the vendors.
import { createHash } from 'node:crypto';
import type { Caller } from '#access/principal.ts';
import { now } from '#foundation/clock.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { conflict } from '#foundation/problem.ts';
import { type ModelVendor, modelVendors, providerNeeded } from '../../projects/agents/catalog.ts';
import { Integration } from '../../projects/integrations/model.ts';
import {
  credentialsOf,
  listModelConnectors,
  listModelLists,
  type ModelList,
  namedModel,
} from '../../projects/integrations/operations.ts';
import { Project } from '../../projects/projects/model.ts';
import { addressOf } from '../../projects/vendors/addresses.ts';
import { checkConnector } from '../../projects/vendors/check.ts';
import { priceThrough, type TokenPrice } from '../../work/mission-costs/prices.ts';
import { leaseIsLost, lockHeldRun } from '../../work/runs/lock.ts';
import type { Run, RunAgent } from '../../work/runs/model.ts';
import { latestStepOf } from '../../work/runs/steps.ts';

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

type Connector = Integration;

const revisionOf = (connectors: readonly ModelList[]): string =>
  createHash('sha256')
    .update(JSON.stringify(connectors.map(({ id, updatedAt, models }) => [id, updatedAt, models.map((one) => one.id)])))
    .digest('base64url')
    .slice(0, 16);

/**
 * Returns one value for each organization. The value changes when a model connector of the organization is added, rotated, revoked or
 * deleted, or when the list of the connector's models changes.
 */
export async function modelRevisions(orgIds: readonly string[], trx?: Transaction): Promise<Map<string, string>> {
  const connectors = await listModelLists(orgIds, trx);
  return new Map(orgIds.map((orgId) => [orgId, revisionOf(connectors.filter((one) => one.orgId === orgId))]));
}

export interface Rejection {
  runId: string;
  leaseId: string;
  integrationId: string;
}

/** Checks the connector with its vendor, because a runtime's report alone does not mark it as rejected. @throws 404, or 409 `lease_lost` */
export async function reportModelRejected(caller: Caller, { integrationId: id, ...held }: Rejection): Promise<void> {
  const { orgId } = await transaction((trx) => lockHeldRun(trx, caller, held));
  await checkConnector(await Integration.get({ id, orgId, vendorKind: 'llm' }));
}

/** The project's connector if it is among the candidates, else the oldest whose credentials are not known to be rejected. */
const preferred = (connectors: readonly Connector[], project: Project): Connector | undefined =>
  connectors.find(({ id }) => id === project.llmConnectorId) ??
  connectors.find((one) => one.brokenSince === null) ??
  connectors[0];

/**
 * The connectors that serve the present step of the run, at most one of each vendor: preferably a connector that names the step's model. A
 * model outside the catalog is served only by a connector that names it.
 */
async function servingConnectors(trx: Transaction, run: Run): Promise<Connector[]> {
  const connectors = await listModelConnectors([run.orgId], trx);
  if (connectors.length === 0) return [];
  const project = (await Project.find({ id: run.projectId }, trx))!;
  const agent = (await latestStepOf(trx, run.id))?.agent;
  const naming = connectors.filter(({ models }) => models.some(({ id }) => id === agent?.model));
  const isServedByAny = !agent || !isOutsideCatalog(agent);
  return modelVendors.flatMap((vendor) => {
    const [named, all] = [naming, connectors].map((some) => some.filter((one) => one.vendor === vendor));
    return preferred(named!.length > 0 || !isServedByAny ? named! : all!, project) ?? [];
  });
}

const isOutsideCatalog = (agent: RunAgent): boolean => providerNeeded(agent) === namedModel(agent.model);

/** The current price of a model call of the run; undefined for a model without a price. */
export const priceOfCall = async (trx: Transaction, run: Run, model: string): Promise<TokenPrice | undefined> =>
  priceThrough(await servingConnectors(trx, run), model);

/** The price of a model. @throws 409 for a model without a price, because no limit could bound its cost */
export async function neededPriceOf(trx: Transaction, run: Run, model: string): Promise<TokenPrice> {
  const price = await priceOfCall(trx, run, model);
  if (price) return price;
  const agent = (await latestStepOf(trx, run.id))?.agent;
  const isUnnamed = agent?.model === model && isOutsideCatalog(agent);
  throw conflict(
    isUnnamed
      ? `No model connector lists the model ${model}.`
      : `The model ${model} has no price: add it with its prices to a model connector.`,
  );
}

/**
 * The model connectors for the present step of the run.
 * @throws 404; 409 `lease_lost`, also for a canceled run; 409 for credentials that cannot be read
 */
export async function modelsOfRun(caller: Caller, held: { runId: string; leaseId: string }): Promise<RunModels> {
  const { revision, serving } = await transaction(async (trx) => {
    const run = await lockHeldRun(trx, caller, held);
    if (run.status !== 'running' || run.leaseUntil! <= now()) throw leaseIsLost();
    const revision = revisionOf(await listModelConnectors([run.orgId], trx));
    return { revision, serving: await servingConnectors(trx, run) };
  });
  return { revision, connectors: await Promise.all(serving.map(withKey)) };
}

async function withKey(connector: Connector): Promise<RunModels['connectors'][number]> {
  const { id: integrationId, displayName: name, vendor } = connector;
  const apiKey = await credentialsOf(connector);
  return { integrationId, name, vendor: vendor as ModelVendor, baseUrl: addressOf(connector), apiKey };
}
