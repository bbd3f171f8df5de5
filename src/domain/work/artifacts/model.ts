// An artifact: a file that an agent submits as proof of its work (docs/contract.md#artifacts). The content is in the storage.
import { withinReach } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { BaseModel } from '#foundation/postgres/base-model.ts';
import { type Source, selectionOf } from '#foundation/postgres/reads.ts';
import type { AgentRole } from '../../projects/agents/model.ts';
import { Project } from '../../projects/projects/model.ts';
import { Run } from '../runs/model.ts';
import { Sandbox } from '../sandboxes/model.ts';

export const artifactKinds = ['screenshot', 'video', 'trace', 'log', 'report', 'file'] as const;
export type ArtifactKind = (typeof artifactKinds)[number];

export class Artifact extends BaseModel {
  static override tableName = 'artifacts';
  static override noun = 'artifact';
  static override columns = [
    'id',
    'orgId',
    'projectId',
    'issueId',
    'sessionId',
    'sandboxId',
    'role',
    'kind',
    'contentType',
    'sizeBytes',
    'caption',
    'criterion',
    'criterionPassed',
    'traceViewerUrl',
    'contentKey',
    'createdAt',
    'expiresAt',
  ];

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

  declare id: Id<'artifact'>;
  declare orgId: Id<'organization'>;
  declare projectId: Id<'project'>;
  declare issueId: string | null;
  /** The session in the sandbox. */
  declare sessionId: string | null;
  declare sandboxId: Sandbox['id'] | null;
  declare role: AgentRole;
  declare kind: ArtifactKind;
  /** As reported by the runtime; browsers get a safe type instead (surfaces/artifacts). */
  declare contentType: string;
  declare sizeBytes: number;
  declare caption: string | null;
  /** The acceptance criterion that the artifact verifies, and whether it is met. */
  declare criterion: string | null;
  declare criterionPassed: boolean | null;
  /** Address of a viewer for a trace. */
  declare traceViewerUrl: string | null;
  declare contentKey: Id<'content'>;
  declare createdAt: number;
  /** From this time on the artifact no longer exists. */
  declare expiresAt: number;
}

/** A content in the storage. One without an artifact is removed after a day. */
export class StoredContent extends BaseModel {
  static override tableName = 'stored_contents';
  static override noun = 'content';
  static override idColumn = 'key';
  static override columns = ['key', 'orgId', 'createdAt', 'sizeBytes', 'uploadingUntil'];

  declare key: Id<'content'>;
  /** The organization whose runtime may register it as an artifact; null for the service's own contents. */
  declare orgId: Id<'organization'> | null;
  declare createdAt: number;
  /** Null until the upload is complete. */
  declare sizeBytes: number | null;
  /** The end of the current upload's exclusive hold. */
  declare uploadingUntil: number | null;
}
