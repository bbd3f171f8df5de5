// Former members of an organization and the erasure of their personal data, in all APIs.
import { builder } from '#graph/builder.ts';
import { pathId } from '#graph/input.ts';
import { epochMs, epochMsOrNull, int, members, string, stringOrNull, typed } from '#graph/members.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { erasePerson, type PersonErasure } from './erasure/erase.ts';
import { type FormerMember, listFormerMembers } from './erasure/former-members.ts';

const FormerMemberType = builder.objectRef<FormerMember>('FormerMember').implement({
  description: 'A person who has left an organization.',
  fields: (t) =>
    members(t, {
      userId: string('The id of the person.'),
      name: stringOrNull('The present name; null after the erasure.'),
      email: stringOrNull('The present email address; null after the erasure.'),
      removedAt: epochMs('When the membership ended.'),
      erasedAt: epochMsOrNull('When the organization erased the person; null before.'),
    }),
});

const FormerMemberList = builder.objectRef<{ people: FormerMember[] }>('FormerMemberList').implement({
  description: 'People who have left an organization.',
  fields: (t) => members(t, { people: typed([FormerMemberType], 'At most 200, most recently removed first.') }),
});

builder.queryField('formerMembers', (t) =>
  t.field({
    description: 'People who have left the organization, as far back as its audit log goes.',
    scope: 'audit:read',
    type: FormerMemberList,
    args: { orgId: t.arg.string(pathId) },
    resolve: async (_, { orgId }, { caller }) => ({ people: await listFormerMembers(caller, orgId) }),
  }),
);

const Erasure = builder.objectRef<PersonErasure>('PersonErasure').implement({
  description: 'The erasure of a person by an organization.',
  fields: (t) =>
    members(t, {
      personId: string(
        'The id of the person; the audit event of the erasure contains this id in place of the name. For an email address without an ' +
          'account, the id exists only in this organization.',
      ),
      erasedAt: epochMs('When the person was erased.'),
      invites: int('Number of invites to the person that this call deleted.'),
      recordings: int('Number of missions whose recording this call deleted.'),
    }),
});

builder.mutationField('erasePerson', (t) =>
  t.field({
    description:
      'Erases a person who is not, or no longer, a member: network addresses, email addresses, names and browsers of the person in the audit log, which ' +
      'still verifies; recordings of missions that they started; invites to them; and their name in messages, reviews and comments. This ' +
      'cannot be undone. The erasure is an event, `person.erased`; a repeated call changes nothing. Only an owner may do this.',
    scope: 'members:write',
    type: Erasure,
    args: {
      orgId: t.arg.string(pathId),
      person: t.arg.string({
        required: true,
        validate: { schema: boundedText({ min: 1, max: text.email.max }) },
        description: 'The id of the person, or the email address of an invite.',
      }),
    },
    resolve: (_, { orgId, person }, { caller }) => erasePerson(caller, orgId, person),
  }),
);
