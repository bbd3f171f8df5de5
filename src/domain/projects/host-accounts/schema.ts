// GraphQL types for accounts of members at source hosts.
import { builder } from '#graph/builder.ts';
import { toMany } from '#graph/context.ts';
import { pathId } from '#graph/input.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { MembershipType } from '../../organization/memberships/schema.ts';
import type { HostAccount } from './model.ts';
import * as operations from './operations.ts';

const accountsOf = toMany<HostAccount>(operations.accountsOf, ({ userId }) => userId);

const HostAccountType = builder.objectRef<HostAccount>('HostAccount').implement({
  description:
    'The account of a member at a source host or chat. Events by the account start missions for the member, who is billed.',
  fields: (t) => ({
    vendor: t.exposeString('vendor', { description: 'The vendor, such as `github`.' }),
    host: t.exposeString('host', {
      description: 'The server of the vendor, such as `api.github.com`, or the workspace of a chat.',
    }),
    login: t.exposeString('login', {
      description: 'The login when it was linked. The account stays the same when its login changes.',
    }),
    createdAt: t.expose('createdAt', { type: 'EpochMs', description: 'When the account was linked.' }),
  }),
});

builder.objectField(MembershipType, 'accounts', (t) =>
  t.field({
    type: [HostAccountType],
    graphOnly: true,
    description: 'The accounts of the member at source hosts and chats, oldest first.',
    resolve: ({ userId }, _args, context) => accountsOf(context).load(userId),
  }),
);

const scope = 'members:write';
const userId = { ...pathId, description: 'A member of the organization.' };
const word = { required: true, validate: { schema: boundedText(text.pathId) } } as const;

builder.mutationFields((t) => ({
  linkAccount: t.field({
    description:
      'Links an account at a source host to a member, and replaces the member’s earlier account there. The account is looked up at the host and identified by its ' +
      'id, so a login that somebody else takes over later is not the member’s.',
    scope,
    tool: { name: 'link_account', openWorld: true, idempotent: true },
    type: MembershipType,
    args: {
      orgId: t.arg.string(pathId),
      userId: t.arg.string(userId),
      integrationId: t.arg.string({ ...pathId, description: 'A connector of the source host.' }),
      login: t.arg.string({ ...word, description: 'The login of the account, without `@`.' }),
    },
    resolve: (_, { orgId, ...link }, { caller }) => operations.linkAccount(caller, orgId, link),
  }),
  unlinkAccount: t.field({
    description: 'Unlinks an account: its events are then treated as events of an outsider.',
    scope,
    tool: { name: 'unlink_account', destructive: true },
    type: MembershipType,
    args: {
      orgId: t.arg.string(pathId),
      userId: t.arg.string(userId),
      vendor: t.arg.string({ ...word, description: 'The vendor of the account.' }),
      host: t.arg.string({ ...word, description: 'The host of the account.' }),
    },
    resolve: (_, { orgId, ...account }, { caller }) => operations.unlinkAccount(caller, orgId, account),
  }),
}));
