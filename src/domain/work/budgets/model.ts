// A budget: the most that the missions of an organization, a project or a person may cost in a UTC day or month.
import { orgWide } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { Project } from '../../projects/projects/model.ts';

export const budgetSubjects = ['organization', 'project', 'person'] as const;
export type BudgetSubject = (typeof budgetSubjects)[number];
export const budgetPeriods = ['day', 'month'] as const;
export type BudgetPeriod = (typeof budgetPeriods)[number];

export class Budget extends table('budgets', {
  id: column<Id<'budget'>>(),
  orgId: column<Id<'organization'>>(),
  /** The subject, a computed column. */
  subject: column<BudgetSubject>(),
  projectId: column<Id<'project'> | null>(),
  /** The person whose missions the budget covers: missions that the person started or last scheduled. */
  userId: column<Id<'person'> | null>(),
  period: column<BudgetPeriod>(),
  amountUsd: column<number>(),
  createdAt: column<number>(),
  updatedAt: column<number>(),
}) {
  static override noun = 'budget';
  static visibleTo = orgWide;

  static {
    this.belongsTo('project', Project, 'projectId');
  }
}
