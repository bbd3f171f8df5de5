// A version of a change: the diff that a runtime has reported for a branch at one of the commits of the branch.
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { Artifact } from '../artifacts/model.ts';
import type { Run } from '../runs/model.ts';

export class ChangeVersion extends table('change_versions', {
  runId: column<Run['id']>(),
  headSha: column<string>(),
  orgId: column<Id<'organization'>>(),
  projectId: column<Id<'project'>>(),
  branch: column<string>(),
  /** The role of the agent whose step made the version. */
  role: column<string>(),
  artifactId: column<Artifact['id']>(),
  /** Artifact with the diff of each commit; null when the runtime did not report it. */
  commitsArtifactId: column<Artifact['id'] | null>(),
  commits: column<number | null>(),
  changedFiles: column<number | null>(),
  insertions: column<number | null>(),
  deletions: column<number | null>(),
  createdAt: column<number>(),
}) {
  static override noun = 'version of a change';
  static override idColumn = ['runId', 'headSha'];
  static override order = '"created_at" desc, "run_id" desc, "head_sha"';
  static visibleTo = withinReach;

  static {
    this.belongsTo('artifact', Artifact, 'artifactId');
    this.belongsTo('commitsArtifact', Artifact, 'commitsArtifactId');
  }
}
