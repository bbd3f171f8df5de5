// An issue of the built-in tracker: the work of a mission, for projects without a tracker of their own.
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { BaseModel } from '#foundation/postgres/base-model.ts';
import { Project } from '../projects/model.ts';

export const issueStates = ['open', 'closed'] as const;
export type IssueState = (typeof issueStates)[number];

export class Issue extends BaseModel {
  static override tableName = 'issues';
  static override noun = 'issue';
  static override columns = [
    'id',
    'orgId',
    'projectId',
    'number',
    'key',
    'title',
    'body',
    'labels',
    'state',
    'runId',
    'createdAt',
    'updatedAt',
  ];

  static visibleTo = withinReach;
  static {
    this.belongsTo('project', Project, 'projectId', 'issues');
  }

  declare id: Id<'issue'>;
  declare orgId: Id<'organization'>;
  declare projectId: Id<'project'>;
  /** Consecutive within the project. */
  declare number: number;
  /** For example WEB-12; unchanged when the project's code changes. */
  declare key: string;
  declare title: string;
  declare body: string;
  declare labels: string[];
  declare state: IssueState;
  /** The run whose work the issue describes. */
  declare runId: Id<'run'> | null;
  declare createdAt: number;
  declare updatedAt: number;
}
