// Operations on webhook endpoints: list, create, change, replace the secret, delete.
import type { Caller } from '#access/principal.ts';
import { wholeOrganization } from '#access/reach.ts';
import { now, nowAfter } from '#foundation/clock.ts';
import { checkAddressText } from '#foundation/http/outbound.ts';
import { newId } from '#foundation/ids.ts';
import type { Page, PageRequest } from '#foundation/postgres/cursor.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { conflict, invalid, notFound } from '#foundation/problem.ts';
import { lockOrganization } from '../../organization/organizations/operations.ts';
import { Project } from '../../projects/projects/model.ts';
import { readEventsAfter } from '../audit/feed.ts';
import { numberChanges } from '../audit/numbers.ts';
import { leaseMs, secretOverlapMs, webhookCounts } from './bounds.ts';
import { WebhookEndpoint } from './model.ts';
import { newSecretOf } from './secrets.ts';

export const listEndpoints = async (caller: Caller, page: PageRequest): Promise<Page<WebhookEndpoint>> =>
  WebhookEndpoint.page({ orgId: wholeOrganization(caller) }, page);

export const findEndpoint = async (caller: Caller, endpointId: string): Promise<WebhookEndpoint> =>
  WebhookEndpoint.get({ id: endpointId as WebhookEndpoint['id'], orgId: wholeOrganization(caller) });

export interface NewEndpoint {
  name: string;
  url: string;
  types?: string[] | undefined;
  projectIds?: string[] | undefined;
  ordered?: boolean | undefined;
}

/** An endpoint with its secret, which is shown only once. */
export interface EndpointWithSecret {
  endpoint: WebhookEndpoint;
  secret: string;
}

/**
 * Creates an endpoint.
 * @throws 400 for a URL that is not public, 404 for an unknown project, 409 beyond the maximum number of endpoints
 */
export async function createEndpoint(caller: Caller, input: NewEndpoint): Promise<EndpointWithSecret> {
  const orgId = wholeOrganization(caller);
  const { name, url, types = [], projectIds = [], ordered = false } = input;
  requireAddress(url);
  await numberChanges(orgId);
  return transaction(async (trx) => {
    await lockOrganization(trx, orgId);
    if ((await WebhookEndpoint.query(trx).where({ orgId }).resultSize()) >= webhookCounts.endpoints) {
      throw conflict(`An organization can have at most ${webhookCounts.endpoints} webhook endpoints.`);
    }
    await requireProjects(trx, orgId, projectIds);
    const { lastNumber } = await readEventsAfter(orgId, { types: [], limit: 1 }, trx);
    const [id, at] = [newId('webhookEndpoint'), now()];
    const { secret, sealed } = newSecretOf(id);
    const endpoint = {
      ...{ id, orgId, name, url, types, projectIds, ordered, lastNumber, createdByUserId: caller.userId },
      ...{ disabledAt: null, disabledReason: null, failingSince: null, createdAt: at, updatedAt: at },
    };
    await WebhookEndpoint.insert(trx, { ...endpoint, sealedSecret: sealed });
    return { endpoint, secret };
  });
}

/** Checks the URL of an endpoint. Each attempt resolves and checks the host again. @throws 400 */
function requireAddress(url: string): void {
  try {
    checkAddressText(url);
  } catch {
    throw invalid.field('url', 'must be an https URL of a public host');
  }
}

async function requireProjects(
  trx: Transaction,
  orgId: WebhookEndpoint['orgId'],
  ids: readonly string[],
): Promise<void> {
  const known = await Project.findByKeys('id', ids, { orgId }, trx);
  if (known.length < new Set(ids).size) throw notFound('project');
}

export interface EndpointChanges extends Partial<NewEndpoint> {
  enabled?: boolean | undefined;
}

/** Changes an endpoint. An endpoint that is enabled again continues where it stopped. @throws as `createEndpoint` does */
export async function changeEndpoint(
  caller: Caller,
  endpointId: string,
  { enabled, ...fields }: EndpointChanges,
): Promise<WebhookEndpoint> {
  const orgId = wholeOrganization(caller);
  await findEndpoint(caller, endpointId);
  if (fields.url !== undefined) requireAddress(fields.url);
  return transaction(async (trx) => {
    if (fields.projectIds) await requireProjects(trx, orgId, fields.projectIds);
    const before = await lockEndpoint(trx, orgId, endpointId);
    const isEnabled = before.disabledAt === null;
    const state =
      enabled === undefined || enabled === isEnabled
        ? {}
        : enabled
          ? { disabledAt: null, disabledReason: null, failingSince: null }
          : { disabledAt: now(), disabledReason: 'person' as const };
    const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
    const changes = { ...given, ...state, updatedAt: nowAfter(before.updatedAt) };
    await WebhookEndpoint.patch(trx, { id: before.id }, changes);
    const isCorrected = (fields.url ?? before.url) !== before.url || (enabled === true && !isEnabled);
    if (isCorrected) {
      await endRest(trx, before.id);
      await sql(dueNowSql, [before.id, now()], trx);
    }
    return { ...before, ...changes };
  });
}

// `claimed_until` is the end of a worker's lease, or the end of a pause after a failure; a pause can be much longer than a lease. A lease
// is not shortened, because two concurrent workers would break the order of events.
const endRestSql = 'update webhook_endpoints set claimed_until = least(claimed_until, $2) where id = $1';
const dueNowSql = 'update webhook_deliveries set due_at = $2 where endpoint_id = $1 and due_at > $2';

/**
 * Ends a long pause of the endpoint, such as a pause that `Retry-After` has requested: deliveries continue after at most the time of a
 * lease. A worker's lease is not shortened.
 */
export const endRest = (trx: Transaction, id: WebhookEndpoint['id']): Promise<unknown> =>
  sql(endRestSql, [id, now() + leaseMs], trx);

async function lockEndpoint(trx: Transaction, orgId: WebhookEndpoint['orgId'], endpointId: string) {
  const held = await WebhookEndpoint.lock(trx, { id: endpointId as WebhookEndpoint['id'], orgId });
  if (!held) return WebhookEndpoint.refuse();
  return (await WebhookEndpoint.find({ id: held.id }, trx))!;
}

const replaceSql = `update webhook_endpoints set sealed_previous_secret = sealed_secret, previous_secret_until = $3,
  sealed_secret = $2, updated_at = $4 where id = $1`;

/** Replaces the secret. For a day, messages are also signed with the earlier one. */
export async function replaceSecret(caller: Caller, endpointId: string): Promise<EndpointWithSecret> {
  const orgId = wholeOrganization(caller);
  return transaction(async (trx) => {
    const before = await lockEndpoint(trx, orgId, endpointId);
    const { secret, sealed } = newSecretOf(before.id);
    const updatedAt = nowAfter(before.updatedAt);
    await sql(replaceSql, [before.id, sealed, now() + secretOverlapMs, updatedAt], trx);
    return { endpoint: { ...before, updatedAt }, secret };
  });
}

export async function deleteEndpoint(caller: Caller, endpointId: string): Promise<{ ok: true; id: string }> {
  const orgId = wholeOrganization(caller);
  const deleted = await WebhookEndpoint.query()
    .where({ id: endpointId as WebhookEndpoint['id'], orgId })
    .delete();
  if (deleted === 0) WebhookEndpoint.refuse();
  return { ok: true, id: endpointId };
}

/** Endpoints that the service has disabled, for notices about them. */
export const listDisabledEndpoints = (orgId: WebhookEndpoint['orgId']): Promise<WebhookEndpoint[]> =>
  WebhookEndpoint.findByKeys('disabledReason', ['gone', 'failing'], { orgId });
