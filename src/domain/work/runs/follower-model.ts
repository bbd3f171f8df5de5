// A person who follows somebody else's run, and gets the same news as its person.
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';

export class RunFollower extends table('run_followers', {
  runId: column<Id<'run'>>(),
  userId: column<Id<'person'>>(),
  orgId: column<Id<'organization'>>(),
  /** The follower gets no earlier news of the run. */
  createdAt: column<number>(),
}) {
  static override noun = 'follower';
  static override idColumn = ['runId', 'userId'];
  static override order = '"run_id"';
}
