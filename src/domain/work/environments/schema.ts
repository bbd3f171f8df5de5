// Preview environments in all APIs (docs/contract.md#environments).
import { builder } from '#graph/builder.ts';
import { filter, pathId } from '#graph/input.ts';
import { belongsTo, epochMs, epochMsOrNull, intOrNull, members, string, stringOrNull, typed } from '#graph/members.ts';
import { pageArguments, pageOf } from '#graph/page.ts';
import { wordSet } from '#graph/scalars.ts';
import { pages, previewSizes } from '#limits.ts';
import { ProjectType } from '../../projects/projects/schema.ts';
import { Environment, environmentStatuses } from './model.ts';
import * as operations from './operations.ts';

const EnvironmentStatus = wordSet('EnvironmentStatus', environmentStatuses, 'Status of a preview environment.', {
  provisioning: 'The runtime is starting it.',
  active: 'The environment can be reached at its URL.',
  destroying: 'The runtime is taking the environment down.',
  destroyed: 'The environment has been taken down.',
  failed: 'The environment could not be started or taken down, or its runtime stopped sending heartbeats.',
});

const EnvironmentType = builder.modelType(Environment, 'Environment').implement({
  description: 'A deployment that shows a change before it is merged.',
  fields: (t) =>
    members(t, {
      environmentId: t.exposeString('id', { description: 'The id, which starts with `env_`.' }),
      projectId: string('The project whose change the environment runs.'),
      issueId: stringOrNull(
        'The environment shows a change that a mission has made. This is the id of the mission’s issue in the tracker.',
      ),
      prNumber: intOrNull('The pull request of the change.'),
      workerName: stringOrNull('The name of the deployment at the platform that runs it.'),
      status: typed(
        EnvironmentStatus.type,
        'Status of the environment; `destroying` and `failed` can follow at any time.',
      ),
      createdAt: epochMs('When the runtime registered the environment.'),
      expiresAt: epochMsOrNull('When the environment is destroyed automatically; null means never.'),
      destroyedAt: epochMsOrNull('When the environment was destroyed; null until then.'),
      project: belongsTo('projects:read', 'The project; null when the caller is not allowed to read projects.'),
    }),
});

builder.objectField(ProjectType, 'environments', (t) =>
  t.hasMany('environments', {
    link: 'environments:read',
    limit: previewSizes.perParent,
    description: `The newest ${previewSizes.perParent} environments; the query of the same name pages through all.`,
  }),
);

const EnvironmentPage = pageOf('EnvironmentPage', EnvironmentType);
const EnvironmentDetail = builder.objectRef<{ environment: Environment }>('EnvironmentDetail').implement({
  description: 'A preview environment, as REST returns it.',
  fields: (t) => members(t, { environment: typed(EnvironmentType, 'The environment.') }),
});
const DestroyEnvironmentResponse = builder
  .objectRef<{ ok: true; environmentId: string }>('DestroyEnvironmentResponse')
  .implement({
    description: 'Confirms that the environment is to be destroyed.',
    fields: (t) =>
      members(t, {
        ok: typed('True', 'Confirms the request, even when the environment was already destroyed.'),
        environmentId: string('The id of the environment; starts with `env_`.'),
      }),
  });

builder.queryFields((t) => ({
  environments: t.field({
    description: 'The preview environments of the organization, newest first.',
    scope: 'environments:read',
    rest: 'GET /environments',
    tool: 'list_environments',
    type: EnvironmentPage,
    args: {
      issueId: t.arg.string(filter),
      projectId: t.arg.string(filter),
      status: t.arg({
        type: EnvironmentStatus.type,
        description: 'Only environments in this status; absent means all.',
      }),
      ...pageArguments(pages.environments),
    },
    resolve: (_, args, { caller }) => operations.listEnvironments(caller, args),
  }),
  environment: t.field({
    description: 'One preview environment.',
    scope: 'environments:read',
    rest: 'GET /environments/{environmentId}',
    tool: 'get_environment',
    type: EnvironmentDetail,
    args: { environmentId: t.arg.string(pathId) },
    resolve: async (_, { environmentId }, { caller }) => ({
      environment: await operations.findEnvironment(caller, environmentId),
    }),
  }),
}));

builder.mutationField('destroyEnvironment', (t) =>
  t.field({
    description:
      'Requests the destruction of a preview environment, even of a failed one. A repeated request changes nothing.',
    scope: 'environments:write',
    rest: 'DELETE /environments/{environmentId}',
    tool: { name: 'destroy_environment', destructive: true, idempotent: true },
    type: DestroyEnvironmentResponse,
    args: { environmentId: t.arg.string(pathId) },
    resolve: (_, { environmentId }, { caller }) => operations.destroyEnvironment(caller, environmentId),
  }),
);
