// GraphQL fields for people in the console: the notices about their missions, the channels of these notices, and the handover of a run.
import { z } from 'zod';
import { ownPerson } from '#access/reach.ts';
import { builder } from '#graph/builder.ts';
import { pathId, request } from '#graph/input.ts';
import { boolean, epochMs, members, string, typed } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { RunType } from '../../work/runs/schema.ts';
import { type ChannelChoice, chooseChannels, listChannels } from './choices.ts';
import { followNotices } from './follow.ts';
import { handOverRun } from './hand-over.ts';
import { type MissionNotice, missionNoticeKinds } from './model.ts';

const MissionNoticeKind = wordSet('MissionNoticeKind', missionNoticeKinds, 'News of a mission.', {
  completed: 'The mission is completed, and no pull request waits for a review.',
  review: 'The mission is completed, and its pull request waits for a review.',
  failed: 'The mission has failed.',
  answer: 'The agent of the mission waits for the answer to a question.',
  approval: 'The plan of the mission or a tool call waits for approval.',
  budget: 'The mission waits for more money or a higher limit.',
  handover:
    'Somebody has handed the mission over to the person. Only that person is notified, not the place where the mission was started.',
});

const ChoiceType = builder.objectRef<ChannelChoice>('MissionNoticeChoice').implement({
  description: 'The channels through which a person gets news of one kind about their missions.',
  fields: (t) =>
    members(t, {
      kind: typed(MissionNoticeKind.type, 'The kind of the news.'),
      mail: boolean('Whether the news is emailed; true by default except for completed missions.'),
      browser: boolean('Whether open pages of the console show the news; true by default.'),
      origin: boolean(
        'Whether the news is shown where the mission began: as a message in its thread of a chat, or in its comment on the issue or pull request; true by default.',
      ),
    }),
});

const NoticeType = builder.objectRef<MissionNotice>('MissionNotice').implement({
  description:
    'News of a mission for one person: either the mission’s person (to whom it was handed over, or else who started it or last changed its schedule or rules), or a follower. Each person gets a piece of news once.',
  fields: (t) =>
    members(t, {
      id: string('The id of the notice.'),
      kind: typed(MissionNoticeKind.type, 'The kind of the news.'),
      runId: string('The id of the run.'),
      title: string('The news in one sentence.'),
      body: string('The question or the reason, at most 500 characters.'),
      url: string('The page of the run in the console.'),
      createdAt: epochMs('When the notice was created.'),
    }),
});

interface News {
  notices: MissionNotice[];
}
const NewsType = builder.objectRef<News>('MissionNews').implement({
  description: 'Notices since the last event.',
  fields: (t) =>
    members(t, {
      notices: typed([NoticeType], 'The notices, oldest first; at most 50.'),
    }),
});

const UpdateMissionNoticesRequest = request(
  'UpdateMissionNoticesRequest',
  z
    .object({
      kind: MissionNoticeKind.zod.describe('The kind of the news.'),
      mail: z.boolean().optional().describe('Whether the news is emailed; unchanged when absent.'),
      browser: z
        .boolean()
        .optional()
        .describe('Whether open pages of the console show the news; unchanged when absent.'),
      origin: z
        .boolean()
        .optional()
        .describe(
          'Whether the news is shown where the mission was started, such as in a chat thread; unchanged when absent.',
        ),
    })
    .meta({ description: 'The channels to change.', examples: [{ kind: 'completed', mail: true }] }),
);

builder.queryField('missionNoticeChoices', (t) =>
  t.field({
    description: 'The channels through which the signed-in person gets news of their missions, in every organization.',
    scope: 'person',
    type: [ChoiceType],
    resolve: (_, _args, { caller }) => listChannels(caller),
  }),
);

builder.mutationField('updateMissionNotices', (t) =>
  t.field({
    description: 'Chooses the channels for news of one kind, for the signed-in person in every organization.',
    scope: 'person',
    type: [ChoiceType],
    args: {
      input: t.arg({ type: UpdateMissionNoticesRequest, required: true, description: 'The channels to change.' }),
    },
    resolve: (_, { input }, { caller }) => chooseChannels(caller, input),
  }),
);

builder.mutationField('handOverRun', (t) =>
  t.field({
    description:
      'Hands a run over to another member, who gets its news, questions and inbox items from then on. The costs are still ' +
      'charged to the person who was charged before. All attempts at one task are handed over together. Canceled and skipped runs are not handed over.',
    scope: 'missions:run',
    tool: { name: 'hand_over_run', idempotent: true },
    type: RunType,
    args: {
      runId: t.arg.string({ ...pathId, description: 'The id of the run.' }),
      userId: t.arg.string({
        ...pathId,
        description: 'The id of a member of the organization who may run missions; starts with `usr_`.',
      }),
    },
    resolve: (_, { runId, userId }, { caller }) => handOverRun(caller, runId, userId),
  }),
);

builder.subscriptionField('missionNews', (t) =>
  t.field({
    description:
      'News of the missions of the signed-in person and of those that they follow, in every organization: the notices of the last ten minutes at once, then each new one.',
    scope: 'person',
    type: NewsType,
    subscribe: (_, _args, { caller, follow }) => followNotices(follow(ownPerson(caller))),
    resolve: (notices) => ({ notices }),
  }),
);
