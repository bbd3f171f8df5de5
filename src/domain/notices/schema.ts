// Notices on every surface (specification, Setup and notices; design decisions, sections 2 and 4).
import { ownOrganization } from '#access/reach.ts';
import { builder } from '#graph/builder.ts';
import { pathId } from '#graph/input.ts';
import { wordSet } from '#graph/scalars.ts';
import { type Notice, NoticeDismissal, noticeKinds } from './model.ts';
import * as operations from './operations.ts';

const NoticeKind = wordSet('NoticeKind', noticeKinds, 'How urgent a notice is.', {
  info: 'Good to know.',
  warning: 'Something needs action soon.',
  action: 'Something needs action now.',
});

const NoticeType = builder.objectRef<Notice>('Notice').implement({
  description: 'What a person should know or do. It is there while its cause is.',
  fields: (t) => ({
    id: t.exposeString('id', {
      description: 'Derived from the cause: `token_expiring:tok_…:7`. A new cause has another id.',
    }),
    kind: t.expose('kind', { type: NoticeKind.type, description: 'How urgent it is.' }),
    title: t.exposeString('title', { description: 'What is the matter, in one sentence.' }),
    body: t.exposeString('body', { description: 'The details, and what to do.' }),
    actionUrl: t.exposeString('actionUrl', {
      nullable: true,
      description: 'The page of the console on which to do it; null when there is none.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'EpochMs',
      description: 'When the cause began; of the cost cap the UTC day, of credits and failing runs the latest change.',
    }),
  }),
});

interface NoticeList {
  orgId: string;
  notices: Notice[];
}
const ListNoticesResponse = builder.objectRef<NoticeList>('ListNoticesResponse').implement({
  description: 'The notices of an organization for one caller.',
  fields: (t) => ({
    orgId: t.exposeString('orgId', { description: 'The organization.' }),
    notices: t.expose('notices', {
      type: [NoticeType],
      description: 'Without those that the caller’s person has dismissed; the most urgent first.',
    }),
  }),
});

const NoticeDismissalType = builder.modelType(NoticeDismissal, 'NoticeDismissal').implement({
  description: 'Confirms that a person does not see a notice any longer.',
  fields: (t) => ({
    orgId: t.exposeString('orgId', { description: 'The organization.' }),
    noticeId: t.exposeString('noticeId', { description: 'The notice.' }),
    dismissedAt: t.expose('dismissedAt', { type: 'EpochMs', description: 'When it was first dismissed.' }),
  }),
});

builder.queryField('notices', (t) =>
  t.field({
    description: 'What the caller should know or do, as far as its scopes reach. Each notice ends with its cause.',
    scope: 'setup:read',
    rest: 'GET /notices',
    tool: 'list_notices',
    type: ListNoticesResponse,
    resolve: async (_, _args, { caller }) => ({
      notices: await operations.listNotices(caller),
      orgId: ownOrganization(caller),
    }),
  }),
);

builder.mutationField('dismissNotice', (t) =>
  t.field({
    description: 'Hides a notice from the caller’s person while its cause lasts. Dismissing it twice changes nothing.',
    scope: 'setup:write',
    rest: 'POST /notices/{noticeId}/dismissal',
    type: NoticeDismissalType,
    args: { noticeId: t.arg.string(pathId) },
    resolve: (_, { noticeId }, { caller }) => operations.dismissNotice(caller, noticeId),
  }),
);
