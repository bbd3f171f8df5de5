// An automation: a mission that the organization starts again and again (specification, Scheduled task and automation).
import { type Kind, Recurring } from '../recurring/model.ts';

export class Automation extends Recurring {
  static override tableName = 'automations';
}

export const automations: Kind = {
  noun: 'automation',
  idNoun: 'automation',
  record: Automation,
  parent: 'automationId',
};
