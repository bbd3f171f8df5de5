// A scheduled task: a mission that a person starts again and again (specification, Scheduled task and automation).
import { Project } from '../projects/model.ts';
import { type Kind, Recurring, Run } from '../recurring/model.ts';

export class ScheduledTask extends Recurring {
  static override tableName = 'scheduled_tasks';
  static override noun = 'scheduled task';
  static {
    this.belongsTo('project', Project, 'projectId', 'scheduledTasks');
    Run.belongsTo('scheduledTask', this, 'scheduledTaskId', 'runs');
  }
}

export const scheduledTasks: Kind = {
  noun: 'scheduled task',
  idNoun: 'scheduledTask',
  record: ScheduledTask,
  parent: 'scheduledTaskId',
};
