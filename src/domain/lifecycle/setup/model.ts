// Setup of an organization: its reached or marked milestones, and people's progress in the guides.

import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import type { GuideId, MilestoneId } from './milestones.ts';

export const marks = ['done', 'skipped', 'reset'] as const;
export type SetupMark = (typeof marks)[number];
export const milestoneStates = ['open', 'done', 'skipped'] as const;
export type MilestoneState = (typeof milestoneStates)[number];

export class SetupMilestone extends table('setup_milestones', {
  orgId: column<Id<'organization'>>(),
  milestoneId: column<MilestoneId>(),
  /**
   * When the milestone was reached; database triggers write this in the transaction that reached it. Null if the milestone was not reached:
   * the row then exists only because a person has marked the milestone.
   */
  reachedAt: column<number | null>(),
  mark: column<Exclude<SetupMark, 'reset'> | null>(),
  markedAt: column<number | null>(),
}) {
  static override noun = 'setup milestone';
  static override idColumn = ['orgId', 'milestoneId'];
  static override order = '"milestone_id"';
}

export class SetupGuide extends table('setup_guides', {
  orgId: column<Id<'organization'>>(),
  userId: column<Id<'person'>>(),
  guideId: column<GuideId>(),
  step: column<number>(),
  completedAt: column<number | null>(),
}) {
  static override noun = 'setup guide';
  static override idColumn = ['orgId', 'userId', 'guideId'];
  static override order = '"guide_id"';
}
