// A project follows its repository when the source host renames or transfers the repository. The new name is requested from the host with the
// credentials of the project, so that an event alone cannot make the project use another repository.
import type { Integration } from '../integrations/model.ts';
import { parseRepository } from '../integrations/repository-name.ts';
import type { Project } from '../projects/model.ts';
import { nameRepository } from '../projects/operations.ts';
import { keyOfRepository } from './repository-key.ts';
import type { RepositoryAccess } from './source-host.ts';
import { hostOf } from './source-host-of.ts';

/**
 * Requests access to the repository, and updates the repository name of the project if the host has a new one. @throws as
 * `Repository.readFile`
 */
export async function openAtHost(project: Project, isReadOnly = false): Promise<RepositoryAccess> {
  const { connector, host } = await hostOf(project);
  const access = await host.access(project, connector, isReadOnly);
  if (access.repository) await nameAsAtHost(project, connector, access.repository);
  return access;
}

async function nameAsAtHost(
  project: Project,
  connector: Integration,
  { id, fullName }: NonNullable<RepositoryAccess['repository']>,
): Promise<void> {
  const names = { ...parseRepository(fullName), scmRepositoryKey: keyOfRepository(connector, id) };
  const { scmOwner, scmRepo, scmRepositoryKey } = project;
  const isNamed = names.scmOwner === scmOwner && names.scmRepo === scmRepo;
  if (!isNamed || names.scmRepositoryKey !== scmRepositoryKey) await nameRepository(project, names);
}
