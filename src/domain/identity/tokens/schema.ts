// Personal access tokens, for a person who is signed in to the console (docs/contract.md#personal-access-tokens). A token can
// neither create, list nor revoke tokens, so there is no MCP tool.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { pathId, request } from '#graph/input.ts';
import { belongsTo, epochMs, epochMsOrNull, members, string, stringOrNull, strings, typed } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { boundedText, nameText, range } from '#graph/validation.ts';
import { text, tokens } from '#limits.ts';
import { Token } from './model.ts';
import * as operations from './operations.ts';

export const RevocationKind = wordSet(
  'RevocationKind',
  operations.revocationKinds,
  '`revoked`: this call revoked it. `already-revoked`: it was revoked before, and nothing changed.',
);

const CreatedToken = builder.objectRef<operations.CreatedToken>('CreatedToken').implement({
  description: 'A new personal access token with its bearer value, which no other response contains.',
  fields: (t) =>
    members(t, {
      id: string('Id of the token; not a secret.'),
      name: string('A label for people; several tokens may have the same.'),
      token: string('The bearer value, `pat_…`. Only its digest is stored, so it cannot be returned again.'),
      scopes: strings('The requested scopes, without duplicates.'),
      projectId: stringOrNull('The only project that the token reaches; null means the whole organization.'),
      expiresAt: epochMs(`When the token expires; at most ${tokens.lifetimeDays.max} days from now.`),
      createdAt: epochMs('When the token was created.'),
    }),
});

const TokenSummary = builder.modelType(Token, 'TokenSummary').implement({
  description: 'A personal access token, without its bearer value.',
  fields: (t) =>
    members(t, {
      id: string('Id of the token; not a secret.'),
      name: string('A label for people; several tokens may have the same.'),
      scopes: strings('The granted scopes. Each use is limited to those that the person’s role still includes.'),
      projectId: stringOrNull('The only project that the token reaches; null means the whole organization.'),
      createdAt: epochMs('When the token was created.'),
      expiresAt: epochMs('When the token expires or expired.'),
      lastUsedAt: epochMsOrNull('The last use, accurate to the minute; null for a token that was never used.'),
      revokedAt: epochMsOrNull('When the token was revoked; null if it was not.'),
      project: belongsTo('projects:read', 'The project of `projectId`.'),
    }),
});

const TokenList = builder.objectRef<{ data: Token[] }>('TokenList').implement({
  description: 'The tokens of one person in one organization.',
  fields: (t) =>
    members(t, {
      data: typed([TokenSummary], 'All tokens, including ended ones; newest first.'),
    }),
});
const RevokeTokenResult = builder.objectRef<operations.RevokedToken>('RevokeTokenResult').implement({
  description: 'The outcome of revoking a token.',
  fields: (t) =>
    members(t, {
      kind: typed(RevocationKind.type, 'Whether this call revoked the token.'),
      tokenId: string('The `id` of the token.'),
      revokedAt: epochMs('When the token was revoked, by this call or before.'),
    }),
});

const { min, max, default: defaultDays } = tokens.lifetimeDays;
const CreateTokenRequest = request(
  'CreateTokenRequest',
  z
    .object({
      name: nameText(text.tokenName).describe(
        `${range(text.tokenName)} characters; a label for people, which need not be unique.`,
      ),
      scopes: z
        .array(z.string())
        .max(tokens.scopesPerToken)
        .default([])
        .describe(
          'Scopes of the token: at most 25 scopes from `GET /scopes`, none beyond the caller’s own. None by default.',
        ),
      expiresInDays: z
        .int()
        .min(min)
        .max(max)
        .default(defaultDays)
        .describe(
          `Days until the token expires, ${range(tokens.lifetimeDays)}; ${tokens.lifetimeDays.default} when absent.`,
        ),
      projectId: boundedText(text.pathId)
        .optional()
        .describe('The only project that the token reaches; the whole organization when absent.'),
    })
    .meta({
      description: 'A new personal access token.',
      examples: [{ name: 'CI', scopes: ['projects:read', 'missions:run'], expiresInDays: 30 }],
    }),
);

builder.queryField('tokens', (t) =>
  t.field({
    description:
      'The personal access tokens of the signed-in person in this organization, newest first, including ended ones.',
    scope: 'person',
    rest: 'GET /tokens',
    type: TokenList,
    resolve: async (_, _args, { caller }) => ({ data: await operations.listTokens(caller) }),
  }),
);

builder.mutationFields((t) => ({
  createToken: t.field({
    description:
      'Creates a personal access token and returns its bearer value once. Only a person who is signed in to the console may create one.',
    scope: 'person',
    rest: { route: 'POST /tokens', status: 201, errors: [404] },
    type: CreatedToken,
    args: {
      input: t.arg({
        type: CreateTokenRequest,
        required: true,
        description: 'Scopes and lifetime of the token.',
      }),
    },
    resolve: (_, { input }, { caller }) => operations.createToken(caller, input),
  }),
  revokeToken: t.field({
    description: 'Revokes one of the signed-in person’s tokens: the next request with it is refused.',
    scope: 'person',
    rest: 'DELETE /tokens/{tokenId}',
    type: RevokeTokenResult,
    args: { tokenId: t.arg.string({ ...pathId, description: 'The `id` of the token.' }) },
    resolve: (_, { tokenId }, { caller }) => operations.revokeToken(caller, tokenId),
  }),
}));
