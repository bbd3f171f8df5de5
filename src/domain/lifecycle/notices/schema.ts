// Notices in all APIs (docs/contract.md#setup-and-notices).
import { z } from 'zod';
import { ownOrganization } from '#access/reach.ts';
import { builder } from '#graph/builder.ts';
import { pathId, request } from '#graph/input.ts';
import { boolean, epochMs, members, string, stringOrNull, typed } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { chooseMail, listMailChoices, type MailChoice, mailKinds } from './mail-settings.ts';
import { type Notice, NoticeDismissal, noticeKinds } from './model.ts';
import * as operations from './operations.ts';

const NoticeKind = wordSet('NoticeKind', noticeKinds, 'Urgency of a notice.', {
  info: 'For information.',
  warning: 'Action is needed soon.',
  action: 'Action is needed now.',
});

const NoticeType = builder.objectRef<Notice>('Notice').implement({
  description: 'Informs people about a fact, or asks them to act. A notice exists as long as its cause.',
  fields: (t) =>
    members(t, {
      id: string('The id, derived from the cause: `token_expiring:tok_…:7`. A new cause has another id.'),
      kind: typed(NoticeKind.type, 'The urgency of the notice.'),
      title: string('The notice in one sentence.'),
      body: string('The details, and the necessary action.'),
      actionUrl: stringOrNull('The page of the console for the necessary action; null when there is none.'),
      createdAt: epochMs(
        'When the cause of the notice began. If missions have used most of the daily cost cap, this is the beginning of the UTC day. If ' +
          'credits are low, it is the time when they last changed. If a recurring mission keeps failing, it is the time when its latest failed ' +
          'run was created.',
      ),
    }),
});

interface NoticeList {
  orgId: string;
  notices: Notice[];
}
const ListNoticesResponse = builder.objectRef<NoticeList>('ListNoticesResponse').implement({
  description: 'The notices of an organization for one caller.',
  fields: (t) =>
    members(t, {
      orgId: string('The id of the organization; starts with `org_`.'),
      notices: typed([NoticeType], 'The notices that the caller has not dismissed; the most urgent first.'),
    }),
});

const NoticeDismissalType = builder.modelType(NoticeDismissal, 'NoticeDismissal').implement({
  description: 'Confirms that a person no longer sees a notice.',
  fields: (t) =>
    members(t, {
      orgId: string('The id of the organization; starts with `org_`.'),
      noticeId: string('The id of the notice, derived from its cause.'),
      dismissedAt: epochMs('When the notice was first dismissed.'),
    }),
});

builder.queryField('notices', (t) =>
  t.field({
    description: 'Notices for the caller, within its scopes. A notice disappears once its cause is gone.',
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

const NoticeMailKind = wordSet('NoticeMailKind', mailKinds, 'Subject of an emailed notice.', {
  credits: 'Credits are low or used up.',
  cost_cap: 'The daily cost cap is reached.',
  budget: 'At least 80 percent of a budget is spent.',
  token_expiring: 'A token of the person expires within a day.',
  connector_broken: 'The vendor rejects the credentials of a connector.',
  schedule_failing: 'A recurring mission keeps failing.',
  run_waiting: 'A mission waits for a runtime.',
  audit_stream: 'Deliveries of the audit log to its destination fail.',
  person_needed:
    'Another person’s mission needs somebody to approve its plan, answer a question, decide about a tool call, or raise a limit.',
  webhook_disabled: 'A webhook endpoint was disabled, because its receiver does not accept events.',
  sign_in_domain: 'The TXT record of a verified domain is missing, or the domain no longer counts as verified.',
  sign_in_certificate: 'The certificate of a SAML provider expires within seven days.',
  sign_in_metadata: 'The metadata of a SAML provider has been unusable for two days.',
  directory_token: 'The last directory token expires within seven days.',
});

const NoticeMailChoice = builder.objectRef<MailChoice>('NoticeMailChoice').implement({
  description: 'Whether a person gets notices of one kind by email.',
  fields: (t) =>
    members(t, {
      kind: typed(NoticeMailKind.type, 'Subject of the notices.'),
      enabled: boolean('Whether the notices are emailed: true unless the person has turned the kind off.'),
    }),
});

const UpdateNoticeMailRequest = request(
  'UpdateNoticeMailRequest',
  z
    .object({
      kind: NoticeMailKind.zod.describe('Subject of the notices.'),
      enabled: z.boolean().describe('Whether these notices are emailed, in every organization of the person.'),
    })
    .meta({ description: 'The kind of notices to change.', examples: [{ kind: 'run_waiting', enabled: false }] }),
);

builder.queryField('noticeMails', (t) =>
  t.field({
    description:
      'The notices that the signed-in person gets by email. Notices that need action are mailed once, to owners and admins. A notice about an expiring token is mailed to its owner, and one about another person’s waiting mission to everybody who may run missions.',
    scope: 'person',
    type: [NoticeMailChoice],
    resolve: (_, _args, { caller }) => listMailChoices(caller),
  }),
);

builder.mutationField('updateNoticeMail', (t) =>
  t.field({
    description: 'Turns emails about notices of one kind on or off for the signed-in person, in every organization.',
    scope: 'person',
    type: [NoticeMailChoice],
    args: { input: t.arg({ type: UpdateNoticeMailRequest, required: true, description: 'The kind to change.' }) },
    resolve: (_, { input }, { caller }) => chooseMail(caller, input),
  }),
);

builder.mutationField('dismissNotice', (t) =>
  t.field({
    description: 'Hides a notice from the caller while its cause lasts. Dismissing it twice changes nothing.',
    scope: 'setup:write',
    rest: 'POST /notices/{noticeId}/dismissal',
    type: NoticeDismissalType,
    args: { noticeId: t.arg.string(pathId) },
    resolve: (_, { noticeId }, { caller }) => operations.dismissNotice(caller, noticeId),
  }),
);
