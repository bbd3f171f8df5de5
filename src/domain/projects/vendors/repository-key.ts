// The key of a repository, its server with the id there: it stays when the repository is renamed or transferred.
import type { Row } from '#foundation/postgres/base-model.ts';
import type { Integration } from '../integrations/model.ts';
import type { Project } from '../projects/model.ts';
import { serverOf } from './addresses.ts';

export const keyOfRepository = (connector: Row<Integration>, id: number): string => `${serverOf(connector)} ${id}`;

/** The id of the project's repository at the connector's server; null while it is not known. */
export function knownId({ scmRepositoryKey }: Row<Project>, connector: Row<Integration> | null): string | null {
  const [server, id = null] = scmRepositoryKey?.split(' ') ?? [];
  return connector && server === serverOf(connector) ? id : null;
}
