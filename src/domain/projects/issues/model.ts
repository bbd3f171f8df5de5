// An issue of the built-in tracker: the work of a mission, or work that a person has described, for projects without another tracker.
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { Project } from '../projects/model.ts';

export const issueStates = ['open', 'closed'] as const;
export type IssueState = (typeof issueStates)[number];

export class Issue extends table('issues', {
  id: column<Id<'issue'>>(),
  orgId: column<Id<'organization'>>(),
  projectId: column<Id<'project'>>(),
  /** Number of the issue, consecutive within the project. */
  number: column<number>(),
  /** Key of the issue, such as WEB-12; unchanged when the project's code changes. */
  key: column<string>(),
  title: column<string>(),
  body: column<string>(),
  labels: column<string[]>(),
  state: column<IssueState>(),
  /** The assigned agent, possibly a built-in one; null when no agent is assigned. */
  agentId: column<string | null>(),
  /** The assigned person; null when no person is assigned. */
  assigneeUserId: column<Id<'person'> | null>(),
  /** The person who wrote the issue; null for the issue of a mission, and once the account is deleted. */
  createdByUserId: column<Id<'person'> | null>(),
  /** The run that the issue was created for; null for an issue that a person wrote. */
  runId: column<Id<'run'> | null>(),
  createdAt: column<number>(),
  updatedAt: column<number>(),
}) {
  static override noun = 'issue';

  static visibleTo = withinReach;
  static {
    this.belongsTo('project', Project, 'projectId', 'issues');
  }
}
