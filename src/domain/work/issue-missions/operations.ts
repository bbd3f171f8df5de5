// Lets people write, change, close, reopen and assign issues of the built-in tracker. When an issue is closed, or is no longer assigned to its agent,
// the mission of the issue is canceled.
import type { Caller } from '#access/principal.ts';
import { ownOrganization, ownPerson, reachesProject, withinReach } from '#access/reach.ts';
import { nowAfter } from '#foundation/clock.ts';
import { idOfNoun } from '#foundation/ids.ts';
import type { Patch } from '#foundation/postgres/base-model.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { conflict, invalid, notFound, refuseChanged } from '#foundation/problem.ts';
import { lockMembership, lockOwnMembership } from '../../organization/memberships/operations.ts';
import { Person } from '../../organization/people/model.ts';
import { Issue, type IssueState } from '../../projects/issues/model.ts';
import { writeIssue } from '../../projects/issues/operations.ts';
import { Project } from '../../projects/projects/model.ts';
import { noteIssueEvent } from './events.ts';
import { cancelOnIssue, openRunOf, startOnIssue } from './missions.ts';

export interface NewOwnIssue {
  projectId: string;
  title: string;
  body: string;
  labels: string[];
  /** Id of an agent, which starts a mission, or of a member; absent means that the issue is not assigned. */
  assigneeId?: string | null | undefined;
}

/**
 * Creates an issue.
 * @throws 404 for an unknown project or assignee, 409 for a project with another tracker, and the errors of starting a mission
 */
export function createIssue(caller: Caller, { projectId, assigneeId, ...texts }: NewOwnIssue): Promise<Issue> {
  const orgId = ownOrganization(caller);
  return transaction(async (trx) => {
    const { userId } = await lockOwnMembership(trx, caller);
    const project = await Project.query(trx).findOne({ id: projectId, orgId }).forKeyShare();
    if (!project || !reachesProject(caller, projectId)) return Project.refuse();
    if (project.tracker !== 'builtin') {
      throw conflict.field(
        'projectId',
        `must be a project with the built-in tracker: issues of this project are in ${project.tracker}`,
      );
    }
    const labels = [...new Set(texts.labels)];
    const issue = await writeIssue(trx, project, { ...texts, labels, createdByUserId: userId });
    await noteIssueEvent(trx, caller, issue, { name: 'issues', action: 'opened' });
    await noteLabels(trx, caller, issue, labels);
    return assigneeId == null ? issue : assign(trx, caller, issue, assigneeId);
  });
}

const noteLabels = async (trx: Transaction, caller: Caller, issue: Issue, labels: readonly string[]) => {
  for (const label of labels) await noteIssueEvent(trx, caller, issue, { name: 'issues', action: 'labeled', label });
};

/** Locks an issue that the caller can reach. @throws 404 */
export const lockIssue = async (trx: Transaction, caller: Caller, issueId: string): Promise<Issue> =>
  (await Issue.lock(trx, { id: issueId as Issue['id'], ...withinReach(caller) })) ?? Issue.refuse();

async function change(trx: Transaction, issue: Issue, changes: Patch<Issue>): Promise<Issue> {
  const updatedAt = nowAfter(issue.updatedAt);
  const [changed] = await Issue.patchReturning(trx, { id: issue.id }, { ...changes, updatedAt });
  return changed!;
}

export interface IssueChanges {
  title?: string | undefined;
  body?: string | undefined;
  labels?: string[] | undefined;
  state?: IssueState | undefined;
}

/**
 * Changes an issue. Closing an issue cancels its mission; reopening an issue starts no mission.
 * @throws 404, 409 when the issue has changed since the caller read it
 */
export const updateIssue = (
  caller: Caller,
  issueId: string,
  { labels: wanted, ...changes }: IssueChanges,
  ifUpdatedAt?: number | null,
): Promise<Issue> =>
  transaction(async (trx) => {
    const issue = await lockIssue(trx, caller, issueId);
    refuseChanged(issue, ifUpdatedAt);
    const labels = wanted ? [...new Set(wanted)] : issue.labels;
    const changed = await change(trx, issue, { ...changes, labels });
    const added = labels.filter((label) => !issue.labels.includes(label));
    await noteLabels(trx, caller, changed, added);
    if (changes.state === 'closed') await cancelOnIssue(trx, issue, `${await nameOf(caller)} closed the issue.`);
    return changed;
  });

const nameOf = async (caller: Caller): Promise<string> => (await Person.get({ id: ownPerson(caller) })).name;

/**
 * Assigns the issue to an agent or a member, or to nobody. An agent starts a mission at once; the mission of the previous agent is
 * canceled. Repeating the assignment changes nothing while the agent works on the issue.
 * @throws 400 for an agent that runs scripts, 404 for an unknown issue or assignee, 409 for a closed issue, and the errors of starting a
 * mission
 */
export const assignIssue = (caller: Caller, issueId: string, assigneeId: string | null): Promise<Issue> =>
  transaction(async (trx) => assign(trx, caller, await lockIssue(trx, caller, issueId), assigneeId));

async function assign(trx: Transaction, caller: Caller, issue: Issue, assigneeId: string | null): Promise<Issue> {
  const isSame = assigneeId === (issue.agentId ?? issue.assigneeUserId);
  if (isSame && (issue.agentId === null || (await openRunOf(trx, issue)))) return issue;
  if (assigneeId !== null && issue.state === 'closed') throw conflict('The issue is closed: reopen it first.');
  if (issue.agentId !== null) await cancelOnIssue(trx, issue, `${await nameOf(caller)} took the issue from the agent.`);
  if (assigneeId === null) return change(trx, issue, { agentId: null, assigneeUserId: null });
  if (idOfNoun('person', assigneeId)) return assignToMember(trx, caller, issue, assigneeId);
  if (!idOfNoun('agent', assigneeId)) throw invalid.field('assigneeId', 'must be the id of an agent or a member');
  await startOnIssue(trx, caller, issue, assigneeId);
  return change(trx, issue, { agentId: assigneeId, assigneeUserId: null });
}

/** Assigns the issue to a member. Rules decide whether this starts a mission. */
async function assignToMember(trx: Transaction, caller: Caller, issue: Issue, memberId: string): Promise<Issue> {
  const member = await lockMembership(trx, issue.orgId, memberId);
  if (!member) throw notFound('member');
  const { email } = await Person.get({ id: member.userId });
  const changed = await change(trx, issue, { agentId: null, assigneeUserId: member.userId });
  await noteIssueEvent(trx, caller, changed, { name: 'issues', action: 'assigned', assignee: email });
  return changed;
}
