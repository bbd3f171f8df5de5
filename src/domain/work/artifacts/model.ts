// An artifact: a file that an agent submits as proof of its work (docs/contract.md#artifacts). The content is in the storage.
import { withinReach } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { type Source, selectionOf } from '#foundation/postgres/reads.ts';
import type { AgentRole } from '../../projects/agents/model.ts';
import { Project } from '../../projects/projects/model.ts';
import { Run } from '../runs/model.ts';
import { Sandbox } from '../sandboxes/model.ts';

export const artifactKinds = ['screenshot', 'video', 'trace', 'log', 'report', 'file'] as const;
export type ArtifactKind = (typeof artifactKinds)[number];

export class Artifact extends table('artifacts', {
  id: column<Id<'artifact'>>(),
  orgId: column<Id<'organization'>>(),
  projectId: column<Id<'project'>>(),
  issueId: column<string | null>(),
  /** The agent's session in the sandbox. */
  sessionId: column<string | null>(),
  sandboxId: column<Sandbox['id'] | null>(),
  role: column<AgentRole>(),
  kind: column<ArtifactKind>(),
  /** Media type that the runtime reported; browsers get a safe type instead (surfaces/artifacts). */
  contentType: column<string>(),
  sizeBytes: column<number>(),
  caption: column<string | null>(),
  /** The acceptance criterion that the artifact verifies, and whether it is met. */
  criterion: column<string | null>(),
  criterionPassed: column<boolean | null>(),
  /** URL of a page that shows the trace; null when the artifact is not a trace. */
  traceViewerUrl: column<string | null>(),
  contentKey: column<Id<'content'>>(),
  createdAt: column<number>(),
  /** From this time on the artifact no longer exists. */
  expiresAt: column<number>(),
}) {
  static override noun = 'artifact';

  static visibleTo = withinReach;
  static {
    this.belongsTo('project', Project, 'projectId', 'artifacts');
    this.belongsTo('sandbox', Sandbox, 'sandboxId', 'artifacts');
    Run.hasMany('artifacts', this, 'issueId', 'issueId');
  }

  /** An artifact that has expired no longer exists, whether or not it has been swept. */
  static override source(): Source {
    return { select: selectionOf(this), conditions: ['"expires_at" > $1'], values: [now()] };
  }
}

/** Content in the storage. Content without an artifact is removed after a day. */
export class StoredContent extends table('stored_contents', {
  key: column<Id<'content'>>(),
  /** The organization whose runtime may register the content as an artifact; null for the service's own contents. */
  orgId: column<Id<'organization'> | null>(),
  createdAt: column<number>(),
  /** Size of the content; null until the upload is complete. */
  sizeBytes: column<number | null>(),
  /** End of the time in which only the upload in progress may write the content; null while no upload is in progress. */
  uploadingUntil: column<number | null>(),
}) {
  static override noun = 'content';
  static override idColumn = 'key';
}
