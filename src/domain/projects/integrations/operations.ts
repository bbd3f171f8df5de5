// Operations on the integrations of an organization: list, create, replace and unseal credentials.
import { raw } from 'objection';
import type { Caller } from '#access/principal.ts';
import { wholeOrganization } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { lookUp, sql, type Transaction } from '#foundation/postgres/database.ts';
import { columnsOf } from '#foundation/postgres/reads.ts';
import { conflict, invalid } from '#foundation/problem.ts';
import { seal, unseal } from '#foundation/secrets/secrets.ts';
import {
  type ConnectorModel,
  Integration,
  kindsOf,
  type ModelVendor,
  type NamedModel,
  type Vendor,
  type VendorKind,
  vendorsOf,
} from './model.ts';

/** The connectors, oldest first, so that a project's default connectors stay the same when more are added. */
export async function listIntegrations(caller: Caller): Promise<Integration[]> {
  return Integration.findAll({ orgId: wholeOrganization(caller) });
}

const connectorsSql = `select id, vendor, vendor_kind, has_credentials from integrations where org_id = $1 order by ${Integration.order}`;

/** The connectors that a new project may use, oldest first. The list is not paged, because an organization has few. */
export const listConnectors = (
  orgId: string,
): Promise<Pick<Integration, 'id' | 'vendor' | 'vendorKind' | 'hasCredentials'>[]> => lookUp(connectorsSql, [orgId]);

export interface NewIntegration {
  /** The id of the connector; absent means a new one. */
  id?: Id<'integration'>;
  orgId: Id<'organization'>;
  vendor: Vendor;
  vendorKind: VendorKind;
  displayName: string;
  externalOrgId?: string | undefined;
  /** Base URL of a server other than the vendor's own. */
  baseUrl?: string | undefined;
  /** Models that the connector lists; absent means no models. */
  models?: ConnectorModel[] | undefined;
  /** The vendor's API credentials; sealed with the service key. */
  credentials?: string | undefined;
}

/** Writes a connector. @throws 400 for a vendor that does not offer this kind */
export async function insertIntegration(trx: Transaction, input: NewIntegration): Promise<Integration> {
  const { credentials, externalOrgId = null, baseUrl = null, models = [], ...record } = input;
  if (!kindsOf(input.vendor).includes(input.vendorKind)) {
    throw invalid.field(
      'vendor',
      `must be one of ${vendorsOf(input.vendorKind).join(', ')} for the kind ${input.vendorKind}`,
    );
  }
  const at = now();
  const { id = newId('integration') } = input;
  const sealedCredentials = credentials === undefined ? null : seal(credentialsPurpose(id), credentials);
  const integration = { ...record, externalOrgId, baseUrl, models, id, createdAt: at, updatedAt: at };
  await Integration.insert(trx, { ...integration, sealedCredentials });
  const hasCredentials = sealedCredentials !== null;
  return { ...integration, hasCredentials, brokenSince: null, checkedAt: null, checkFailure: null, pausedUntil: null };
}

/** The sealing context, which binds the ciphertext to this integration. */
/** The sealing purpose, which binds the ciphertext to this integration. */
export const credentialsPurpose = (id: string) => `integration:${id}`;

/** Replaces the credentials of a connector; its projects keep using it. @throws 404 */
export const replaceCredentials = (id: string, credentials: string): Promise<Integration> =>
  setCredentials(id, seal(credentialsPurpose(id), credentials));

/** Deletes the credentials of a connector; its projects keep using it. @throws 404 */
export const revokeCredentials = (id: string): Promise<Integration> => setCredentials(id, null);

async function setCredentials(id: string, sealedCredentials: string | null): Promise<Integration> {
  const unknown = { brokenSince: null, checkedAt: null, checkFailure: null, pausedUntil: null };
  // The time increases with every change, even within one millisecond, because runtimes recognize changed credentials by it.
  const updatedAt = raw('greatest(?, updated_at + 1)', [now()]);
  await Integration.patch(undefined, { id }, { sealedCredentials, sealedToken: null, updatedAt, ...unknown });
  return Integration.get({ id });
}

