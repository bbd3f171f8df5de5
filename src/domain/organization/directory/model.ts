// Users and groups of an organization as its identity provider maintains them (SCIM 2.0, RFC 7643). A user has an email address; the person
// whose account has this address is a separate record, which the directory never changes
// (docs/decisions/0075-a-directory-manages-memberships.md).
import { orgWide } from '#access/reach.ts';
import type { OrgRole } from '#access/roles.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';

export class DirectoryUser extends table('directory_users', {
  id: column<Id<'directoryUser'>>(),
  orgId: column<Id<'organization'>>(),
  /** Unique in the organization, without regard to case. */
  userName: column<string>(),
  /** Id of the user at the identity provider; unique in the organization. */
  externalId: column<string | null>(),
  /** The email address in lower case; unique in the organization. */
  email: column<string>(),
  displayName: column<string | null>(),
  formattedName: column<string | null>(),
  givenName: column<string | null>(),
  familyName: column<string | null>(),
  /** Whether the identity provider allows the person to be a member of the organization. */
  active: column<boolean>(),
  /** Whether the person may join. True from provisioning until the person joins, is removed or is deactivated. */
  isOffered: column<boolean>(),
  /** Number of changes, used as the user's entity tag. */
  version: column<number>(),
  createdAt: column<number>(),
  updatedAt: column<number>(),
}) {
  static override noun = 'user';
  static visibleTo = orgWide;
}

/** Roles that a group can give. Only owners can make somebody an owner, so groups cannot. */
export const groupRoles = ['admin', 'member', 'viewer'] as const satisfies readonly OrgRole[];
export type GroupRole = (typeof groupRoles)[number];

export class DirectoryGroup extends table('directory_groups', {
  id: column<Id<'directoryGroup'>>(),
  orgId: column<Id<'organization'>>(),
  /** Unique in the organization, without regard to case. */
  displayName: column<string>(),
  externalId: column<string | null>(),
  /** The role that the group gives to its members; null when it gives none. */
  role: column<GroupRole | null>(),
  version: column<number>(),
  createdAt: column<number>(),
  updatedAt: column<number>(),
}) {
  static override noun = 'group';
  static visibleTo = orgWide;
}

export class DirectoryGroupMember extends table('directory_group_members', {
  orgId: column<Id<'organization'>>(),
  groupId: column<Id<'directoryGroup'>>(),
  directoryUserId: column<Id<'directoryUser'>>(),
}) {
  static override idColumn = ['orgId', 'groupId', 'directoryUserId'];
}
