// The inbox of a person in all APIs.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { pathId } from '#graph/input.ts';
import {
  boolean,
  epochMs,
  epochMsOrNull,
  int,
  members,
  string,
  stringOrNull,
  typed,
  typedOrNull,
} from '#graph/members.ts';
import { pageArguments, pageOf } from '#graph/page.ts';
import { wordSet } from '#graph/scalars.ts';
import { weightOf } from '#graph/weight.ts';
import { pages, text } from '#limits.ts';
import { ProjectType } from '../../projects/projects/schema.ts';
import { DeliveryType } from '../../work/inbound/schema.ts';
import { RunType } from '../../work/runs/schema.ts';
import { RunQuestion } from '../../work/runs/schema-needs.ts';
import { countInbox, type InboxItem, maxCounted, readInbox } from './items.ts';
import { inboxKinds } from './model.ts';
import * as operations from './operations.ts';

const InboxItemKind = wordSet(
  'InboxItemKind',
  inboxKinds,
  'The action that an item of the inbox needs from a person.',
  {
    approval: 'To approve the plan of a run: `approvePlan`.',
    answer: 'To answer a question of an agent: `answerElicitation`.',
    decision: 'To decide about the call of a tool: `answerElicitation` with `approve`.',
    budget: 'To raise the budget of a mission: `setRunBudget`.',
    limit: 'To raise the minutes, model calls or tokens of a mission: `setRunLimits`.',
    spending: 'To raise a limit that holds missions back: the daily cap, a budget of several missions, or credits.',
    event: 'To let an event start missions, or to dismiss it: `approveInboundDelivery`, `dismissInboundDelivery`.',
    attempts: 'To choose one of several attempts at a task: `chooseAttempt`, `closeAttempts`.',
    effects: 'To approve or reject outside effects of a mission: `approveOutsideEffects`, `rejectOutsideEffects`.',
    review: 'To review the change of a mission: `submitReview`, `mergePullRequest`.',
    failure: 'To see why a mission has failed, and to start it again: `rerunMission`.',
  },
);

const InboxItemType = builder.objectRef<InboxItem>('InboxItem').implement({
  description:
    'Something that waits for a person to act. Once somebody has dealt with it, it disappears from all inboxes.',
  fields: (t) =>
    members(t, {
      id: string('The id, which consists of the kind and the id of the waiting record: `approval-run_…`.'),
      kind: typed(InboxItemKind.type, 'The action that the item needs from a person.'),
      isUrgent: boolean('Whether a mission is blocked until a person acts.'),
      since: epochMs('When the item began to wait.'),
      title: stringOrNull(
        'The title of the mission or event; for a limit, a sentence that describes it. Null for an untitled mission.',
      ),
      detail: stringOrNull('The plan, the question, or the reason why the item waits; null without one.', {
        complexity: weightOf(text.fragmentBody.max),
      }),
      question: typedOrNull(RunQuestion, 'The question of an `answer` or a `decision`; null for other kinds.'),
      projectId: stringOrNull('The project; null for an event.'),
      userId: stringOrNull('The person to whom the mission is charged; null for an item that belongs to nobody.'),
      runId: stringOrNull(
        'The id of the run that the item is about. If several missions wait for the same limit, this is the run that has waited longest. ' +
          'Null for an event.',
      ),
      hookId: stringOrNull('The inbound hook that received the event; null unless the item is an event.'),
      deliveryId: stringOrNull('The delivery that brought the event; null unless the item is an event.'),
      hiddenUntil: epochMsOrNull('When the item returns, if you have snoozed it; null otherwise.'),
      isDone: boolean('Whether you have marked the item as done: it is hidden until something new happens to it.'),
      run: t.byId(RunType, 'runId', { link: 'missions:read', description: 'The run.' }),
      project: t.byId(ProjectType, 'projectId', { link: 'projects:read', description: 'The project.' }),
      delivery: t.byId(DeliveryType, 'deliveryId', { link: 'integrations:read', description: 'The delivery.' }),
    }),
});
const InboxPage = pageOf('InboxPage', InboxItemType, 'Urgent items first, then the oldest.');

const InboxCount = builder.objectRef<{ count: number }>('InboxCount').implement({
  description: 'The size of the inbox.',
  fields: (t) => members(t, { count: int(`The number of items; ${maxCounted} means ${maxCounted} or more.`) }),
});

const scope = 'missions:read';
const mine = {
  description: 'True lists only items of missions that are yours or that you follow, and items that belong to nobody.',
} as const;
const itemId = { ...pathId, description: 'The id of the item.' } as const;

builder.queryFields((t) => ({
  inbox: t.field({
    description:
      'Everything that waits for the caller: plans, questions, tool calls, limits, events, reviews and failures that its scopes let it act ' +
      'on. Urgent items come first, then the oldest. Failures are listed for 14 days, and changes to review for 30; a later run of the ' +
      'same task replaces an earlier one.',
    scope,
    rest: 'GET /inbox',
    tool: 'list_inbox',
    type: InboxPage,
    args: {
      mine: t.arg.boolean(mine),
      hidden: t.arg.boolean({
        description:
          'If true, the list has only the items that you have marked as done or snoozed and that still wait for somebody to act.',
      }),
      ...pageArguments(pages.other),
    },
    resolve: (_, args, { caller }) => readInbox(caller, args),
  }),
  inboxCount: t.field({
    description: 'The size of the inbox of the caller.',
    scope,
    type: InboxCount,
    args: { mine: t.arg.boolean(mine) },
    resolve: async (_, args, { caller }) => ({ count: await countInbox(caller, args.mine ?? false) }),
  }),
}));

builder.mutationFields((t) => ({
  markInboxItemDone: t.field({
    description:
      'Hides an item from your inbox until something new happens to it, or until the given time. Nothing else changes: it stays in the inbox of other people.',
    scope,
    tool: { name: 'mark_inbox_item_done', idempotent: true },
    type: InboxItemType,
    args: {
      itemId: t.arg.string(itemId),
      until: t.arg({
        type: 'EpochMs',
        description: 'When the item returns: within the next 90 days. Absent means when something new happens to it.',
        validate: { schema: z.number().int().min(0) },
      }),
    },
    resolve: (_, args, { caller }) => operations.markDone(caller, args.itemId, args.until ?? null),
  }),
  restoreInboxItem: t.field({
    description: 'Puts an item that you marked as done, or snoozed, back into your inbox.',
    scope,
    tool: { name: 'restore_inbox_item', idempotent: true },
    type: InboxItemType,
    args: { itemId: t.arg.string(itemId) },
    resolve: (_, args, { caller }) => operations.restoreItem(caller, args.itemId),
  }),
}));

builder.subscriptionField('inboxUpdated', (t) =>
  t.field({
    description:
      'The number of items in the inbox, at once and after each change; changes within a second are combined.',
    scope,
    type: InboxCount,
    subscribe: (_, _args, { caller, follow }) => operations.followCount(follow(...operations.idsOfInbox(caller))),
    resolve: (count) => ({ count }),
  }),
);
