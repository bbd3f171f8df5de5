// Integrations of an organization: list them, connect one, pick the ones that a project uses, and unseal what a vendor asks for.
import type { Caller } from '#access/principal.ts';
import { beyondOneProject, ownOrganization } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { sql, type Transaction, transaction } from '#foundation/database.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { conflict, invalid } from '#foundation/problem.ts';
import { find, readAll, readByKeys, readOne, selection } from '#foundation/record.ts';
import { seal, unseal } from '#foundation/secrets.ts';
import { connectorMembers, Project } from '../projects/model.ts';
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

/** Connects a vendor, also for the projects that lack it. The vendor must offer that kind of connector. */
export async function createIntegration(input: NewIntegration, trx?: Transaction): Promise<Integration> {
  const { credentials, ...record } = input;
  if (!(vendors[input.vendorKind] as readonly string[]).includes(input.vendor)) {
    throw invalid(`vendor: must be one of ${vendors[input.vendorKind].join(', ')} for the kind ${input.vendorKind}.`);
  }
  const at = now();
  const id = newId('integration');
  const sealedCredentials = credentials === undefined ? null : seal(place(id), credentials);
  const integration = { externalOrgId: null, ...record, id, createdAt: at, updatedAt: at };
  const write = async (trx: Transaction) => {
    await Integration.query(trx).insert({ ...integration, sealedCredentials } as Partial<Integration>);
    const { orgId, vendorKind, vendor } = input;
    const member = connectorMembers[vendorKind];
    const lacking = Project.query(trx).where({ orgId, [member]: null });
    await (vendorKind === 'tracker' ? lacking.where({ tracker: vendor }) : lacking).patch({ [member]: id });
  };
  await (trx ? write(trx) : transaction(write));
  return integration as Integration;
}

/** What the credentials of an integration are sealed for. */
const place = (id: string) => `integration:${id}`;

/** Gives a connector other credentials; its projects stay with it. @throws 404 */
export async function replaceCredentials(id: string, credentials: string): Promise<Integration> {
  const sealedCredentials = seal(`integration:${id}`, credentials);
  await Integration.query()
    .where({ id })
    .patch({ sealedCredentials, updatedAt: now() } as Partial<Integration>);
  return find<Integration>(Integration, 'integration', { id });
}

export type Connectors = Record<VendorKind, Id<'integration'> | null>;

/** The connectors that a project of this organization gets: the oldest of each kind; for the tracker, of that vendor. */
export async function defaultConnectors(orgId: string, tracker: Vendor): Promise<Connectors> {
  const all = await sql<Integration>(`${selection(Integration)} where org_id = $1 order by created_at, id`, [orgId]);
  const first = (kind: VendorKind) =>
    all.find((one) => one.vendorKind === kind && (kind !== 'tracker' || one.vendor === tracker))?.id ?? null;
  return Object.fromEntries(vendorKinds.map((kind) => [kind, first(kind)])) as Connectors;
}

/** The project's connector of a kind. @throws 409 when it has none */
export async function connectorOf(project: Project, kind: VendorKind): Promise<Integration> {
  const id = project[connectorMembers[kind]];
  const connector = id && (await readOne<Integration>(Integration, { id, orgId: project.orgId }));
  return connector || refuse(`The project has no ${kind} connector: connect one to the organization.`);
}

/** What the vendor asks for, in clear: for a call to this vendor, and for no log, error or record. @throws 409 */
export async function credentialsOf({ id, displayName }: Integration): Promise<string> {
  const [row] = await sql<{ sealed: string | null }>(
    'select sealed_credentials as sealed from integrations where id = $1',
    [id],
  );
  if (!row?.sealed) refuse(`The connector ${displayName} has no credentials: connect the vendor again, with some.`);
  const credentials = unsealed(id, row.sealed);
  // Anything else can't stand in a header.
  if (credentials && /^[\x21-\x7e]+$/.test(credentials)) return credentials;
  return refuse(`The credentials of the connector ${displayName} can not be read: connect the vendor again.`);
}

/** Null when they were sealed with another key. */
function unsealed(id: string, sealed: string): string | null {
  try {
    return unseal(place(id), sealed).trim();
  } catch {
    return null;
  }
}

function refuse(why: string): never {
  throw conflict(why);
}
