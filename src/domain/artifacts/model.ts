// An artifact: proof of work that an agent leaves behind (specification, Artifact). Its content lies in the storage.
import { withinReach } from '#access/reach.ts';
import { BaseModel, type Source, selectionOf } from '#foundation/base-model.ts';
import { now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import type { AgentRole } from '../agents/model.ts';
import { Project } from '../projects/model.ts';
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
  /** Of the session in its sandbox. */
  declare sessionId: string | null;
  declare sandboxId: Sandbox['id'] | null;
  declare role: AgentRole;
  declare kind: ArtifactKind;
  /** As the runtime says; it is not what a browser is told (surfaces/artifacts). */
  declare contentType: string;
  declare sizeBytes: number;
  declare caption: string | null;
  /** The acceptance criterion that it speaks of, and whether it was met. */
  declare criterion: string | null;
  declare criterionPassed: boolean | null;
  /** Where a trace can be looked at. */
  declare traceViewerUrl: string | null;
  declare contentKey: Id<'content'>;
  declare createdAt: number;
  /** From then on the artifact is gone. */
  declare expiresAt: number;
}

/** A content in the storage. One that belongs to no artifact after a while was never finished, or has outlived its artifact. */
export class StoredContent extends BaseModel {
  static override tableName = 'stored_contents';
  static override idColumn = 'key';
  static override columns = ['key', 'orgId', 'createdAt', 'sizeBytes', 'uploadingUntil'];

  declare key: Id<'content'>;
  /** Whose runtime may make an artifact of it; null for what the service keeps by itself. */
  declare orgId: Id<'organization'> | null;
  declare createdAt: number;
  /** Null until all of it has arrived. */
  declare sizeBytes: number | null;
  /** Until when whoever is sending it has it for himself. */
  declare uploadingUntil: number | null;
}
