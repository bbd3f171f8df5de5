// A person who follows a run of others, and hears of it as its person does.
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';

export class RunFollower extends table('run_followers', {
  runId: column<Id<'run'>>(),
  userId: column<Id<'person'>>(),
  orgId: column<Id<'organization'>>(),
  /** Earlier news of the run are not for the follower. */
  createdAt: column<number>(),
}) {
  static override noun = 'follower';
  static override idColumn = ['runId', 'userId'];
  static override order = '"run_id"';
}
