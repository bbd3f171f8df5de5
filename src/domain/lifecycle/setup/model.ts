// Setup of an organization: milestones reached or marked, and the progress of its people in the guides.

import type { Id } from '#foundation/ids.ts';
import { BaseModel } from '#foundation/postgres/base-model.ts';
import type { GuideId, MilestoneId } from './milestones.ts';

export const marks = ['done', 'skipped', 'reset'] as const;
export type SetupMark = (typeof marks)[number];
export const milestoneStates = ['open', 'done', 'skipped'] as const;
export type MilestoneState = (typeof milestoneStates)[number];

export class SetupMilestone extends BaseModel {
  static override tableName = 'setup_milestones';
  static override noun = 'setup milestone';
  static override idColumn = ['orgId', 'milestoneId'];
  static override order = '"milestone_id"';
  static override columns = ['orgId', 'milestoneId', 'reachedAt', 'mark', 'markedAt'];

  declare orgId: Id<'organization'>;
  declare milestoneId: MilestoneId;
  /** Written by database triggers in the transaction that reaches the milestone; null: only marked. */
  declare reachedAt: number | null;
  declare mark: Exclude<SetupMark, 'reset'> | null;
  declare markedAt: number | null;
}

export class SetupGuide extends BaseModel {
  static override tableName = 'setup_guides';
  static override noun = 'setup guide';
  static override idColumn = ['orgId', 'userId', 'guideId'];
  static override order = '"guide_id"';
  static override columns = ['orgId', 'userId', 'guideId', 'step', 'completedAt'];

  declare orgId: Id<'organization'>;
  declare userId: Id<'person'>;
  declare guideId: GuideId;
  declare step: number;
  declare completedAt: number | null;
}
