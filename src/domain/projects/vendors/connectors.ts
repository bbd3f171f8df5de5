// Operations on the connectors of an organization: connect, check, rotate, revoke, disconnect. Credentials are write-only, and the base URL
// is fixed, because a person who could change it would receive the credentials.
import type { Caller } from '#access/principal.ts';
import { wholeOrganization } from '#access/reach.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { firstStep, releaseTransaction } from '#foundation/postgres/idempotency.ts';
import { conflict, invalid } from '#foundation/problem.ts';
import { lockOrganization } from '../../organization/organizations/operations.ts';
import {
  type ConnectorModel,
  Integration,
  type ProjectKind,
  projectKindsOf,
  type Vendor,
  type VendorKind,
} from '../integrations/model.ts';
import {
  insertIntegration,
  type NewIntegration,
  noteCheck,
  replaceCredentials,
  revokeCredentials,
} from '../integrations/operations.ts';
import { connectorMembers, Project } from '../projects/model.ts';
import { checkBaseUrl } from './addresses.ts';
import { maxConnectors } from './bounds.ts';
import { askVendor, checkConnector, vendorChecks } from './check.ts';
import { trialConnection } from './connection.ts';
import { checkModels } from './connector-models.ts';
import type { AppCredentials, Verdict } from './vendor.ts';

export interface NewConnector {
  vendor: Vendor;
  vendorKind?: VendorKind | null | undefined;
  displayName: string;
  credentials?: string | null | undefined;
  app?: AppCredentials | null | undefined;
  baseUrl?: string | null | undefined;
  /** The models that the connector offers; allowed only for a connector of the kind `llm` (language models). */
  models?: ConnectorModel[] | null | undefined;
}

/**
 * Connects a vendor to the organization: creates a connector, and assigns it to each project of the organization that lacks a connector of
 * this kind. A tracker connector is assigned only to projects that use its tracker. The credentials are checked; when the vendor is
 * unreachable, the connector is created, and this failure is stored in it.
 * @throws 400 for credentials that the vendor rejects, a URL that is not public, or invalid models (`checkModels`); 409 if the organization
 * already has the maximum number of connectors of this kind
 */
export async function connect(caller: Caller, input: NewConnector): Promise<Integration> {
  const orgId = wholeOrganization(caller);
  const { vendor, displayName } = input;
  const vendorKind = kindOf(vendor, input.vendorKind);
  const credentials = requireCredentials(vendor, input);
  const id = (await firstStep(async () => newId('integration'))) as Id<'integration'>;
  const connected = await Integration.find({ id, orgId });
  if (connected) return connected;
  const baseUrl = input.baseUrl ? await checkBaseUrl(vendor, input.baseUrl) : null;
  const verdict = credentials === null ? null : await tryCredentials({ vendor, vendorKind, baseUrl }, credentials);
  const connector = await transaction(async (trx) => {
    await lockOrganization(trx, orgId);
    if ((await Integration.query(trx).where({ orgId, vendorKind }).resultSize()) >= maxConnectors) {
      throw conflict(
        `The organization has ${maxConnectors} connectors of the kind ${vendorKind}, which is the maximum.`,
      );
    }
    const models = input.models ?? [];
    await checkModels(trx, { id, orgId, vendor, vendorKind, models });
    const more = { models, baseUrl: baseUrl ?? undefined, credentials: credentials ?? undefined };
    return connectIntegration({ id, orgId, vendor, vendorKind, displayName, ...more }, trx);
  });
  return verdict ? noteCheck(connector, verdict) : connector;
}

export type NewProjectConnector = NewIntegration & { vendorKind: ProjectKind };

/** Adds a connector to the organization, and to its projects that lack this kind of connector. @throws 400 */
export async function connectIntegration(input: NewProjectConnector, trx?: Transaction): Promise<Integration> {
  const connect = async (trx: Transaction) => {
    const integration = await insertIntegration(trx, input);
    const { orgId, vendorKind, vendor } = input;
    const member = connectorMembers[vendorKind];
    const lacking = Project.query(trx).where({ orgId, [member]: null });
    await (vendorKind === 'tracker' ? lacking.where({ tracker: vendor }) : lacking).patch({ [member]: integration.id });
    return integration;
  };
  return trx ? connect(trx) : transaction(connect);
}

/** The kind of the new connector: the requested one, or the only one that the vendor offers. @throws 400 */
function kindOf(vendor: Vendor, wanted: VendorKind | null | undefined): ProjectKind {
  // The built-in source host is excluded, because its folder is on the service's own machine.
  const kinds = vendor === 'builtin' ? ['tracker' as const] : projectKindsOf(vendor);
  if (kinds.length === 0) throw invalid.field('vendor', `must not be ${vendor}: connect a chat with connectChat`);
  const kind = kinds.find((one) => one === wanted) ?? (wanted == null && kinds.length === 1 ? kinds[0] : undefined);
  if (!kind) throw invalid.field('vendorKind', `must be one of ${kinds.join(', ')} for ${vendor}`);
  return kind;
}

export type GivenCredentials = Pick<NewConnector, 'credentials' | 'app'>;

