// What can be done with the orchestrator of an organization: see it with today's spend, set it, and ask whether a mission may
// start. It belongs to the whole organization, so a project-bound credential does not reach it.
import type { Caller } from '#access/principal.ts';
import { beyondOneProject, ownOrganization } from '#access/reach.ts';
import { hours, now } from '#foundation/clock.ts';
import { sql, type Transaction, transaction } from '#foundation/database.ts';
import type { Id } from '#foundation/ids.ts';
import { invalid } from '#foundation/problem.ts';
import { columnsOf } from '#foundation/record.ts';
import { type ModelVendor, modelsByVendor, modelVendors } from '../agents/catalog.ts';
import { Integration } from '../integrations/model.ts';
import { type CostCap, costCap, dayOf } from './cost-cap.ts';
import { Orchestrator } from './model.ts';

/** As the service has it. */
const builtin = {
  name: 'Orchestrator',
  blurb: 'Reads each issue, decides which agents work on it and in which order, and keeps the mission within its cost.',
  model: modelsByVendor.anthropic[0]!.id,
};

export interface OrchestratorRecord extends CostCap {
  orgId: Id<'organization'>;
  name: string;
  blurb: string;
  model: string;
  /** Who makes the model. */
  vendor: ModelVendor;
  llmConnectorId: string | null;
  assignedCredentialUsableForInference: boolean;
  modelsByVendor: typeof modelsByVendor;
  defaultModel: string;
  isBuiltin: boolean;
  inferenceEnabled: boolean;
  updatedAt: number | null;
}

type Read = { [K in keyof Orchestrator]: Orchestrator[K] | null } & {
  connectorVendor: string | null;
  connectorHasCredentials: boolean | null;
  spend: number;
};

const lookUp = `select ${columnsOf(Orchestrator, 'o')}, i.vendor as connector_vendor, i.sealed_credentials is not null as connector_has_credentials,
    (select coalesce(sum(usd), 0) from mission_costs where org_id = own.id and at >= $2) as spend
  from (values ($1)) own (id) left join orchestrators o on o.org_id = own.id left join integrations i on i.id = o.llm_connector_id`;

export async function findOrchestrator(caller: Caller): Promise<OrchestratorRecord> {
  beyondOneProject(caller);
  const orgId = ownOrganization(caller);
  const [row] = await sql<Read>(lookUp, [orgId, dayOf(now())]);
  const { spend, ...own } = row!;
  const model = own.model ?? builtin.model;
  const vendor = vendorOf(model);
  return {
    orgId,
    name: own.name ?? builtin.name,
    blurb: own.blurb ?? builtin.blurb,
    model,
    vendor,
    llmConnectorId: own.llmConnectorId,
    assignedCredentialUsableForInference: own.connectorVendor === vendor && own.connectorHasCredentials === true,
    modelsByVendor,
    defaultModel: builtin.model,
    isBuiltin: own.name === null && own.blurb === null && own.model === null,
    inferenceEnabled: own.inferenceEnabled ?? true,
    ...costCap(own.dailyCostCapUsd, spend),
    updatedAt: own.updatedAt,
  };
}

export interface SpendPoint {
  /** The beginning of the hour, epoch milliseconds. */
  t: number;
  usd: number;
}

/** What missions have cost today (UTC), hour by hour; an hour that cost nothing is left out. */
export const spendByHour = ({ orgId }: OrchestratorRecord): Promise<SpendPoint[]> =>
  sql<SpendPoint>(
    `select at - at % $3::bigint as t, sum(usd) as usd from mission_costs where org_id = $1 and at >= $2 group by 1 order by 1`,
    [orgId, dayOf(now()), hours(1)],
  );

/** A model that has left the catalog since it was chosen counts as the default's vendor. */
const vendorOf = (model: string): ModelVendor =>
  modelVendors.find((vendor) => modelsByVendor[vendor].some(({ id }) => id === model)) ?? 'anthropic';

export interface OrchestratorChanges {
  /** Null in this and the next two: as the service has it again. */
  name?: string | null | undefined;
  blurb?: string | null | undefined;
  model?: string | null | undefined;
  /** Alone or beside null it picks that vendor's first model; beside a model it must be who makes it. */
  vendor?: ModelVendor | undefined;
  llmConnectorId?: string | null | undefined;
  inferenceEnabled?: boolean | undefined;
  dailyCostCapUsd?: number | null | undefined;
}

export async function updateOrchestrator(caller: Caller, changes: OrchestratorChanges): Promise<OrchestratorRecord> {
  beyondOneProject(caller);
  const orgId = ownOrganization(caller);
  const { vendor, ...plain } = changes;
  const model = modelOf(changes);
  const patch = { ...plain, ...(model !== undefined && { model }) } as Partial<Orchestrator>;
  if (Object.keys(patch).length === 0) return findOrchestrator(caller);
  await transaction(async (trx) => {
    const { llmConnectorId: id } = patch;
    // Held until the row stands: a connector that is taken away meanwhile leaves null behind, not a dangling id.
    if (id && !(await Integration.query(trx).findOne({ id, orgId, vendorKind: 'llm' }).forKeyShare())) {
      throw invalid('llmConnectorId: must be an integration of this organization of the kind llm.');
    }
    const row = { ...patch, orgId, updatedAt: now() };
    await Orchestrator.query(trx).insert(row).onConflict('orgId').merge();
  });
  return findOrchestrator(caller);
}

/** The model that the changes ask for: null for the default, undefined when they don't speak of it. */
function modelOf({ model, vendor }: OrchestratorChanges): string | null | undefined {
  if (model == null) return vendor ? modelsByVendor[vendor][0]!.id : model;
  const offered = (vendor ? [vendor] : modelVendors).flatMap((one) => modelsByVendor[one].map(({ id }) => id));
  if (offered.includes(model)) return model;
  throw invalid(`model: must be one of ${offered.join(', ')}.`);
}

export type MayStart = { ok: true } | { ok: false; code: 'daily_cost_cap' | 'credits_exhausted'; reason: string };

/** Whether the organization may start a mission now. A reason is a sentence for people; it stands in skipped runs. */
export async function mayStartMission(trx: Transaction, orgId: string): Promise<MayStart> {
  const { rows } = await trx.raw(
    `select (select daily_cost_cap_usd from orchestrators where org_id = :orgId) as cap,
      (select coalesce(sum(usd), 0) from mission_costs where org_id = :orgId and at >= :day) as spend`,
    { orgId, day: dayOf(now()) },
  );
  const { effectiveDailyCostCapUsd, dailySpendUsd, atDailyCostCap } = costCap(rows[0].cap, rows[0].spend);
  if (!atDailyCostCap) return { ok: true };
  const reason = `The daily cost cap of ${effectiveDailyCostCapUsd} USD is reached: missions have cost ${dailySpendUsd} USD since midnight UTC.`;
  return { ok: false, code: 'daily_cost_cap', reason };
}
