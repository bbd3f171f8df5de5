// GraphQL types for people who follow runs.
import { builder } from '#graph/builder.ts';
import { toOne } from '#graph/context.ts';
import { pathId } from '#graph/input.ts';
import { followedOf, startFollowing, stopFollowing } from './followers.ts';
import { RunType } from './schema.ts';

const followed = toOne(followedOf, ({ runId }) => runId);

builder.objectField(RunType, 'isFollowed', (t) =>
  t.boolean({
    graphOnly: true,
    description: 'Whether the caller follows the run.',
    resolve: async ({ id }, _args, context) => (await followed(context).load(id)) !== null,
  }),
);

const ofRun = { ...pathId, description: 'The id of the run.' };

builder.mutationFields((t) => ({
  followRun: t.field({
    description:
      'Makes the caller follow somebody else’s run: the caller gets its later news, and its items in the inbox. The other attempts at the same task, and runs that continue the run, are followed too. The person responsible for a run gets its news and items without following it.',
    scope: 'missions:read',
    tool: { name: 'follow_run', idempotent: true },
    type: RunType,
    args: { runId: t.arg.string(ofRun) },
    resolve: (_, { runId }, { caller }) => startFollowing(caller, runId),
  }),
  unfollowRun: t.field({
    description: 'Makes the caller unfollow a run and the other attempts at its task.',
    scope: 'missions:read',
    tool: { name: 'unfollow_run', idempotent: true },
    type: RunType,
    args: { runId: t.arg.string(ofRun) },
    resolve: (_, { runId }, { caller }) => stopFollowing(caller, runId),
  }),
}));
