// The workspace after a step of a run, with the session files of its harnesses: a git bundle, kept as an artifact and for the same time.
// While a step runs, newer checkpoints replace its checkpoint.
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
  /** The commit of all files of the workspace; its parent is the commit that was checked out. */
  declare commitSha: string;
  /** The session of the harness that worked on the step; null: unknown. */
  declare sessionId: string | null;
  declare createdAt: number;
}
