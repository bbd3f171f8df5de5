// An automation: a mission that the organization starts again and again (specification, Scheduled task and automation).
import { Project } from '../projects/model.ts';
import { type Kind, Recurring, Run } from '../recurring/model.ts';

export class Automation extends Recurring {
  static override tableName = 'automations';
  static override noun = 'automation';
  static {
    this.belongsTo('project', Project, 'projectId', 'automations');
    Run.belongsTo('automation', this, 'automationId', 'runs');
  }
}

export const automations: Kind = {
  noun: 'automation',
  idNoun: 'automation',
  record: Automation,
  parent: 'automationId',
};