/** The decrypted credentials, for calls to this vendor only: never for a log, an error or a record. @throws 409 when there are none */
export async function credentialsOf({ id, displayName }: Pick<Integration, 'id' | 'displayName'>): Promise<string> {
  const [row] = await sql<{ sealed: string | null }>(
    'select sealed_credentials as sealed from integrations where id = $1',
    [id],
  );
  if (!row?.sealed) refuse(`The connector ${displayName} has no credentials: set new ones.`);
  const credentials = unsealed(id, row.sealed);
  // Credentials are sent in a header, which allows only these characters: printable ASCII without the space.
  if (credentials && /^[\x21-\x7e]+$/.test(credentials)) return credentials;
  return refuse(`The credentials of the connector ${displayName} cannot be read: set new ones.`);
}

/** Records when the vendor begins to reject the credentials, or accepts them again. */
export async function noteCredentials(connector: Integration, areAccepted: boolean): Promise<void> {
  const { id, brokenSince, updatedAt } = connector;
  if (areAccepted === (brokenSince === null)) return;
  // Skips credentials that have been replaced in the meantime.
  await Integration.patch(undefined, { id, brokenSince, updatedAt }, { brokenSince: areAccepted ? null : now() });
}

const pauseSql = 'update integrations set paused_until = greatest($2, paused_until) where id = $1';

/** Makes all processes pause calls of the connector until this time. */
export const pauseConnector = async (id: string, until: number): Promise<void> => {
  await sql(pauseSql, [id, until]);
};

const brokenSql = `select ${columnsOf(Integration)} from integrations
  where org_id = $1 and broken_since is not null order by broken_since desc limit 20`;

/** Connectors whose credentials the vendor rejects, the most recent rejection first; at most 20. */
export const listBrokenIntegrations = (orgId: string): Promise<Integration[]> => sql(brokenSql, [orgId]);

/** Result of a check of credentials with the vendor. */
export interface CheckResult {
  /** Reason why the credentials do not work; null when they work. */
  failure: string | null;
  /** The owner of the credentials at the vendor; null when the vendor does not name it. */
  account: string | null;
}

/** Records the result of a check of the credentials, and returns the updated connector. */
export async function noteCheck(connector: Integration, { failure, account }: CheckResult): Promise<Integration> {
  const { id, updatedAt } = connector;
  const checked = { checkedAt: now(), checkFailure: failure, ...(account !== null && { externalOrgId: account }) };
  // Skips credentials that have been replaced in the meantime.
  await Integration.patch(undefined, { id, updatedAt }, checked);
  return { ...connector, ...checked };
}

export const namedModel = (id: string): NamedModel => `model:${id}`;

/** SQL condition: the provider has the form `model:ID`, which names a model outside the catalog, and not a vendor. */
export const isNamedModel = (provider: string): string => `${provider} like 'model:%'`;
/** SQL expression: the id of a model outside the catalog. */
export const idOfNamedModel = (provider: string): string => `substr(${provider}, ${'model:'.length + 1})`;

/** SQL condition: the organization has a connector with credentials for this provider, which is a vendor or a listed model. */
export const hasModelConnector = (orgId: string, provider: string): string =>
  `exists (select from integrations i where i.org_id = ${orgId} and i.vendor_kind = 'llm' and i.has_credentials
    and (i.vendor = ${provider} or ${isNamedModel(provider)}
      and i.models @> jsonb_build_array(jsonb_build_object('id', ${idOfNamedModel(provider)}))))`;

/** SQL condition: the organization has connected a source host that agents can use. */
export const hasSourceHost = (orgId: string): string =>
  `exists (select from integrations i where i.org_id = ${orgId} and i.vendor_kind = 'scm'
    and (i.has_credentials or i.vendor = 'builtin'))`;

