// The ledger of an organization in all APIs (docs/contract.md#billing).
import type { Page } from '#foundation/postgres/cursor.ts';
import { builder } from '#graph/builder.ts';
import { epochMs, members, string, stringOrNull } from '#graph/members.ts';
import { pageArguments } from '#graph/page.ts';
import { wordSet } from '#graph/scalars.ts';
import { pages } from '#limits.ts';
import { creditsOf } from './amounts.ts';
import { type CreditTransfer, listedKinds, lotKinds } from './model.ts';
import { listLedger } from './operations.ts';

export const CreditSourceKind = wordSet('CreditSourceKind', lotKinds, 'Source of credits.', {
  trial: 'For a new organization.',
  pack: 'A credit pack.',
  subscription: 'One period of a team plan.',
  grant: 'From the operator of the service.',
});
const LedgerEntryKind = wordSet('LedgerEntryKind', listedKinds, 'Cause of a change of credits.', {
  grant: 'Trial credits, or credits from the operator.',
  purchase: 'A paid order.',
  spend: 'A mission.',
  refund: 'The credits of a mission were refunded.',
  withdrawal: 'A withdrawal from an order.',
  expiry: 'Unused credits expired.',
});

const LedgerEntry = builder.objectRef<CreditTransfer>('LedgerEntry').implement({
  description: 'One change of the credits that an organization owns.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `crt_`.'),
      kind: t.field({
        type: LedgerEntryKind.type,
        description: 'Reason for the change.',
        resolve: ({ kind }) => kind as (typeof listedKinds)[number],
      }),
      credits: t.float({
        description: 'The signed change, to a millionth of a credit.',
        resolve: ({ amount }) => creditsOf(amount),
      }),
      balanceAfter: t.float({
        description: 'The amount owned by the organization after this entry, to a millionth of a credit.',
        resolve: ({ balanceAfter }) => creditsOf(balanceAfter),
      }),
      runId: stringOrNull('The mission that caused the change; null for none.'),
      orderId: stringOrNull('The order that caused the change; null for none.'),
      note: stringOrNull('Explanation of the change for people; null without one.'),
      createdAt: epochMs('When the change was booked.'),
    }),
});

const ListLedgerResponse = builder.objectRef<Page<CreditTransfer>>('ListLedgerResponse').implement({
  description: 'A page of the ledger.',
  fields: (t) =>
    members(t, {
      entries: t.field({ type: [LedgerEntry], description: 'The changes, newest first.', resolve: ({ data }) => data }),
      nextCursor: stringOrNull('Cursor of the next page, to send as `cursor`; null on the last page.'),
    }),
});

builder.queryField('billingLedger', (t) =>
  t.field({
    description: 'Changes of the credits that the organization owns, newest first.',
    scope: 'billing:read',
    rest: 'GET /billing/ledger',
    tool: 'list_ledger',
    type: ListLedgerResponse,
    args: pageArguments(pages.other),
    resolve: (_, args, { caller }) => listLedger(caller, args),
  }),
);
