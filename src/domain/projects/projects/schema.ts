// Projects in all APIs (docs/contract.md#projects).
import { z } from 'zod';
import { ownOrganization } from '#access/reach.ts';
import { okIdAnswer } from '#graph/acknowledgement.ts';
import { builder } from '#graph/builder.ts';
import { toOne } from '#graph/context.ts';
import { filter, pathId, request } from '#graph/input.ts';
import { belongsTo, boolean, epochMs, members, string, stringOrNull, typed } from '#graph/members.ts';
import { orderArgument, pageArguments, pageOf } from '#graph/page.ts';
import { wordSet } from '#graph/scalars.ts';
import { boundedText, nameText, range } from '#graph/validation.ts';
import { pages, text } from '#limits.ts';
import { repositoryPattern } from '../integrations/repository-name.ts';
import { IntegrationType, ProjectConnectorKind } from '../integrations/schema.ts';
import { trackerWords } from '../integrations/vendor-words.ts';
import { loadTemplate, SandboxTemplateType } from '../sandbox-templates/schema.ts';
import { countDependentProjects } from './connectors.ts';
import { missingConnectorKinds, Project, projectStatuses } from './model.ts';
import * as operations from './operations.ts';

const ProjectStatus = wordSet('ProjectStatus', projectStatuses, 'Whether missions may start on the project.', {
  active: 'Missions may start.',
  paused: 'No mission starts until it is active again; open runs continue.',
  archived: 'No longer used: no mission starts.',
});
const ProjectTracker = wordSet(
  'ProjectTracker',
  trackerWords.names,
  'Tracker of the project’s issues.',
  trackerWords.texts,
);

export const ProjectType = builder.modelType(Project, 'Project').implement({
  description: 'A tracker, a repository and a language model that missions work with.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `prj_`.'),
      orgId: string('The id of the organization; starts with `org_`.'),
      slug: string('The slug, unique in the organization; it does not change when the project is renamed.'),
      name: string(`The name, ${range(text.projectName)} characters; not unique.`),
      status: typed(ProjectStatus.type, 'Status of the project; missions start only on an active one.'),
      tracker: typed(ProjectTracker.type, 'The kind of issue tracker.'),
      trackerConnectorId: stringOrNull(
        'The integration of the tracker; null for a built-in tracker without an integration.',
      ),
      trackerTeamId: stringOrNull('The team in the tracker; null when the tracker has none.'),
      trackerProjectId: stringOrNull('Not used yet: always null.'),
      scmConnectorId: t.string({
        description: 'The integration of the source host; empty while `missingConnectorKinds` names `scm`.',
        resolve: (project) => project.scmConnectorId ?? '',
      }),
      scmOwner: string('Owner of the repository: the part before the slash.'),
      scmRepo: string('Name of the repository: the part after the slash.'),
      llmConnectorId: t.string({
        description: 'The integration of the language model; empty while `missingConnectorKinds` names `llm`.',
        resolve: (project) => project.llmConnectorId ?? '',
      }),
      autoMerge: boolean(
        'Whether the pull request of a completed run is merged without a person, by the platform: at the commit that a reviewer ' +
          'of the run has approved, once its checks have passed. The pull request of a run without a reviewer is never merged this way.',
      ),
      issueCode: stringOrNull('The prefix of issue keys.'),
      defaultSandboxTemplateId: stringOrNull(
        'The sandbox template for agents whose own template is `standard`; null means `standard`.',
      ),
      defaultSandboxTemplate: t.field({
        type: SandboxTemplateType,
        nullable: true,
        graphOnly: true,
        description: 'The template for agents whose own template is `standard`; null without one.',
        resolve: ({ defaultSandboxTemplateId: id }, _, context) =>
          id === null ? null : loadTemplate(context).load(id),
      }),
      createdAt: epochMs('When the project was created.'),
      missingConnectorKinds: t.field({
        description: 'The kinds of connector that the project lacks; absent when it lacks none.',
        absent: true,
        nullable: true,
        type: [ProjectConnectorKind.type],
        resolve: (project) => {
          const kinds = missingConnectorKinds(project);
          return kinds.length > 0 ? kinds : null;
        },
      }),
      organization: belongsTo(
        'organizations:read',
        'The organization of the project; null when the caller is not allowed to read organizations.',
      ),
      trackerConnector: belongsTo('integrations:read', 'The integration of the tracker; null without one.'),
      scmConnector: belongsTo('integrations:read', 'The integration of the source host; null without one.'),
      llmConnector: belongsTo('integrations:read', 'The integration of the language model; null without one.'),
    }),
});

const dependentsOf = toOne<{ id: string; projects: number }>(
  (ids, caller) => countDependentProjects(ids, ownOrganization(caller)),
  ({ id }) => id,
);
builder.objectField(IntegrationType, 'dependentProjectCount', (t) =>
  t.int({
    description: 'Number of projects that use the integration.',
    resolve: async ({ id }, _args, context) => (await dependentsOf(context).load(id))?.projects ?? 0,
  }),
);

const ProjectPage = pageOf('ProjectPage', ProjectType);
const DeleteProjectResponse = okIdAnswer('DeleteProjectResponse');

