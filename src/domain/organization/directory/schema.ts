// The directory of an organization in GraphQL, as the console shows it. Identity providers change it at the SCIM endpoint; an owner gives
// roles to its groups here.
import { builder } from '#graph/builder.ts';
import { pathId } from '#graph/input.ts';
import { boolean, epochMs, int, members, string, stringOrNull, typed, typedOrNull } from '#graph/members.ts';
import { pageArguments, pageOf } from '#graph/page.ts';
import { wordSet } from '#graph/scalars.ts';
import { boundedText } from '#graph/validation.ts';
import { pages, text } from '#limits.ts';
import { directoryCounts } from './bounds.ts';
import { setGroupRole } from './groups.ts';
import { type DirectoryGroup, groupRoles } from './model.ts';
import * as records from './records.ts';

const GroupRole = wordSet(
  'DirectoryGroupRole',
  groupRoles,
  'A role that a group can give. Only owners can make somebody an owner.',
  {
    admin: 'Everything except changes of owners.',
    member: 'Works with projects, agents and missions.',
    viewer: 'Reads only.',
  },
);
const UserState = wordSet(
  'DirectoryUserState',
  records.userStates,
  'Whether a user of the directory belongs to the organization.',
  {
    member: 'The person is a member.',
    waiting: 'The person has not joined yet: the account page offers the membership after sign-in.',
    removed: 'The person was a member and was removed here. The identity provider can offer the membership again.',
    inactive: 'The identity provider has deactivated the user.',
  },
);

const DirectoryUserType = builder.objectRef<records.ListedUser>('DirectoryUser').implement({
  description: 'A user that the identity provider of the organization maintains.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `scu_`: the id of the user at the SCIM endpoint.'),
      userName: string('Name of the user at the identity provider.'),
      externalId: stringOrNull('Id of the user at the identity provider; null when the provider sends none.'),
      email: string('The email address, which identifies the account of the person.'),
      displayName: stringOrNull('The name at the identity provider; the account of the person keeps its own.'),
      active: boolean('Whether the person may be a member, according to the identity provider.'),
      state: typed(UserState.type, 'Whether the person belongs to the organization.'),
      createdAt: epochMs('When the identity provider created the user.'),
      updatedAt: epochMs('When the identity provider last changed the user.'),
    }),
});

const groupFields = {
  id: string('The id, which starts with `scg_`: the id of the group at the SCIM endpoint.'),
  displayName: string('Name of the group at the identity provider.'),
  externalId: stringOrNull('Id of the group at the identity provider; null when the provider sends none.'),
  role: typedOrNull(GroupRole.type, 'The role that the group gives to its members; null when it gives none.'),
  createdAt: epochMs('When the identity provider created the group.'),
  updatedAt: epochMs('When the group was last changed.'),
};

const DirectoryGroupType = builder.objectRef<records.ListedGroup>('DirectoryGroup').implement({
  description: 'A group that the identity provider of the organization maintains.',
  fields: (t) =>
    members(t, { ...groupFields, memberCount: int('Number of users in the group, including inactive ones.') }),
});

const ChangedDirectoryGroup = builder.objectRef<DirectoryGroup>('ChangedDirectoryGroup').implement({
  description: 'A group after a change of its role.',
  fields: (t) => members(t, groupFields),
});

const DirectoryGroups = builder.objectRef<{ data: records.ListedGroup[] }>('DirectoryGroups').implement({
  description: 'The groups of a directory.',
  fields: (t) =>
    members(t, { data: typed([DirectoryGroupType], `The groups by name: at most ${directoryCounts.groups}.`) }),
});

builder.queryFields((t) => ({
  directoryUsers: t.field({
    description: 'The users that the identity provider of the organization maintains, newest first.',
    scope: 'members:read',
    type: pageOf('DirectoryUserPage', DirectoryUserType),
    args: {
      ...pageArguments(pages.other),
      query: t.arg.string({
        description: 'Only users whose address or user name contains this text, without regard to case.',
        validate: { schema: boundedText(text.filter) },
      }),
    },
    resolve: (_, args, { caller }) => records.listDirectoryUsers(caller, args),
  }),
  directoryGroups: t.field({
    description: 'The groups that the identity provider of the organization maintains.',
    scope: 'members:read',
    type: DirectoryGroups,
    resolve: async (_, _args, { caller }) => ({ data: await records.listDirectoryGroups(caller) }),
  }),
}));

builder.mutationField('setDirectoryGroupRole', (t) =>
  t.field({
    description:
      'Sets the role that a group gives to its members; it applies at once. A user in several groups gets the highest of ' +
      'their roles, or the role `member` if none of the groups gives a role. Owners keep their role. Only an owner may do this.',
    scope: 'members:write',
    type: ChangedDirectoryGroup,
    args: {
      directoryGroupId: t.arg.string({ ...pathId, description: 'The `id` of the group.' }),
      role: t.arg({ type: GroupRole.type, description: 'The role; null means that the group gives none.' }),
    },
    resolve: (_, { directoryGroupId, role }, { caller }) => setGroupRole(caller, directoryGroupId, role ?? null),
  }),
);
