// Preview environments on every surface (specification, Environment; Sandboxes, environments, artifacts).
import { builder } from '#graph/builder.ts';
import { toMany } from '#graph/context.ts';
import { filter, pathId } from '#graph/input.ts';
import { pageArguments, pageOf } from '#graph/page.ts';
import { wordSet } from '#graph/scalars.ts';
import { pages, shown } from '#limits.ts';
import { ProjectType, projectOf } from '../projects/schema.ts';
import { type Environment, environmentStatuses } from './model.ts';
import * as operations from './operations.ts';

const EnvironmentStatus = wordSet('EnvironmentStatus', environmentStatuses, 'How far a preview environment is.');

const EnvironmentType = builder.objectRef<Environment>('Environment').implement({
  description: 'Where a change can be tried before it is merged.',
  fields: (t) => ({
    environmentId: t.exposeString('id'),
    projectId: t.exposeString('projectId'),
    issueId: t.exposeString('issueId', { nullable: true, description: 'The issue whose change it shows.' }),
    prNumber: t.exposeInt('prNumber', { nullable: true, description: 'The pull request of the change.' }),
    workerName: t.exposeString('workerName', { nullable: true, description: 'What it is called where it runs.' }),
    status: t.expose('status', { type: EnvironmentStatus.type }),
    createdAt: t.expose('createdAt', { type: 'EpochMs' }),
    expiresAt: t.expose('expiresAt', { type: 'EpochMs', nullable: true }),
    destroyedAt: t.expose('destroyedAt', { type: 'EpochMs', nullable: true }),
    project: t.field({
      link: 'projects:read',
      type: ProjectType,
      nullable: true,
      resolve: ({ projectId }, _args, context) => projectOf(context).load(projectId),
    }),
  }),
});

const environmentsOf = toMany<Environment>(operations.environmentsOfProjects, ({ projectId }) => projectId);
builder.objectField(ProjectType, 'environments', (t) =>
  t.field({
    description: 'The newest 20.',
    link: 'environments:read',
    type: [EnvironmentType],
    complexity: { field: 1, multiplier: shown.perParent },
    resolve: ({ id }, _args, context) => environmentsOf(context).load(id),
  }),
);

const EnvironmentPage = pageOf('EnvironmentPage', EnvironmentType);
const EnvironmentDetail = builder.objectRef<{ environment: Environment }>('EnvironmentDetail').implement({
  fields: (t) => ({ environment: t.expose('environment', { type: EnvironmentType }) }),
});
const DestroyEnvironmentResponse = builder
  .objectRef<{ ok: true; environmentId: string }>('DestroyEnvironmentResponse')
  .implement({
    fields: (t) => ({ ok: t.expose('ok', { type: 'True' }), environmentId: t.exposeString('environmentId') }),
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
      status: t.arg({ type: EnvironmentStatus.type }),
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
    description: 'Asks for a preview environment to be destroyed, also a failed one. Asking twice changes nothing.',
    scope: 'environments:write',
    rest: 'DELETE /environments/{environmentId}',
    tool: 'destroy_environment',
    type: DestroyEnvironmentResponse,
    args: { environmentId: t.arg.string(pathId) },
    resolve: (_, { environmentId }, { caller }) => operations.destroyEnvironment(caller, environmentId),
  }),
);
