// Artifacts on every surface (specification, Artifact; Sandboxes, environments, artifacts). Contents are not in the graph:
// `url` leads to them.
import { isoTime } from '#foundation/clock.ts';
import { builder } from '#graph/builder.ts';
import { toMany } from '#graph/context.ts';
import { filter, pathId } from '#graph/input.ts';
import { pageArguments, pageOf } from '#graph/page.ts';
import { wordSet } from '#graph/scalars.ts';
import { pages, shown } from '#limits.ts';
import { AgentRole } from '../agents/schema.ts';
import { ProjectType, projectOf } from '../projects/schema.ts';
import { SandboxType, sandboxOf } from '../sandboxes/schema.ts';
import { contentAddress } from './address.ts';
import { type Artifact, artifactKinds } from './model.ts';
import * as operations from './operations.ts';

export const ArtifactKind = wordSet('ArtifactKind', artifactKinds, 'What a piece of proof is.');

export const ArtifactType = builder.objectRef<Artifact>('Artifact').implement({
  description: 'Proof of work that an agent has left behind.',
  fields: (t) => ({
    id: t.exposeString('id'),
    projectId: t.exposeString('projectId'),
    issueId: t.exposeString('issueId', { nullable: true }),
    sessionId: t.exposeString('sessionId', { nullable: true }),
    sandboxId: t.exposeString('sandboxId', { nullable: true }),
    role: t.expose('role', { type: AgentRole.type }),
    kind: t.expose('kind', { type: ArtifactKind.type }),
    contentType: t.exposeString('contentType', { description: 'As the agent’s runtime says.' }),
    sizeBytes: t.exposeInt('sizeBytes'),
    caption: t.exposeString('caption', { nullable: true }),
    criterion: t.exposeString('criterion', {
      nullable: true,
      description: 'The acceptance criterion that it speaks of.',
    }),
    criterionPassed: t.exposeBoolean('criterionPassed', { nullable: true, description: 'Whether that was met.' }),
    createdAt: t.field({ type: 'IsoTime', resolve: ({ createdAt }) => isoTime(createdAt) }),
    expiresAt: t.field({
      type: 'IsoTime',
      description: 'From then on it is gone.',
      resolve: ({ expiresAt }) => isoTime(expiresAt),
    }),
    url: t.string({
      description: 'Where its content is downloaded: good for about an hour, without a credential.',
      resolve: ({ id }) => contentAddress(id),
    }),
    traceViewerUrl: t.exposeString('traceViewerUrl', { nullable: true }),
    project: t.field({
      link: 'projects:read',
      type: ProjectType,
      nullable: true,
      resolve: ({ projectId }, _args, context) => projectOf(context).load(projectId),
    }),
    sandbox: t.field({
      link: 'sandboxes:read',
      type: SandboxType,
      nullable: true,
      resolve: ({ sandboxId }, _args, context) => (sandboxId ? sandboxOf(context).load(sandboxId) : null),
    }),
  }),
});

const ofProject = toMany<Artifact>(operations.artifactsOfProjects, ({ projectId }) => projectId);
/** The newest few of an issue, batched. */
export const artifactsOfIssue = toMany<Artifact>(operations.artifactsOfIssues, ({ issueId }) => issueId!);
const ofSandbox = toMany<Artifact>(operations.artifactsOfSandboxes, ({ sandboxId }) => sandboxId!);
builder.objectField(ProjectType, 'artifacts', (t) =>
  t.field({
    description: 'The newest 20.',
    link: 'artifacts:read',
    type: [ArtifactType],
    complexity: { field: 1, multiplier: shown.perParent },
    resolve: ({ id }, _args, context) => ofProject(context).load(id),
  }),
);
builder.objectField(SandboxType, 'artifacts', (t) =>
  t.field({
    description: 'The newest 20.',
    link: 'artifacts:read',
    type: [ArtifactType],
    complexity: { field: 1, multiplier: shown.perParent },
    resolve: ({ id }, _args, context) => ofSandbox(context).load(id),
  }),
);

const ArtifactPage = pageOf('ArtifactPage', ArtifactType);

builder.queryFields((t) => ({
  artifacts: t.field({
    description: 'The artifacts of the organization, newest first.',
    scope: 'artifacts:read',
    rest: 'GET /artifacts',
    tool: 'list_artifacts',
    type: ArtifactPage,
    args: {
      issueId: t.arg.string(filter),
      projectId: t.arg.string(filter),
      sandboxId: t.arg.string(filter),
      ...pageArguments(pages.artifacts),
    },
    resolve: (_, args, { caller }) => operations.listArtifacts(caller, args),
  }),
  artifact: t.field({
    description: 'One artifact.',
    scope: 'artifacts:read',
    rest: 'GET /artifacts/{artifactId}',
    tool: 'get_artifact',
    type: ArtifactType,
    args: { artifactId: t.arg.string(pathId) },
    resolve: (_, { artifactId }, { caller }) => operations.findArtifact(caller, artifactId),
  }),
}));