const modelConnectorsSql = `select ${columnsOf(Integration)} from integrations
  where org_id = any($1) and vendor_kind = 'llm' and has_credentials order by created_at, id`;

/** The model connectors of these organizations that hold credentials, oldest first. */
export const listModelConnectors = (orgIds: readonly string[], trx?: Transaction): Promise<Integration[]> =>
  sql(modelConnectorsSql, [[...orgIds]], trx);

/** Estimated number of model connectors per organization, for the argument `rows` of `lookUp`. */
const modelListsEach = 10;
const modelListsSql = `select id, org_id, updated_at, models from integrations
  where org_id = any($1) and vendor_kind = 'llm' and has_credentials order by created_at, id`;

export type ModelList = Pick<Integration, 'id' | 'orgId' | 'updatedAt' | 'models'>;

/** The connectors of `listModelConnectors`, but without their credentials. Every heartbeat of a runtime reads these connectors. */
export const listModelLists = async (orgIds: readonly string[], trx?: Transaction): Promise<ModelList[]> =>
  orgIds.length === 0 ? [] : lookUp(modelListsSql, [[...orgIds]], trx, orgIds.length * modelListsEach);

const namingSql = `select m ->> 'id' as id, m ->> 'name' as name, vendor
  from integrations, jsonb_array_elements(models) with ordinality named (m, n)
  where org_id = $1 and vendor_kind = 'llm' and ($2::text is null or m ->> 'id' = $2) order by created_at, integrations.id, n`;

/** A model that a connector lists, and the connector's vendor, whose API serves the model. */
export interface OfferedModel {
  id: string;
  name: string;
  vendor: ModelVendor;
}

/** Returns the models that the organization's connectors offer. @param id The id of the only model to return; null returns all models */
export const listNamedModels = (orgId: string, id: string | null = null, trx?: Transaction): Promise<OfferedModel[]> =>
  sql(namingSql, [orgId, id], trx);

/** SQL query: the provider (`NamedModel`) of each model that is listed by a connector of the organization. */
export const namedProviders = (orgId: string): string =>
  `select 'model:' || (m ->> 'id') from integrations n, jsonb_array_elements(n.models) m where n.org_id = ${orgId}`;

const takenSql = `select m ->> 'id' as id, display_name from integrations i, jsonb_array_elements(i.models) m
  where i.org_id = $1 and i.id <> $2 and m ->> 'id' = any($3::text[]) limit 1`;

/** One of these model ids that another connector of the organization lists; undefined when there is none. */
export const findTakenModel = async (
  trx: Transaction,
  { orgId, id, models }: Pick<Integration, 'orgId' | 'id' | 'models'>,
): Promise<{ id: string; displayName: string } | undefined> =>
  (await sql<{ id: string; displayName: string }>(takenSql, [orgId, id, models.map((one) => one.id)], trx))[0];

const connectorCountsSql = `select count(*) filter (where broken_since is null) as accepted, count(broken_since) as rejected
  from integrations where vendor_kind = 'llm' and has_credentials`;

/** Number of model connectors with accepted and with rejected credentials, over all organizations. */
export const countModelConnectors = async (): Promise<{ accepted: number; rejected: number }> =>
  (await sql<{ accepted: number; rejected: number }>(connectorCountsSql))[0]!;

/**
 * Lists each vendor for which the organization has a model connector with credentials. If `orgId` is null, the connectors of all organizations
 * count.
 */
export const listModelVendors = (orgId: string | null): Promise<Pick<Integration, 'vendor'>[]> =>
  sql(
    `select distinct vendor from integrations
      where vendor_kind = 'llm' and has_credentials and ($1::text is null or org_id = $1) order by vendor`,
    [orgId],
  );

/** The decrypted credentials; null if they were encrypted with another key. */
function unsealed(id: string, sealed: string): string | null {
  try {
    return unseal(credentialsPurpose(id), sealed).trim();
  } catch {
    return null;
  }
}

function refuse(why: string): never {
  throw conflict(why);
}
