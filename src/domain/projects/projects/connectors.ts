// The connectors of projects: which integration a project uses for its tracker, source host and language model.

import type { Id } from '#foundation/ids.ts';
import type { Row } from '#foundation/postgres/base-model.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { conflict } from '#foundation/problem.ts';
import { Integration, type Vendor, type VendorKind, vendorKinds } from '../integrations/model.ts';
import { insertIntegration, listConnectors, type NewIntegration } from '../integrations/operations.ts';
import { connectorMembers, Project } from './model.ts';

/** Connects a vendor to the organization, and to its projects that lack this kind of connector. @throws 400 */
export async function connectIntegration(input: NewIntegration, trx?: Transaction): Promise<Row<Integration>> {
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

/**
 * Deletes a connector. Projects that use it get another one of the organization in its place, if there is one: that of the same server
 * before the oldest.
 * @throws 404, or 409 for a tracker or source host that projects use, unless they are detached
 */
export const disconnectIntegration = (id: string, detachesProjects = false): Promise<Row<Integration>> =>
  transaction(async (trx) => {
    // Locked against projects that begin to use it.
    const connector = (await Integration.query(trx).findById(id).forUpdate()) ?? Integration.refuse();
    const { vendor, vendorKind, baseUrl, orgId } = connector;
    const member = connectorMembers[vendorKind];
    const using = { orgId, [member]: id };
    if (vendorKind !== 'llm' && !detachesProjects) {
      const projects = await Project.query(trx).where(using).resultSize();
      if (projects > 0) throw conflict(`The connector is in use: ${projects} projects have it as their ${vendorKind}.`);
    }
    // Issues stay with their tracker.
    const like = vendorKind === 'tracker' ? { orgId, vendorKind, vendor } : { orgId, vendorKind };
    const others = (await Integration.findAll(like, trx)).filter((one) => one.id !== id);
    const next = others.find((one) => one.vendor === vendor && one.baseUrl === baseUrl) ?? others[0];
    await Project.query(trx)
      .where(using)
      .patch({ [member]: next?.id ?? null });
    await Integration.query(trx).deleteById(id);
    return connector;
  });

export type Connectors = Record<VendorKind, Id<'integration'> | null>;

/** The connectors of a new project: the oldest of each kind; for the tracker, of that vendor. */
export async function defaultConnectors(orgId: string, tracker: Vendor): Promise<Connectors> {
  const all = await listConnectors(orgId);
  const first = (kind: VendorKind) =>
    all.find((one) => one.vendorKind === kind && (kind !== 'tracker' || one.vendor === tracker))?.id ?? null;
  return Object.fromEntries(vendorKinds.map((kind) => [kind, first(kind)])) as Connectors;
}

/** The project's connector of a kind. @throws 409 when it has none */
export async function connectorOf(project: Row<Project>, kind: VendorKind): Promise<Row<Integration>> {
  const id = project[connectorMembers[kind]];
  const connector = id && (await Integration.find({ id, orgId: project.orgId }));
  if (!connector) throw conflict(`The project has no ${kind} connector: connect one to the organization.`);
  return connector;
}

const countDependentProjectsSql = `select connector.id, count(*) as projects from projects p
  cross join lateral (select distinct v.id
    from (values (p.tracker_connector_id), (p.scm_connector_id), (p.llm_connector_id)) v (id)) connector
  where p.org_id = $2 and connector.id = any($1) group by connector.id`;

/** How many projects of the organization use each integration. */
export const countDependentProjects = (
  integrationIds: readonly string[],
  orgId: string,
): Promise<{ id: string; projects: number }[]> => sql(countDependentProjectsSql, [integrationIds, orgId]);
