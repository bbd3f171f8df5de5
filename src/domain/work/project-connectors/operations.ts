// Changes the connectors of a project. A change to another server is refused while missions or pull requests are open, because they belong
// to the server on which they began.
import type { Caller } from '#access/principal.ts';
import { ownOrganization, reachesProject } from '#access/reach.ts';
import type { Patch } from '#foundation/postgres/base-model.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { conflict, forbidden, invalid } from '#foundation/problem.ts';
import { Integration, type ProjectKind } from '../../projects/integrations/model.ts';
import { connectorMembers, Project, type ProjectTracker } from '../../projects/projects/model.ts';
import { addressOf } from '../../projects/vendors/addresses.ts';
import { openWorkOf } from '../runs/operations.ts';

export interface ConnectorChoice {
  /** The tracker's connector: null selects the built-in tracker, absent means no change. */
  trackerConnectorId?: string | null | undefined;
  trackerTeamKey?: string | null | undefined;
  scmConnectorId?: string | undefined;
  llmConnectorId?: string | undefined;
}

/**
 * Changes the connectors of the project.
 * @throws 400 for an unknown connector, a connector of another kind, and a connector without credentials; 403 for a credential that is bound to
 * another project; 404; 409 when the server would change while the project has open missions or pull requests there
 */
export async function setConnectors(caller: Caller, projectId: string, choice: ConnectorChoice): Promise<Project> {
  if (!reachesProject(caller, projectId)) throw forbidden('This credential is bound to another project.');
  const orgId = ownOrganization(caller);
  return transaction(async (trx) => {
    // The lock makes new runs wait, because their rows refer to the project.
    const project = await Project.lock(trx, { id: projectId as Project['id'], orgId });
    if (!project) return Project.refuse();
    const changes: Patch<Project> = {
      ...(await changeOfTracker(trx, project, choice)),
      ...(await changeOf(trx, project, 'scm', choice.scmConnectorId)),
      ...(await changeOf(trx, project, 'llm', choice.llmConnectorId)),
    };
    if (Object.keys(changes).length === 0) return project;
    const [changed] = await Project.patchReturning(trx, { id: project.id }, changes);
    return changed!;
  });
}

async function changeOfTracker(
  trx: Transaction,
  project: Project,
  { trackerConnectorId: id, trackerTeamKey: team }: ConnectorChoice,
): Promise<Patch<Project>> {
  const trackerTeamId = team ?? null;
  if (id === undefined || (id !== null && id === project.trackerConnectorId))
    return team === undefined ? {} : { trackerTeamId };
  if (id === null) {
    if (project.tracker === 'builtin') return {};
    await refuseWhileOpen(trx, project, 'tracker');
    return { tracker: 'builtin', trackerConnectorId: null, trackerTeamId: null };
  }
  const change = await changeOf(trx, project, 'tracker', id);
  const { vendor } = (await Integration.find({ id: id as Integration['id'] }, trx))!;
  return { ...change, tracker: vendor as ProjectTracker, trackerTeamId };
}

async function changeOf(
  trx: Transaction,
  project: Project,
  kind: ProjectKind,
  id: string | undefined,
): Promise<Patch<Project>> {
  const member = connectorMembers[kind];
  if (id === undefined || id === project[member]) return {};
  const { orgId } = project;
  const chosen = await Integration.find({ id: id as Integration['id'], orgId }, trx);
  if (chosen?.vendorKind !== kind)
    throw invalid.field(member, `must be a connector of this organization with the kind ${kind}`);
  if (!chosen.hasCredentials && chosen.vendor !== 'builtin')
    throw invalid.field(member, 'must be a connector with credentials');
  if (kind !== 'llm') {
    const present = project[member] && (await Integration.find({ id: project[member], orgId }, trx));
    const isSameServer = present && present.vendor === chosen.vendor && addressOf(present) === addressOf(chosen);
    if (!isSameServer) await refuseWhileOpen(trx, project, kind);
  }
  return { [member]: chosen.id };
}

async function refuseWhileOpen(trx: Transaction, project: Project, kind: ProjectKind): Promise<void> {
  const open = await openWorkOf(trx, project);
  const what = open.missions ? 'missions' : kind === 'scm' && open.pullRequests ? 'pull requests' : null;
  if (what)
    throw conflict.field(
      connectorMembers[kind],
      `must be at the same server as the current connector while ${what} of the project are open`,
    );
}
