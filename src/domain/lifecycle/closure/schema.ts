// The closure of an organization in all APIs (docs/contract.md#closure).
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { pathId, request } from '#graph/input.ts';
import { epochMs, floatOrNull, members, string, typed } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { closureBases, type OrgClosure, type Settlement, settlementKinds } from './model.ts';
import * as operations from './operations.ts';

const ClosureBasis = wordSet('ClosureBasis', closureBases, 'The party that closed an organization.', {
  owner: 'An owner of the organization.',
  service: 'The operator of the service.',
});
const SettlementKind = wordSet('ClosureSettlementKind', settlementKinds, 'Subject of a settlement.', {
  subscription: 'The subscription, which has ended.',
  credits: 'Unused credits.',
  sandboxes: 'Missions, sandboxes and preview environments.',
  schedules: 'Scheduled tasks and automations.',
  tokens: 'Tokens, sign-ins and agents.',
});

const ClosureSettlement = builder.objectRef<Settlement>('ClosureSettlement').implement({
  description: 'The result of ending one part of the organization, such as its subscription.',
  fields: (t) =>
    members(t, {
      kind: typed(SettlementKind.type, 'The kind of settlement.'),
      description: string('The result, in one sentence.'),
      amountUsd: floatOrNull('The refund in US dollars; null when no money is involved.'),
    }),
});

const OrgClosureType = builder.objectRef<OrgClosure>('OrgClosure').implement({
  description: 'The end of an organization. It is read-only for its owners for thirty days, and then erased.',
  fields: (t) =>
    members(t, {
      orgId: string('The id of the organization; starts with `org_`.'),
      closedAt: epochMs('When the organization was closed.'),
      basis: typed(ClosureBasis.type, 'The role of the person who closed the organization.'),
      settlements: typed(
        [ClosureSettlement],
        'The settlements so far. Credits are settled once the costs of canceled missions are booked.',
      ),
    }),
});

const CloseOrganizationRequest = request(
  'CloseOrganizationRequest',
  z
    .object({
      confirmSlug: boundedText(text.organizationSlug).describe('The slug of the organization, as a confirmation.'),
    })
    .meta({ description: 'Confirms that the organization is to be closed.', examples: [{ confirmSlug: 'acme' }] }),
);

builder.queryField('organizationClosure', (t) =>
  t.field({
    description: 'The closure of an organization; 404 while it is open.',
    scope: 'organizations:read',
    rest: 'GET /organizations/{orgId}/closure',
    type: OrgClosureType,
    args: { orgId: t.arg.string(pathId) },
    resolve: (_, { orgId }, { caller }) => operations.findClosure(caller, orgId),
  }),
);

builder.mutationField('closeOrganization', (t) =>
  t.field({
    description:
      'Closes an organization for good: credentials end, missions are canceled, schedules stop, credits are settled. Only an owner who is signed in to the console may do this. Closing it again returns the same closure.',
    scope: 'person',
    rest: { route: 'POST /organizations/{orgId}/closure', status: 201, errors: [404] },
    type: OrgClosureType,
    args: {
      orgId: t.arg.string(pathId),
      input: t.arg({ type: CloseOrganizationRequest, required: true, description: 'The confirmation.' }),
    },
    resolve: (_, { orgId, input }, { caller }) => operations.closeOrganization(caller, orgId, input),
  }),
);
