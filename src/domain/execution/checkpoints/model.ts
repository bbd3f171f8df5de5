// The workspace as it was after a step of a run, with the session files of its harnesses: a bundle of git, kept as an artifact for
// as long as those are. While a step runs, its checkpoint is replaced by newer ones.
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { BaseModel } from '#foundation/postgres/base-model.ts';
import { Artifact } from '../../work/artifacts/model.ts';

export class Checkpoint extends BaseModel {
  static override tableName = 'checkpoints';
  static override noun = 'checkpoint';
  static override idColumn = 'stepId';
  static override order = '"step_id"';
  static override columns = [
    'stepId',
    'runId',
    'orgId',
    'projectId',
    'artifactId',
    'commitSha',
    'sessionId',
    'createdAt',
  ];
  static visibleTo = withinReach;

  static {
    this.belongsTo('artifact', Artifact, 'artifactId');
  }

  declare stepId: Id<'runStep'>;
  declare runId: Id<'run'>;
  declare orgId: Id<'organization'>;
  declare projectId: Id<'project'>;
  declare artifactId: Artifact['id'];
  /** Of all files of the workspace; its parent is the commit that was checked out. */
  declare commitSha: string;
  /** The session of the harness that worked on the step; null: unknown. */
  declare sessionId: string | null;
  declare createdAt: number;
}
