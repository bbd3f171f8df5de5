// A recurring mission (docs/contract.md#scheduled-tasks-and-automations). The two kinds have one table and the same behavior; they
// differ in name, id prefix and scopes.
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { BaseModel } from '#foundation/postgres/base-model.ts';
import { type Source, selectionOf } from '#foundation/postgres/reads.ts';
import { Project } from '../../projects/projects/model.ts';
import { Run } from '../runs/model.ts';
import type { Schedule } from './schedule.ts';

export const triggerKinds = ['schedule'] as const;
export interface Trigger {
  kind: (typeof triggerKinds)[number];
  schedule: Schedule;
}

export class RecurringMission extends BaseModel {
  static override tableName = 'recurring_missions';
  static override noun = 'recurring mission';
  static visibleTo = withinReach;
  static override columns = [
    'id',
    'kind',
    'orgId',
    'projectId',
    'name',
    'prompt',
    'templateKey',
    'triggers',
    'labels',
    'skipIfPreviousOpen',
    'enabled',
    'agentId',
    'nextRunAt',
    'lastRunAt',
    'createdByUserId',
    'updatedByUserId',
    'createdAt',
    'updatedAt',
  ];
  static override jsonAttributes = ['triggers'];
  /** The kind that reads are limited to; absent: both. */
  static kind?: RecurringMission['kind'];

  static override source(): Source {
    const conditions = this.kind ? [`"kind" = '${this.kind}'`] : [];
    return { select: selectionOf(this), conditions, values: [] };
  }

  declare id: Id<'scheduledTask' | 'automation'>;
  declare kind: 'scheduled_task' | 'automation';
  declare orgId: Id<'organization'>;
  declare projectId: Id<'project'>;
  declare name: string;
  /** The task in words, for the agent. */
  declare prompt: string;
  /** The template that the mission was created from. */
  declare templateKey: string | null;
  declare triggers: Trigger[];
  /** Labels of each issue. */
  declare labels: string[];
  /** Whether an occurrence is skipped while an earlier run is open. */
  declare skipIfPreviousOpen: boolean;
  declare enabled: boolean;
  /** The only agent that may work on the runs, also a built-in one; null: any. */
  declare agentId: string | null;
  /** Null while the mission is disabled. Moves only when it is due, or when the triggers or `enabled` change. */
  declare nextRunAt: number | null;
  /** When a mission last started; a skipped run does not count. */
  declare lastRunAt: number | null;
  declare createdByUserId: Id<'person'>;
  /**
   * The person who last changed the task, project, agent or schedule; null while that is the creator. Scheduled runs are billed to them.
   */
  declare updatedByUserId: Id<'person'> | null;
  declare createdAt: number;
  declare updatedAt: number;
}

export class ScheduledTask extends RecurringMission {
  static override kind = 'scheduled_task' as const;
  static override noun = 'scheduled task';
  static override listName = 'scheduled_tasks';
  static idNoun = 'scheduledTask' as const;
  static {
    this.belongsTo('project', Project, 'projectId', 'scheduledTasks');
    Run.belongsTo('scheduledTask', this, 'recurringId', 'runs');
  }
}

export class Automation extends RecurringMission {
  static override kind = 'automation' as const;
  static override noun = 'automation';
  static override listName = 'automations';
  static idNoun = 'automation' as const;
  static {
    this.belongsTo('project', Project, 'projectId', 'automations');
    Run.belongsTo('automation', this, 'recurringId', 'runs');
  }
}

export type Kind = typeof ScheduledTask | typeof Automation;
