// A person who follows the run of another person, and gets the same notices.
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';

export class RunFollower extends table('run_followers', {
  runId: column<Id<'run'>>(),
  userId: column<Id<'person'>>(),
  orgId: column<Id<'organization'>>(),
  /** When the person began to follow; earlier events of the run cause no notices. */
  createdAt: column<number>(),
}) {
  static override noun = 'follower';
  static override idColumn = ['runId', 'userId'];
  static override order = '"run_id"';
}
