// The content of a changed file before or after the change, for files that cannot be compared line by line, such as images.
import type { Caller } from '#access/principal.ts';
import { invalid } from '#foundation/problem.ts';
import { Project } from '../../projects/projects/model.ts';
import { hostOf } from '../../projects/vendors/source-host-of.ts';
import { Artifact } from '../../work/artifacts/model.ts';
import { changedPaths } from '../../work/attempts/paths.ts';
import { findRun } from '../../work/runs/operations.ts';

export interface ChangedFileRequest {
  runId: string;
  path: string;
  side: 'old' | 'new';
}

/**
 * Reads a file before or after the change. Null when the run has no change, the file does not exist on that side, or the source host does
 * not have the commit. @throws 400 for a file that the change does not contain, or that is too large; 404; Problems of the source host
 */
export async function readChangedFile(
  caller: Caller,
  { runId, path, side }: ChangedFileRequest,
): Promise<Buffer | null> {
  const { changeArtifactId, headSha, baseSha, projectId } = await findRun(caller, runId);
  const artifact = changeArtifactId && (await Artifact.find({ id: changeArtifactId }));
  const paths = artifact && (await changedPaths(artifact));
  if (!paths) return null;
  if (!paths.includes(path)) throw invalid.field('path', 'must be a file of the change');
  const ref = side === 'new' ? headSha : baseSha;
  if (ref === null) return null;
  const project = await Project.get({ id: projectId });
  const { connector, host } = await hostOf(project);
  return host.readFile(project, connector, path, ref);
}
