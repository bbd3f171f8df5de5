// Personal access tokens on the surfaces that a signed-in person uses (specification, Credentials and identity; behaviours 1
// to 4). A token neither makes, lists nor ends tokens, so there is no MCP tool.
import { z } from 'zod';
import type { Row } from '#foundation/base-model.ts';
import { builder } from '#graph/builder.ts';
import { pathId, request } from '#graph/input.ts';
import { wordSet } from '#graph/scalars.ts';
import { boundedText, nameText } from '#graph/validation.ts';
import { text, tokens } from '#limits.ts';
import { Token } from './model.ts';
import * as operations from './operations.ts';

export const RevocationKind = wordSet('RevocationKind', operations.revocationKinds, 'Whether this call ended it.');

const CreatedToken = builder.objectRef<operations.CreatedToken>('CreatedToken').implement({
  description: 'A new token, with the only sight of its bearer value.',
  fields: (t) => ({
    id: t.exposeString('id'),
    name: t.exposeString('name'),
    token: t.exposeString('token', { description: 'The raw bearer value: never returned again.' }),
    scopes: t.exposeStringList('scopes'),
    projectId: t.exposeString('projectId', { nullable: true }),
    expiresAt: t.expose('expiresAt', { type: 'EpochMs' }),
    createdAt: t.expose('createdAt', { type: 'EpochMs' }),
  }),
});

const TokenSummary = builder.modelType(Token, 'TokenSummary').implement({
  description: 'A personal access token, without its bearer value.',
  fields: (t) => ({
    id: t.exposeString('id'),
    name: t.exposeString('name', { description: 'A label for people, not an identifier.' }),
    scopes: t.exposeStringList('scopes', { description: 'As granted; at each use the present role is asked too.' }),
    projectId: t.exposeString('projectId', { nullable: true, description: 'Null: good for the whole organization.' }),
    createdAt: t.expose('createdAt', { type: 'EpochMs' }),
    expiresAt: t.expose('expiresAt', { type: 'EpochMs' }),
    lastUsedAt: t.expose('lastUsedAt', { type: 'EpochMs', nullable: true, description: 'To the minute.' }),
    revokedAt: t.expose('revokedAt', { type: 'EpochMs', nullable: true }),
    project: t.belongsTo('project', { link: 'projects:read', description: 'The project that the token is bound to.' }),
  }),
});

const TokenList = builder.objectRef<{ data: Row<Token>[] }>('TokenList').implement({
  fields: (t) => ({ data: t.expose('data', { type: [TokenSummary] }) }),
});
const RevokeTokenResult = builder.objectRef<operations.RevokedToken>('RevokeTokenResult').implement({
  fields: (t) => ({
    kind: t.expose('kind', { type: RevocationKind.type }),
    tokenId: t.exposeString('tokenId'),
    revokedAt: t.expose('revokedAt', { type: 'EpochMs' }),
  }),
});

const { min, max, default: usual } = tokens.lifetimeDays;
const CreateTokenRequest = request(
  'CreateTokenRequest',
  z
    .object({
      name: nameText(text.tokenName).describe('1 to 100 characters; a label for people, not an identifier.'),
      scopes: z
        .array(z.string())
        .max(tokens.scopesPerToken)
        .default([])
        .describe('What the token may do: at most 25 of GET /scopes, none beyond the caller’s own.'),
      expiresInDays: z.int().min(min).max(max).default(usual).describe('1 to 365 days; a token always expires.'),
      projectId: boundedText(text.pathId).optional().describe('Binds the token to one project; left out: org-wide.'),
    })
    .meta({ examples: [{ name: 'CI', scopes: ['projects:read', 'missions:run'], expiresInDays: 30 }] }),
);

builder.queryField('tokens', (t) =>
  t.field({
    description: 'The personal access tokens of the signed-in person in this organization, newest first.',
    scope: 'person',
    rest: 'GET /tokens',
    type: TokenList,
    resolve: async (_, _args, { caller }) => ({ data: await operations.listTokens(caller) }),
  }),
);

builder.mutationFields((t) => ({
  createToken: t.field({
    description: 'Creates a personal access token and shows its bearer value, this once.',
    scope: 'person',
    rest: { route: 'POST /tokens', status: 201, errors: [404] },
    type: CreatedToken,
    args: { input: t.arg({ type: CreateTokenRequest, required: true }) },
    resolve: (_, { input }, { caller }) => operations.createToken(caller, input),
  }),
  revokeToken: t.field({
    description: 'Ends a token at once.',
    scope: 'person',
    rest: 'DELETE /tokens/{tokenId}',
    type: RevokeTokenResult,
    args: { tokenId: t.arg.string(pathId) },
    resolve: (_, { tokenId }, { caller }) => operations.revokeToken(caller, tokenId),
  }),
}));
