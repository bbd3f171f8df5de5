// A group of attempts: runs that work on one task at the same time. A person chooses one attempt, and the other attempts are closed
// (docs/decisions/0058-attempts-share-a-budget.md).
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import type { Run } from '../runs/model.ts';

export const attemptGroupStates = ['open', 'chosen', 'closed'] as const;
export type AttemptGroupState = (typeof attemptGroupStates)[number];

export class AttemptGroup extends table('attempt_groups', {
  id: column<Id<'attemptGroup'>>(),
  orgId: column<Id<'organization'>>(),
  projectId: column<Id<'project'>>(),
  title: column<string>(),
  /** The task; an attempt may have a prompt of its own. */
  prompt: column<string>(),
  state: column<AttemptGroupState>(),
  chosenRunId: column<Run['id'] | null>(),
  decidedByUserId: column<Id<'person'> | null>(),
  /** The person's name at the time of the decision. */
  decidedBy: column<string | null>(),
  decidedAt: column<number | null>(),
  createdAt: column<number>(),
  updatedAt: column<number>(),
}) {
  static override noun = 'group of attempts';
  static visibleTo = withinReach;
}
