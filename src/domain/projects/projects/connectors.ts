// The integrations that a project uses as its tracker, source host and language model.
import type { Id } from '#foundation/ids.ts';
import { sql } from '#foundation/postgres/database.ts';
import { conflict } from '#foundation/problem.ts';
import { Integration, type ProjectKind, projectKinds, type Vendor } from '../integrations/model.ts';
import { listConnectors } from '../integrations/operations.ts';
import { connectorMembers, type Project } from './model.ts';

export type Connectors = Record<ProjectKind, Id<'integration'> | null>;

/**
 * The default connectors of a new project, one per kind: the oldest usable one or, if none is usable, the oldest, which then needs
 * credentials. The tracker must be of the requested vendor.
 */
export async function defaultConnectors(orgId: string, tracker: Vendor): Promise<Connectors> {
  const all = await listConnectors(orgId);
  const first = (kind: ProjectKind) => {
    const fitting = all.filter((one) => one.vendorKind === kind && (kind !== 'tracker' || one.vendor === tracker));
    const usable = fitting.find(({ vendor, hasCredentials }) => hasCredentials || vendor === 'builtin');
    return (usable ?? fitting[0])?.id ?? null;
  };
  return Object.fromEntries(projectKinds.map((kind) => [kind, first(kind)])) as Connectors;
}

/** The connector of this kind that the project uses. @throws 409 when the project has none */
export async function connectorOf(project: Project, kind: ProjectKind): Promise<Integration> {
  const id = project[connectorMembers[kind]];
  const connector = id && (await Integration.find({ id, orgId: project.orgId }));
  if (!connector) throw conflict(`The project has no ${kind} connector: connect one to the organization.`);
  return connector;
}

const countDependentProjectsSql = `select connector.id, count(*) as projects from projects p
  cross join lateral (select distinct v.id
    from (values (p.tracker_connector_id), (p.scm_connector_id), (p.llm_connector_id)) v (id)) connector
  where p.org_id = $2 and connector.id = any($1) group by connector.id`;

/** Number of projects in the organization that use each integration. */
export const countDependentProjects = (
  integrationIds: readonly string[],
  orgId: string,
): Promise<{ id: string; projects: number }[]> => sql(countDependentProjectsSql, [integrationIds, orgId]);
