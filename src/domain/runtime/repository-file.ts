// A file of the repository that a run works on, for its runtime: instructions that the repository brings along, for example.
import type { Caller } from '#access/principal.ts';
import { transaction } from '#foundation/database.ts';
import { find } from '#foundation/record.ts';
import { Project } from '../projects/model.ts';
import { readRepositoryFile } from '../repositories/choose.ts';
import type { RepositoryFile } from '../repositories/repository.ts';
import { heldRun } from './lease.ts';

export interface FileQuestion {
  runId: string;
  leaseId: string;
  path: string;
  ref?: string | null | undefined;
}

/** Null when there is no such file, or no such ref. @throws 404, or 409 `lease_lost` */
export async function readFileOfRun(
  caller: Caller,
  { path, ref, ...held }: FileQuestion,
): Promise<RepositoryFile | null> {
  const { projectId: id } = await transaction((trx) => heldRun(trx, caller, held));
  const project = await find<Project>(Project, 'project', { id });
  return readRepositoryFile(project, path, ref ?? undefined);
}
