// A recurring mission (specification, Scheduled task and automation). The two kinds have the same columns and behavior; they
// differ in name, table and scopes.
import { withinReach } from '#access/reach.ts';
import { BaseModel } from '#foundation/base-model.ts';
import type { Id } from '#foundation/ids.ts';
import { Project } from '../projects/model.ts';
import { type ParentColumn, Run } from '../runs/model.ts';
import type { Schedule } from './schedule.ts';

export const triggerKinds = ['schedule'] as const;
export interface Trigger {
  kind: (typeof triggerKinds)[number];
  schedule: Schedule;
}

export class Recurring extends BaseModel {
  static visibleTo = withinReach;
  static override columns = [
    'id',
    'orgId',
    'projectId',
    'name',
    'prompt',
    'templateKey',
    'triggers',
    'labels',
    'skipIfPreviousOpen',
    'enabled',
    'nextRunAt',
    'lastRunAt',
    'createdByUserId',
    'updatedByUserId',
    'createdAt',
    'updatedAt',
  ];
  static override jsonAttributes = ['triggers'];

  declare id: Id<'scheduledTask' | 'automation'>;
  declare orgId: Id<'organization'>;
  declare projectId: Id<'project'>;
  declare name: string;
  /** The task in words, for the agent. */
  declare prompt: string;
  /** The template it was created from. */
  declare templateKey: string | null;
  declare triggers: Trigger[];
  /** Put on each issue. */
  declare labels: string[];
  /** Whether an occurrence is skipped while an earlier run is open. */
  declare skipIfPreviousOpen: boolean;
  declare enabled: boolean;
  /** Null while it is disabled. Moves only when it is due, or when the triggers or `enabled` change. */
  declare nextRunAt: number | null;
  /** When a mission last began; what was skipped does not count. */
  declare lastRunAt: number | null;
  declare createdByUserId: Id<'person'>;
  /** Who last set what runs, where or when; null while that is the creator. Scheduled runs are billed to them. */
  declare updatedByUserId: Id<'person'> | null;
  declare createdAt: number;
  declare updatedAt: number;
}

export class ScheduledTask extends Recurring {
  static override tableName = 'scheduled_tasks';
  static override noun = 'scheduled task';
  static {
    this.belongsTo('project', Project, 'projectId', 'scheduledTasks');
    Run.belongsTo('scheduledTask', this, 'scheduledTaskId', 'runs');
  }
}

export class Automation extends Recurring {
  static override tableName = 'automations';
  static override noun = 'automation';
  static {
    this.belongsTo('project', Project, 'projectId', 'automations');
    Run.belongsTo('automation', this, 'automationId', 'runs');
  }
}

export interface Kind {
  idNoun: 'scheduledTask' | 'automation';
  record: typeof ScheduledTask | typeof Automation;
  /** The column of a run that names a mission of this kind. */
  parent: ParentColumn;
}

export const scheduledTasks: Kind = { idNoun: 'scheduledTask', record: ScheduledTask, parent: 'scheduledTaskId' };
export const automations: Kind = { idNoun: 'automation', record: Automation, parent: 'automationId' };
export const kinds: readonly Kind[] = [scheduledTasks, automations];
