// The workspace after a step of a run, with the session files of its harnesses. The checkpoint is a git bundle, stored as an artifact and
// kept as long as other artifacts. During a step, each newer checkpoint replaces the previous one of the step.
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { Artifact } from '../../work/artifacts/model.ts';

export class Checkpoint extends table('checkpoints', {
  stepId: column<Id<'runStep'>>(),
  runId: column<Id<'run'>>(),
  orgId: column<Id<'organization'>>(),
  projectId: column<Id<'project'>>(),
  artifactId: column<Artifact['id']>(),
  /** The commit of all files of the workspace; its parent is the commit that was checked out. */
  commitSha: column<string>(),
  /** The session of the harness that worked on the step; null means unknown. */
  sessionId: column<string | null>(),
  createdAt: column<number>(),
}) {
  static override noun = 'checkpoint';
  static override idColumn = 'stepId';
  static override order = '"step_id"';
  static visibleTo = withinReach;

  static {
    this.belongsTo('artifact', Artifact, 'artifactId');
  }
}
