// Reads a file of the repository that a run works on, for its runtime: for example the instructions that the repository contains.
import type { Caller } from '#access/principal.ts';
import { transaction } from '#foundation/database.ts';
import { Project } from '../projects/model.ts';
import { readRepositoryFile } from '../repositories/choose.ts';
import type { RepositoryFile } from '../repositories/repository.ts';
import { lockHeldRun } from './lease.ts';

export interface FileRequest {
  runId: string;
  leaseId: string;
  path: string;
  ref?: string | null | undefined;
}

/** Null when there is no such file, or no such ref. @throws 404, or 409 `lease_lost` */
export async function readFileOfRun(
  caller: Caller,
  { path, ref, ...held }: FileRequest,
): Promise<RepositoryFile | null> {
  const { projectId: id } = await transaction((trx) => lockHeldRun(trx, caller, held));
  const project = await Project.get({ id });
  return readRepositoryFile(project, path, ref ?? undefined);
}
