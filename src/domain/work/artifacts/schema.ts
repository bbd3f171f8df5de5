// Artifacts in all APIs (docs/contract.md#artifacts). Records contain the URL of the content, not the content itself.
import { isoTime } from '#foundation/clock.ts';
import { builder } from '#graph/builder.ts';
import { filter, pathId } from '#graph/input.ts';
import { belongsTo, booleanOrNull, int, members, string, stringOrNull, typed } from '#graph/members.ts';
import { orderArgument, pageArguments, pageOf } from '#graph/page.ts';
import { wordSet } from '#graph/scalars.ts';
import { pages, previewSizes } from '#limits.ts';
import { AgentRole } from '../../projects/agents/schema-catalog.ts';
import { ProjectType } from '../../projects/projects/schema.ts';
import { RunType } from '../runs/schema.ts';
import { SandboxType } from '../sandboxes/schema.ts';
import { contentAddress, traceViewerAddress } from './address.ts';
import { Artifact, artifactKinds } from './model.ts';
import * as operations from './operations.ts';

export const ArtifactKind = wordSet('ArtifactKind', artifactKinds, 'Kind of an artifact.', {
  screenshot: 'An image of a page.',
  video: 'A recording.',
  trace: 'A recorded browser session, for a trace viewer.',
  log: 'Output of a program.',
  report: 'A document for people to read.',
  file: 'Any other file.',
});

export const ArtifactType = builder.modelType(Artifact, 'Artifact').implement({
  description: 'A file that an agent has submitted as evidence of its work.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `art_`.'),
      projectId: string('The id of the project; starts with `prj_`.'),
      issueId: stringOrNull('The tracker’s id of the issue that the artifact was created for.'),
      sessionId: stringOrNull('The session in the sandbox; null when unknown.'),
      sandboxId: stringOrNull('The sandbox that the artifact was created in; null when unknown.'),
      role: typed(AgentRole.type, 'The role of the agent that submitted the artifact.'),
      kind: typed(ArtifactKind.type, 'Kind of content.'),
      contentType: string('Media type, as reported by the runtime.'),
      sizeBytes: int('Size of the content in bytes.'),
      caption: stringOrNull('Description for display; null without one.'),
      criterion: stringOrNull(
        'The acceptance criterion that the artifact is evidence for, as the runtime reported it; null when the runtime reported none.',
      ),
      criterionPassed: booleanOrNull(
        'Whether the acceptance criterion is met, as the runtime reported it; null when it reported nothing about this.',
      ),
      createdAt: t.field({
        type: 'IsoTime',
        description: 'Time of the registration.',
        resolve: ({ createdAt }) => isoTime(createdAt),
      }),
      expiresAt: t.field({
        type: 'IsoTime',
        description:
          'Expiry: from this time on the artifact no longer exists. The retention of the organization may delete it earlier.',
        resolve: ({ expiresAt }) => isoTime(expiresAt),
      }),
      url: t.string({
        description: 'URL for the download of the content: valid for about an hour, without a credential.',
        resolve: ({ id }) => contentAddress(id),
      }),
      traceViewerUrl: t.string({
        nullable: true,
        description:
          'URL of a viewer for a trace: the one that the runtime reported, else that of the installation (`TRACE_VIEWER_URL`); null without one.',
        resolve: ({ id, kind, traceViewerUrl }) => traceViewerUrl ?? (kind === 'trace' ? traceViewerAddress(id) : null),
      }),
      project: belongsTo('projects:read', 'The project; null when the caller is not allowed to read projects.'),
      sandbox: belongsTo(
        'sandboxes:read',
        'The sandbox; null without one, or when the caller is not allowed to read sandboxes.',
      ),
    }),
});

const newest = {
  description: `The newest ${previewSizes.perParent} artifacts.`,
  link: 'artifacts:read',
  limit: previewSizes.perParent,
} as const;
builder.objectField(ProjectType, 'artifacts', (t) => t.hasMany('artifacts', newest));
builder.objectField(SandboxType, 'artifacts', (t) => t.hasMany('artifacts', newest));

builder.objectField(RunType, 'changeDiff', (t) =>
  t.byId(ArtifactType, 'changeArtifactId', {
    link: 'artifacts:read',
    description:
      'The changes of the run’s branch against its base, as `git diff` prints them, cut off after 10 million characters; null without ' +
      'changes, once the artifact has expired, and when the caller is not allowed to read artifacts.',
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
      kind: t.arg({ type: ArtifactKind.type, description: 'Only artifacts of this kind.' }),
      ...orderArgument(),
      ...pageArguments(pages.artifacts),
    },
    resolve: (_, args, { caller }) => operations.listArtifacts(caller, args),
  }),
  artifact: t.field({
    description: 'An artifact by its id; `url` leads to its content.',
    scope: 'artifacts:read',
    rest: 'GET /artifacts/{artifactId}',
    tool: 'get_artifact',
    type: ArtifactType,
    args: { artifactId: t.arg.string(pathId) },
    resolve: (_, { artifactId }, { caller }) => operations.findArtifact(caller, artifactId),
  }),
}));
