// Directory tokens, in GraphQL only: the contract has no REST route for them, and an MCP tool would show the secret to a model.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { pathId } from '#graph/input.ts';
import { epochMs, epochMsOrNull, members, string, typed } from '#graph/members.ts';
import { nameText, range } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { PersonType } from '../../organization/people/schema.ts';
import * as operations from './directory-tokens.ts';

const scope = 'members:write';
const { lifetimeDays } = operations.directoryTokens;

const DirectoryTokenType = builder.objectRef<operations.DirectoryToken>('DirectoryToken').implement({
  description: 'A token with which the identity provider of the organization provisions users and groups (SCIM 2.0).',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `sct_`; not a secret.'),
      name: string('A label for people; several tokens may have the same.'),
      createdAt: epochMs('When the token was created.'),
      createdBy: t.byId(PersonType, 'createdByUserId', {
        link: 'members:read',
        description: 'The owner who created the token; null when the account is deleted.',
      }),
      expiresAt: epochMs('When the token expires or expired.'),
      lastUsedAt: epochMsOrNull('The last use, accurate to the minute; null when it was never used.'),
      revokedAt: epochMsOrNull('When the token was revoked; null if it was not.'),
    }),
});

const DirectoryTokens = builder.objectRef<{ data: operations.DirectoryToken[] }>('DirectoryTokens').implement({
  description: 'The directory tokens of an organization.',
  fields: (t) =>
    members(t, {
      data: typed(
        [DirectoryTokenType],
        'The active tokens, then the revoked ones, each group newest first: at most 50.',
      ),
    }),
});

const CreatedDirectoryToken = builder.objectRef<operations.CreatedDirectoryToken>('CreatedDirectoryToken').implement({
  description: 'A new directory token with its bearer value, which no other response contains.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `sct_`; not a secret.'),
      name: string('A label for people.'),
      token: string(
        'The bearer value, which starts with `scm_`. Only its digest is stored, so it cannot be returned again.',
      ),
      createdAt: epochMs('When the token was created.'),
      expiresAt: epochMs('When the token expires.'),
    }),
});

builder.queryField('directoryTokens', (t) =>
  t.field({
    description: 'The directory tokens of the organization, including ended ones. Only an owner may do this.',
    scope,
    type: DirectoryTokens,
    resolve: async (_, _args, { caller }) => ({ data: await operations.listDirectoryTokens(caller) }),
  }),
);

builder.mutationFields((t) => ({
  createDirectoryToken: t.field({
    description:
      'Creates a token for the identity provider and returns its bearer value once. Its holder can add and remove members of the ' +
      'organization, and nothing else. Only an owner who is signed in to the console may do this.',
    scope,
    type: CreatedDirectoryToken,
    args: {
      name: t.arg.string({
        required: true,
        description: `A label for people, ${range(text.tokenName)} characters.`,
        validate: { schema: nameText(text.tokenName) },
      }),
      expiresInDays: t.arg.int({
        required: true,
        defaultValue: lifetimeDays.default,
        description: `Days until the token expires, ${range(lifetimeDays)}.`,
        validate: { schema: z.int().min(lifetimeDays.min).max(lifetimeDays.max) },
      }),
    },
    resolve: (_, input, { caller }) => operations.createDirectoryToken(caller, input),
  }),
  revokeDirectoryToken: t.field({
    description: 'Revokes a token at once. Users and groups that it has provisioned stay. Only an owner may do this.',
    scope,
    type: DirectoryTokenType,
    args: { directoryTokenId: t.arg.string({ ...pathId, description: 'The `id` of the token.' }) },
    resolve: (_, { directoryTokenId }, { caller }) => operations.revokeDirectoryToken(caller, directoryTokenId),
  }),
}));
