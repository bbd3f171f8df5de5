// Integrations of an organization: list them, connect one, pick the ones that a new project uses.
import type { Caller } from '#access/principal.ts';
import { beyondOneProject, ownOrganization } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { sql, type Transaction } from '#foundation/database.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { invalid } from '#foundation/problem.ts';
import { readAll, readByKeys, selection } from '#foundation/record.ts';
import { seal } from '#foundation/secrets.ts';
import { Integration, type Vendor, type VendorKind, vendorKinds, vendors } from './model.ts';

/** Oldest first, so that what a project picks by default stays the same when more are added. */
export async function listIntegrations(caller: Caller): Promise<Integration[]> {
  beyondOneProject(caller);
  return readAll<Integration>(Integration, { orgId: ownOrganization(caller) }, 'created_at, id');
}

/** The integrations of records that the caller has been shown. */
export async function integrationsBehind(ids: readonly string[], caller: Caller): Promise<Integration[]> {
  beyondOneProject(caller);
  return readByKeys<Integration>(Integration, 'id', ids);
}

/** How many projects depend on each of these integrations. */
export function dependentProjects(ids: readonly string[]): Promise<{ id: string; projects: number }[]> {
  return sql(
    `select c.id, count(*) as projects from projects p
     cross join lateral (select distinct v.id from (values (p.tracker_connector_id), (p.scm_connector_id), (p.llm_connector_id)) v (id)) c
     where c.id = any($1) and p.org_id in (select org_id from integrations where id = any($1)) group by c.id`,
    [ids],
  );
}

export interface NewIntegration {
  orgId: Id<'organization'>;
  vendor: Vendor;
  vendorKind: VendorKind;
  displayName: string;
  externalOrgId?: string | undefined;
  /** What the vendor asks for; sealed with the service key. */
  credentials?: string | undefined;
}

/** Connects a vendor. The vendor must offer that kind of connector. */
export async function createIntegration(input: NewIntegration, trx?: Transaction): Promise<Integration> {
  const { credentials, ...record } = input;
  if (!(vendors[input.vendorKind] as readonly string[]).includes(input.vendor)) {
    throw invalid(`vendor: must be one of ${vendors[input.vendorKind].join(', ')} for the kind ${input.vendorKind}.`);
  }
  const at = now();
  const id = newId('integration');
  const sealedCredentials = credentials === undefined ? null : seal(`integration:${id}`, credentials);
  const integration = { externalOrgId: null, ...record, id, createdAt: at, updatedAt: at };
  await Integration.query(trx).insert({ ...integration, sealedCredentials } as Partial<Integration>);
  return integration as Integration;
}

export type Connectors = Record<VendorKind, Id<'integration'> | null>;

/** The connectors that a project of this organization gets: the oldest of each kind; for the tracker, of that vendor. */
export async function defaultConnectors(orgId: string, tracker: Vendor): Promise<Connectors> {
  const all = await sql<Integration>(`${selection(Integration)} where org_id = $1 order by created_at, id`, [orgId]);
  const first = (kind: VendorKind) =>
    all.find((one) => one.vendorKind === kind && (kind !== 'tracker' || one.vendor === tracker))?.id ?? null;
  return Object.fromEntries(vendorKinds.map((kind) => [kind, first(kind)])) as Connectors;
}
