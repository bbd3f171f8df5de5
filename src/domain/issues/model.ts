// An issue of the tracker that is built in: what a mission is to do, for projects that connect no tracker of their own.
import type { Id } from '#foundation/ids.ts';
import { Stored } from '#foundation/record.ts';

export const issueStates = ['open', 'closed'] as const;
export type IssueState = (typeof issueStates)[number];

export class Issue extends Stored {
  static override tableName = 'issues';
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

  declare id: Id<'issue'>;
  declare orgId: Id<'organization'>;
  declare projectId: Id<'project'>;
  /** Counts up in the project. */
  declare number: number;
  /** Such as WEB-12. It does not follow a change of the project's code. */
  declare key: string;
  declare title: string;
  declare body: string;
  declare labels: string[];
  declare state: IssueState;
  /** The run that it was made for. */
  declare runId: Id<'run'> | null;
  declare createdAt: number;
  declare updatedAt: number;
}