/** The credentials to store; null for the built-in tracker. @throws 400 when they are missing, or not allowed for the vendor */
function requireCredentials(vendor: Vendor, { credentials, app }: GivenCredentials): string | null {
  if (app && vendor !== app.vendor) throw invalid.field(app.field, `must be absent for ${vendor}`);
  if (credentials != null && (vendor === 'builtin' || app))
    throw invalid.field('credentials', app ? `must be absent with ${app.field}` : 'must be absent for builtin');
  if (app) return app.write();
  if (vendor !== 'builtin' && credentials == null) throw invalid.field('credentials', `are required for ${vendor}`);
  return credentials ?? null;
}

/** Checks credentials before they are stored. @throws 400 that names the rejected input */
async function tryCredentials(
  connector: Pick<Integration, 'vendor' | 'vendorKind' | 'baseUrl'>,
  credentials: string,
): Promise<Verdict> {
  const verdict = await askVendor(trialConnection(connector, credentials, vendorChecks.timeoutMs));
  const { field, failure } = verdict;
  // If the vendor's default URL is the problem, the caller cannot correct it, so the connector is created anyway.
  if (field === 'credentials' || (field && connector.baseUrl))
    throw invalid.field(field, failure ?? 'was not accepted');
  return verdict;
}

/** A connector of the caller's organization. @throws 404 */
function ownConnector(caller: Caller, id: string): Promise<Integration> {
  return Integration.get({ id, orgId: wholeOrganization(caller) });
}

/** Checks the credentials with the vendor now. @throws 404 */
export async function checkNow(caller: Caller, id: string): Promise<Integration> {
  return checkConnector(await ownConnector(caller, id));
}

/** Replaces the credentials after the vendor has accepted the new ones. @throws 404, 400 for credentials that the vendor rejects */
export async function rotate(caller: Caller, id: string, given: GivenCredentials): Promise<Integration> {
  const connector = await ownConnector(caller, id);
  if (connector.vendorKind === 'chat') throw conflict('Rotate the credentials of a chat with rotateChat.');
  const credentials = requireCredentials(connector.vendor, given);
  if (credentials === null) throw invalid.field('credentials', 'must be absent for builtin');
  await releaseTransaction();
  const verdict = await tryCredentials(connector, credentials);
  return noteCheck(await replaceCredentials(id, credentials), verdict);
}

/** Replaces the models of a connector. @throws 404, or 400 for invalid models (`checkModels`) */
export async function setModels(caller: Caller, id: string, models: ConnectorModel[]): Promise<Integration> {
  const { orgId } = await ownConnector(caller, id);
  return transaction(async (trx) => {
    await lockOrganization(trx, orgId);
    const connector = (await Integration.lock(trx, { id, orgId })) ?? Integration.refuse();
    await checkModels(trx, { ...connector, models });
    await Integration.patch(trx, { id }, { models });
    return (await Integration.find({ id }, trx))!;
  });
}

/** Deletes the credentials at once: runtimes stop using model credentials at their next heartbeat. @throws 404 */
export const revoke = async (caller: Caller, id: string): Promise<Integration> =>
  revokeCredentials((await ownConnector(caller, id)).id);

/**
 * Deletes a connector of the caller's organization. @throws 404, or 409 for a tracker or source host that projects use, unless
 * `detachesProjects` is set
 */
export async function disconnect(
  caller: Caller,
  id: string,
  detachesProjects: boolean,
): Promise<{ ok: true; id: string }> {
  await disconnectIntegration((await ownConnector(caller, id)).id, detachesProjects);
  return { ok: true, id };
}

/**
 * Deletes a connector. Projects that use it get another connector of the organization instead, if there is one: preferably one of the same
 * server, else the oldest.
 * @throws 404, or 409 for a tracker or source host that projects use, unless they are detached
 */
export const disconnectIntegration = (id: string, detachesProjects = false): Promise<Integration> =>
  transaction(async (trx) => {
    // The lock prevents projects from starting to use the connector in the meantime.
    const connector = (await Integration.lock(trx, { id })) ?? Integration.refuse();
    const { vendor, vendorKind, baseUrl, orgId } = connector;
    if (vendorKind === 'chat') {
      await Integration.query(trx).deleteById(id);
      return connector;
    }
    const member = connectorMembers[vendorKind];
    const using = { orgId, [member]: id };
    if (vendorKind !== 'llm' && !detachesProjects) {
      const projects = await Project.query(trx).where(using).resultSize();
      if (projects > 0) {
        const users = projects === 1 ? '1 project' : `${projects} projects`;
        throw conflict(`The connector is in use: it is the ${vendorKind} connector of ${users}.`);
      }
    }
    // A tracker can only be replaced by a tracker of the same vendor, because existing issues stay at their tracker.
    const like = vendorKind === 'tracker' ? { orgId, vendorKind, vendor } : { orgId, vendorKind };
    const others = (await Integration.findAll(like, trx)).filter((one) => one.id !== id);
    const next = others.find((one) => one.vendor === vendor && one.baseUrl === baseUrl) ?? others[0];
    await Project.query(trx)
      .where(using)
      .patch({ [member]: next?.id ?? null });
    await Integration.query(trx).deleteById(id);
    return connector;
  });
