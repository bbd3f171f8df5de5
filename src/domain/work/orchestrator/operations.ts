// Operations on the orchestrator of an organization: read it with today's spend, change it. The orchestrator belongs to the whole
// organization, so a project-bound credential cannot reach it.
import type { Caller } from '#access/principal.ts';
import { wholeOrganization } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { columnsOf } from '#foundation/postgres/reads.ts';
import { invalid } from '#foundation/problem.ts';
import { type ModelVendor, modelsByVendor, modelVendors, vendorOfModel } from '../../projects/agents/catalog.ts';
import { Integration } from '../../projects/integrations/model.ts';
import { isUsableForInference } from '../../projects/vendors/check.ts';
import { type CostCap, costCap, dayOf } from '../mission-costs/cap.ts';
import { spendSince } from '../mission-costs/ledger.ts';
import { Orchestrator } from './model.ts';

/** Default settings, for an organization that has not changed them. */
const builtin = {
  name: 'Orchestrator',
  blurb: 'Chooses which agents of the organization work on a mission, and stops missions at the daily cost cap.',
  model: modelsByVendor.anthropic[0]!.id,
};

export interface OrchestratorRecord extends CostCap {
  orgId: Id<'organization'>;
  name: string;
  blurb: string;
  model: string;
  /** Vendor of the selected model. */
  vendor: ModelVendor;
  llmConnectorId: string | null;
  modelsByVendor: typeof modelsByVendor;
  defaultModel: string;
  isBuiltin: boolean;
  inferenceEnabled: boolean;
  /** Whether a person has to approve each plan before an agent follows it. */
  planApproval: boolean;
  updatedAt: number | null;
}

type SettingsWithSpend = { [K in keyof Orchestrator]: Orchestrator[K] | null } & { spend: number };

const readSettingsSql = `select ${columnsOf(Orchestrator, 'o')},
    ${spendSince('org.id', '$2')} as spend
  from (values ($1)) org (id) left join orchestrators o on o.org_id = org.id`;

export async function findOrchestrator(caller: Caller): Promise<OrchestratorRecord> {
  const orgId = wholeOrganization(caller);
  const [row] = await sql<SettingsWithSpend>(readSettingsSql, [orgId, dayOf(now())]);
  const { spend, ...settings } = row!;
  const model = settings.model ?? builtin.model;
  const vendor = vendorOf(model);
  const { llmConnectorId } = settings;
  return {
    orgId,
    name: settings.name ?? builtin.name,
    blurb: settings.blurb ?? builtin.blurb,
    model,
    vendor,
    llmConnectorId,
    modelsByVendor,
    defaultModel: builtin.model,
    isBuiltin: settings.name === null && settings.blurb === null && settings.model === null,
    inferenceEnabled: settings.inferenceEnabled ?? true,
    planApproval: settings.planApproval ?? false,
    ...costCap(settings.dailyCostCapUsd, spend),
    updatedAt: settings.updatedAt,
  };
}

/** Whether the vendor of the model accepts the credentials of the assigned connector. Asks the vendor unless a recent answer is cached. */
export const isAssignedCredentialUsable = async ({
  orgId,
  llmConnectorId,
  vendor,
}: OrchestratorRecord): Promise<boolean> =>
  llmConnectorId !== null && isUsableForInference(orgId, llmConnectorId, vendor);

/** A model that is no longer in the catalog is attributed to the vendor of the default model. */
const vendorOf = (model: string): ModelVendor => vendorOfModel(model) ?? 'anthropic';

export interface OrchestratorChanges {
  /** Name of the orchestrator. Null in `name`, `blurb` or `model` restores the built-in value. */
  name?: string | null | undefined;
  blurb?: string | null | undefined;
  model?: string | null | undefined;
  /** The model's vendor. Without a model, the vendor's first model is selected. */
  vendor?: ModelVendor | undefined;
  llmConnectorId?: string | null | undefined;
  inferenceEnabled?: boolean | undefined;
  planApproval?: boolean | undefined;
  dailyCostCapUsd?: number | null | undefined;
}

export async function updateOrchestrator(caller: Caller, changes: OrchestratorChanges): Promise<OrchestratorRecord> {
  const orgId = wholeOrganization(caller);
  const { vendor, ...plain } = changes;
  const model = modelOf(changes);
  const patch = { ...plain, ...(model !== undefined && { model }) } as Partial<Orchestrator>;
  if (Object.keys(patch).length === 0) return findOrchestrator(caller);
  await transaction(async (trx) => {
    const { llmConnectorId: id } = patch;
    // The connector is locked until the row is written, so that a concurrent deletion of the connector sets the column to null and leaves
    // no dangling id.
    if (id && !(await Integration.query(trx).findOne({ id, orgId, vendorKind: 'llm' }).forKeyShare())) {
      throw invalid.field('llmConnectorId', 'must be an integration of this organization with the kind llm');
    }
    await Orchestrator.upsert(trx, { ...patch, orgId, updatedAt: now() });
  });
  return findOrchestrator(caller);
}

/** The model to store: null for the default, undefined for no change. */
function modelOf({ model, vendor }: OrchestratorChanges): string | null | undefined {
  if (model == null) return vendor ? modelsByVendor[vendor][0]!.id : model;
  const offered = (vendor ? [vendor] : modelVendors).flatMap((one) => modelsByVendor[one].map(({ id }) => id));
  if (offered.includes(model)) return model;
  throw invalid.field('model', `must be one of ${offered.join(', ')}`);
}

/**
 * Whether a person has to approve the plan of the run. The setting of the mission decides; if the mission has none, the organization's setting does.
 */
export async function needsPlanApproval(
  trx: Transaction,
  { orgId, planApproval }: { orgId: string; planApproval: boolean | null },
): Promise<boolean> {
  if (planApproval !== null) return planApproval;
  const [row] = await sql<{ planApproval: boolean }>(
    'select plan_approval from orchestrators where org_id = $1',
    [orgId],
    trx,
  );
  return row?.planApproval ?? false;
}

/** The model of the organization's orchestrator, its vendor and connector, and whether inference is enabled. */
export async function inferenceSettings(trx: Transaction, orgId: string) {
  const [settings] = await sql<Pick<Orchestrator, 'inferenceEnabled' | 'llmConnectorId' | 'model'>>(
    'select inference_enabled, llm_connector_id, model from orchestrators where org_id = $1',
    [orgId],
    trx,
  );
  const model = settings?.model ?? builtin.model;
  return {
    inferenceEnabled: settings?.inferenceEnabled ?? true,
    llmConnectorId: settings?.llmConnectorId ?? null,
    model,
    vendor: vendorOf(model),
  };
}

/** SQL expression: the organization's own daily cost cap; null means the default applies. */
export const ownCostCap = (orgId: string): string =>
  `(select daily_cost_cap_usd from orchestrators where org_id = ${orgId})`;

const costCapSql = `select ${ownCostCap('$1')} as cap,
  ${spendSince('$1', '$2')} as spend`;

/** The daily cost cap of the organization, with today's spend. */
export async function readCostCap(trx: Transaction, orgId: string): Promise<CostCap> {
  const [row] = await sql<{ cap: number | null; spend: number }>(costCapSql, [orgId, dayOf(now())], trx);
  return costCap(row!.cap, row!.spend);
}
