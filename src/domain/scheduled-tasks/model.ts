// A scheduled task: a mission that a person starts again and again (specification, Scheduled task and automation).
import { type Kind, Recurring } from '../recurring/model.ts';

export class ScheduledTask extends Recurring {
  static override tableName = 'scheduled_tasks';
}

export const scheduledTasks: Kind = {
  noun: 'scheduled task',
  idNoun: 'scheduledTask',
  record: ScheduledTask,
  parent: 'scheduledTaskId',
};