const name = nameText(text.projectName).describe(`The name, ${range(text.projectName)} characters.`);
const repoFullName = boundedText(text.repoFullName)
  .regex(repositoryPattern, 'must be <owner>/<repo>: two parts without white space, one slash')
  .describe('The repository, `<owner>/<repo>`.');
const issueCode = z
  .string()
  .regex(/^[A-Z][A-Z0-9]{1,9}$/, 'must be 2 to 10 capital letters or digits, beginning with a letter')
  .nullable()
  .describe('The prefix of issue keys: 2 to 10 capital letters or digits, beginning with a letter; or null.');
const trackerTeamKey = boundedText(text.trackerTeamKey).describe('The key of the team in the tracker.');

const CreateProjectRequest = request(
  'CreateProjectRequest',
  z
    .object({
      name,
      repoFullName,
      tracker: ProjectTracker.zod.default('builtin').describe('The tracker of its issues; `builtin` when absent.'),
      trackerTeamKey: trackerTeamKey.optional(),
      issueCode: issueCode.optional(),
    })
    .meta({
      description: 'A new project of the organization.',
      examples: [{ name: 'Web shop', repoFullName: 'acme/shop', tracker: 'builtin', issueCode: 'WEB' }],
    }),
);
const UpdateProjectRequest = request(
  'UpdateProjectRequest',
  z
    .object({
      name: name.optional(),
      status: ProjectStatus.zod
        .optional()
        .describe('Status of the project. Missions start only while the project is `active`.'),
      autoMerge: z.boolean().optional().describe('Whether an approved change merges without a person.'),
      issueCode: issueCode.optional(),
      defaultSandboxTemplateId: boundedText(text.pathId)
        .nullable()
        .optional()
        .describe('A sandbox template of the organization, or `standard`; null also means `standard`.'),
      trackerTeamKey: trackerTeamKey.optional(),
      repoFullName: repoFullName.optional(),
    })
    .meta({
      description: 'Omitted members stay unchanged.',
      examples: [{ status: 'paused', issueCode: null }],
    }),
);

builder.queryFields((t) => ({
  projects: t.field({
    description: 'The projects of the organization, newest first.',
    scope: 'projects:read',
    rest: { route: 'GET /projects', without: ['status', 'nameContains', 'order'] },
    tool: 'list_projects',
    type: ProjectPage,
    args: {
      ...pageArguments(pages.projects),
      byTrackerConnectorId: t.arg.string({
        ...filter,
        description: 'Only projects whose tracker uses this connector.',
      }),
      byTrackerTeamId: t.arg.string({ ...filter, description: 'Only projects with this team of the tracker.' }),
      byTrackerProjectId: t.arg.string({
        ...filter,
        description:
          'Only projects with this `trackerProjectId`. No project has one yet, so this filter matches no project.',
      }),
      byScmConnectorId: t.arg.string({
        ...filter,
        description: 'Only projects whose source host uses this connector.',
      }),
      byScmOwner: t.arg.string({ ...filter, description: 'Only projects whose repository has this owner.' }),
      byScmRepo: t.arg.string({ ...filter, description: 'Only projects whose repository has this name.' }),
      status: t.arg({ type: ProjectStatus.type, description: 'Only projects in this status.' }),
      nameContains: t.arg.string({
        ...filter,
        description: 'Only projects whose name contains this text, case-insensitive.',
      }),
      ...orderArgument(),
    },
    resolve: (_, args, { caller }) => operations.listProjects(caller, args),
  }),
  project: t.field({
    description: 'A project by its id, even an archived one.',
    scope: 'projects:read',
    rest: 'GET /projects/{projectId}',
    tool: 'get_project',
    type: ProjectType,
    args: { projectId: t.arg.string(pathId) },
    resolve: (_, { projectId }, { caller }) => operations.findProject(caller, projectId),
  }),
}));

builder.mutationFields((t) => ({
  createProject: t.field({
    description: 'Creates a project for a repository, with the connectors of the organization.',
    scope: 'projects:write',
    rest: { route: 'POST /projects', status: 201, errors: [402, 409] },
    tool: 'create_project',
    type: ProjectType,
    args: { input: t.arg({ type: CreateProjectRequest, required: true, description: 'The new project.' }) },
    resolve: (_, { input }, { caller }) => operations.createProject(caller, input),
  }),
  updateProject: t.field({
    description:
      'Changes a project. Omitted fields keep their value; null clears optional fields. A project-bound ' +
      'credential may change only its own project.',
    scope: 'projects:write',
    rest: { route: 'PATCH /projects/{projectId}', errors: [409] },
    tool: { name: 'update_project', idempotent: true },
    type: ProjectType,
    args: {
      projectId: t.arg.string(pathId),
      input: t.arg({ type: UpdateProjectRequest, required: true, description: 'The fields to change.' }),
    },
    resolve: (_, { projectId, input }, { caller }) => operations.updateProject(caller, projectId, input),
  }),
  deleteProject: t.field({
    description: 'Deletes a project and revokes the credentials bound to it.',
    scope: 'projects:write',
    rest: 'DELETE /projects/{projectId}',
    tool: { name: 'delete_project', destructive: true, idempotent: true },
    type: DeleteProjectResponse,
    args: { projectId: t.arg.string(pathId) },
    resolve: (_, { projectId }, { caller }) => operations.deleteProject(caller, projectId),
  }),
}));
