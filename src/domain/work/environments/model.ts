// A preview environment: a deployment that shows a change before it is merged (docs/contract.md#environments).
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { Project } from '../../projects/projects/model.ts';

export const environmentStatuses = ['provisioning', 'active', 'destroying', 'destroyed', 'failed'] as const;
export type EnvironmentStatus = (typeof environmentStatuses)[number];

/** The statuses that may follow each status (docs/contract.md#environments). */
export const environmentMoves: Readonly<Record<EnvironmentStatus, readonly EnvironmentStatus[]>> = {
  provisioning: ['active', 'destroying', 'failed'],
  active: ['destroying', 'failed'],
  destroying: ['destroyed', 'failed'],
  destroyed: [],
  // A failed environment may still exist on its platform, so its destruction can still be requested.
  failed: ['destroying'],
};

/** The statuses that may precede this status. An update to this status requires one of them. */
export const statusesBefore = (next: EnvironmentStatus): EnvironmentStatus[] =>
  environmentStatuses.filter((status) => environmentMoves[status].includes(next));

export class Environment extends table('environments', {
  id: column<Id<'environment'>>(),
  orgId: column<Id<'organization'>>(),
  projectId: column<Id<'project'>>(),
  /** The issue whose change is shown, by the tracker's id. */
  issueId: column<string | null>(),
  /** The pull request of the change. */
  prNumber: column<number | null>(),
  /** The name of the environment at the platform that runs it. */
  workerName: column<string | null>(),
  status: column<EnvironmentStatus>(),
  createdAt: column<number>(),
  expiresAt: column<number | null>(),
  destroyedAt: column<number | null>(),
}) {
  static override noun = 'environment';

  static visibleTo = withinReach;
  static {
    this.belongsTo('project', Project, 'projectId', 'environments');
  }
}
