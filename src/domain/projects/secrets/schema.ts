// Secrets and variables in all APIs. No API returns their values.
import { z } from 'zod';
import { okIdAnswer } from '#graph/acknowledgement.ts';
import { builder } from '#graph/builder.ts';
import { toOne } from '#graph/context.ts';
import { filter, pathId, request } from '#graph/input.ts';
import { boolean, epochMs, epochMsOrNull, members, string, stringOrNull, strings, typed } from '#graph/members.ts';
import { pageArguments, pageOf } from '#graph/page.ts';
import { wordSet } from '#graph/scalars.ts';
import { boundedText, range } from '#graph/validation.ts';
import { pages, text } from '#limits.ts';
import { environmentName, policyHost } from '../sandbox-templates/schema-parts.ts';
import { secretCounts, secretValue } from './bounds.ts';
import { Secret, secretKinds, secretScopes } from './model.ts';
import * as operations from './operations.ts';

const SecretScope = wordSet('SecretScope', secretScopes, 'The missions that get a secret or variable.', {
  organization: 'All missions of the organization.',
  project: 'The missions of one project; the value overrides the same name of the organization.',
  template: 'The missions of one sandbox template; the value overrides the same name of the project.',
});
const SecretKind = wordSet('SecretKind', secretKinds, 'Kind of value: an environment variable or a secret.', {
  variable: 'An environment variable of the setup and of agents.',
  secret: 'A secret for the setup only, or for requests to named hosts; agents see at most a placeholder.',
});

const setters = toOne(operations.settersOf, ({ id }) => id);

const SecretType = builder.modelType(Secret, 'Secret').implement({
  description: 'A secret or variable of the environment of agents. Its value can be written but not read.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `sec_`.'),
      orgId: string('The organization of the secret or variable.'),
      scope: typed(SecretScope.type, 'The missions that get the secret or variable.'),
      projectId: stringOrNull('The project, if the scope is `project`; null otherwise.'),
      templateId: stringOrNull('The sandbox template, if the scope is `template`; null otherwise.'),
      kind: typed(SecretKind.type, 'Kind of value: an environment variable or a secret.'),
      name: string('Name of the environment variable; unique in its scope.'),
      hosts: strings('The hosts to which requests carry the value of a secret.'),
      setupOnly: boolean('Whether only the setup gets the secret or variable.'),
      lastUsedAt: epochMsOrNull('When a runtime last got the secret or variable for a step; null before.'),
      setBy: t.string({
        nullable: true,
        graphOnly: true,
        description:
          'Name of the person who last set the value; null when a program set it, and once the account is deleted.',
        resolve: async ({ setByUserId }, _, context) =>
          setByUserId === null ? null : ((await setters(context).load(setByUserId))?.name ?? null),
      }),
      createdAt: epochMs('When the secret or variable was created.'),
      updatedAt: epochMs('When the secret or variable was last changed.'),
    }),
});
const SecretPage = pageOf('SecretPage', SecretType);
const DeleteSecretResponse = okIdAnswer('DeleteSecretResponse');

const value = boundedText(secretValue).describe(
  `${range(secretValue)} characters; a secret has at least ${secretValue.shortestSecret}. The value cannot be read again.`,
);
const hosts = z
  .array(policyHost)
  .max(secretCounts.hosts)
  .optional()
  .describe(
    `Hosts to which request headers may carry the secret: at most ${secretCounts.hosts}. ` +
      'The network policy must allow these hosts too. Not allowed for a variable.',
  );
const setupOnly = z
  .boolean()
  .optional()
  .describe('Whether only the setup gets the secret; such a secret has no hosts.');
const CreateSecretRequest = request(
  'CreateSecretRequest',
  z
    .object({
      scope: SecretScope.zod.describe('The missions that get the secret or variable.'),
      projectId: boundedText(text.pathId).nullish().describe('Required with the scope `project`.'),
      templateId: boundedText(text.pathId).nullish().describe('Required with the scope `template`.'),
      kind: SecretKind.zod.describe('Kind of value: an environment variable or a secret.'),
      name: environmentName,
      value,
      hosts,
      setupOnly,
    })
    .meta({
      description: 'A new secret or variable.',
      examples: [
        {
          scope: 'organization',
          kind: 'secret',
          name: 'NPM_TOKEN',
          value: 'npm_0123456789',
          hosts: ['npm.example.com'],
        },
      ],
    }),
);
const UpdateSecretRequest = request(
  'UpdateSecretRequest',
  z
    .object({ value: value.optional(), hosts, setupOnly })
    .meta({ description: 'Omitted fields keep their value.', examples: [{ value: 'npm_9876543210' }] }),
);

builder.queryFields((t) => ({
  secrets: t.field({
    description: 'The secrets and variables, newest first, without their values.',
    scope: 'secrets:read',
    rest: 'GET /secrets',
    tool: 'list_secrets',
    type: SecretPage,
    args: {
      scope: t.arg({ type: SecretScope.type, description: 'Only secrets and variables of this scope.' }),
      projectId: t.arg.string({ ...filter, description: 'Only secrets and variables of this project.' }),
      templateId: t.arg.string({ ...filter, description: 'Only secrets and variables of this sandbox template.' }),
      ...pageArguments(pages.other),
    },
    resolve: (_, args, { caller }) => operations.listSecrets(caller, args),
  }),
  secret: t.field({
    description: 'A secret or variable by its id, without its value.',
    scope: 'secrets:read',
    rest: 'GET /secrets/{secretId}',
    type: SecretType,
    args: { secretId: t.arg.string(pathId) },
    resolve: (_, { secretId }, { caller }) => operations.findSecret(caller, secretId),
  }),
}));

builder.mutationFields((t) => ({
  createSecret: t.field({
    description: 'Creates a secret or variable, which missions get from their next step on.',
    scope: 'secrets:write',
    rest: { route: 'POST /secrets', status: 201, errors: [404, 409] },
    type: SecretType,
    args: { input: t.arg({ type: CreateSecretRequest, required: true, description: 'The new secret or variable.' }) },
    resolve: (_, { input }, { caller }) => operations.createSecret(caller, input),
  }),
  updateSecret: t.field({
    description: 'Changes the value of a secret or variable, or the places where a secret is used.',
    scope: 'secrets:write',
    rest: 'PATCH /secrets/{secretId}',
    type: SecretType,
    args: {
      secretId: t.arg.string(pathId),
      input: t.arg({ type: UpdateSecretRequest, required: true, description: 'The fields to change.' }),
    },
    resolve: (_, { secretId, input }, { caller }) => operations.updateSecret(caller, secretId, input),
  }),
  deleteSecret: t.field({
    description: 'Deletes a secret or variable.',
    scope: 'secrets:write',
    rest: 'DELETE /secrets/{secretId}',
    type: DeleteSecretResponse,
    args: { secretId: t.arg.string(pathId) },
    resolve: (_, { secretId }, { caller }) => operations.deleteSecret(caller, secretId),
  }),
}));
