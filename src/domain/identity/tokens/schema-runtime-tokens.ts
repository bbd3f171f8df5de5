// Runtime tokens, in GraphQL only: the contract has no REST route for them, and an MCP tool would show the secret to a model.
import { builder } from '#graph/builder.ts';
import { pathId } from '#graph/input.ts';
import { epochMs, epochMsOrNull, members, string, strings, typed } from '#graph/members.ts';
import { nameText, range } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { drainRuntime } from './drains.ts';
import * as operations from './runtime-tokens.ts';
import type { ServiceToken } from './service-tokens.ts';

const scope = 'integrations:write';

const RuntimeToken = builder.objectRef<ServiceToken>('RuntimeToken').implement({
  description: 'A token with which runtimes claim runs of this organization, without its bearer value.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `svc_`; not a secret.'),
      name: string('A label for people; several tokens may have the same.'),
      createdAt: epochMs('When the token was created. A runtime token does not expire.'),
      lastUsedAt: epochMsOrNull('The last use, accurate to the minute; null when it was never used.'),
      revokedAt: epochMsOrNull('When the token was revoked; null for an active one.'),
      draining: strings('Names of the token’s runtimes that are draining: they take no new missions.'),
    }),
});

const RuntimeTokens = builder.objectRef<{ data: ServiceToken[] }>('RuntimeTokens').implement({
  description: 'The runtime tokens of an organization.',
  fields: (t) =>
    members(t, {
      data: typed([RuntimeToken], 'The active tokens, then the revoked ones, newest first: at most 100.'),
    }),
});

const CreatedRuntimeToken = builder.objectRef<operations.CreatedRuntimeToken>('CreatedRuntimeToken').implement({
  description: 'A new runtime token with its bearer value, which no other response contains.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `svc_`; not a secret.'),
      name: string('A label for people.'),
      token: string('The bearer value, `srv_…`. Only its digest is stored, so it cannot be returned again.'),
      createdAt: epochMs('When the token was created.'),
    }),
});

builder.queryField('runtimeTokens', (t) =>
  t.field({
    description: 'The runtime tokens of the organization, including revoked ones.',
    scope,
    type: RuntimeTokens,
    resolve: async (_, _args, { caller }) => ({ data: await operations.listRuntimeTokens(caller) }),
  }),
);

builder.mutationFields((t) => ({
  createRuntimeToken: t.field({
    description:
      'Creates a token for runtimes and returns its bearer value once. Its holder can claim runs of this organization, ' +
      'with the credentials of their models and repositories. Only a person who is signed in to the console may do this.',
    scope,
    type: CreatedRuntimeToken,
    args: {
      name: t.arg.string({
        required: true,
        description: `A label for people, ${range(text.tokenName)} characters.`,
        validate: { schema: nameText(text.tokenName) },
      }),
    },
    resolve: (_, { name }, { caller }) => operations.createRuntimeToken(caller, name),
  }),
  drainRuntime: t.field({
    description:
      'Tells a runtime of the organization to drain: it takes no new missions, finishes its current missions and then shuts down. With ' +
      '`isDraining: false`, tells a draining runtime to take missions again.',
    scope,
    type: RuntimeToken,
    args: {
      runtimeTokenId: t.arg.string({ ...pathId, description: 'The `tokenId` of the runtime.' }),
      name: t.arg.string({
        required: true,
        description: 'The `name` of the runtime.',
        validate: { schema: nameText(text.runtimeName) },
      }),
      isDraining: t.arg.boolean({
        defaultValue: true,
        required: true,
        description: 'True tells the runtime to drain, false to take missions again.',
      }),
    },
    resolve: (_, args, { caller }) => drainRuntime(caller, args),
  }),
  revokeRuntimeToken: t.field({
    description:
      'Revokes a runtime token at once: the runs of its runtimes wait for another runtime once their leases expire.',
    scope,
    type: RuntimeToken,
    args: { runtimeTokenId: t.arg.string({ ...pathId, description: 'The `id` of the token.' }) },
    resolve: (_, { runtimeTokenId }, { caller }) => operations.revokeRuntimeToken(caller, runtimeTokenId),
  }),
}));
