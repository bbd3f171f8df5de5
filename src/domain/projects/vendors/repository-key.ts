// The key of a repository: its server, and the id there, which does not change when the repository is renamed or transferred.
import type { Integration } from '../integrations/model.ts';
import type { Project } from '../projects/model.ts';
import { serverOf } from './addresses.ts';
import { isFinal, type VendorConnection } from './connection.ts';

export const keyOfRepository = (connector: Integration, id: number): string => `${serverOf(connector)} ${id}`;

/** The id of the project's repository at the connector's server; null while it is not known. */
function knownId({ scmRepositoryKey }: Project, connector: Integration | null): string | null {
  const [server, id = null] = scmRepositoryKey?.split(' ') ?? [];
  return connector && server === serverOf(connector) ? id : null;
}

/**
 * The repository with the stored id, even if another repository has its former name now. If the repository with that id was deleted, the
 * repository with the stored name. @param named The repository with the stored name. @param read Reads a repository by its id.
 */
export async function knownRepository<T extends { id: number }>(
  { connector }: VendorConnection,
  project: Project,
  named: T,
  read: (id: string) => Promise<T>,
): Promise<T> {
  const known = knownId(project, connector);
  if (known === null || known === String(named.id)) return named;
  return read(known).catch((error) => {
    if (!isFinal(error)) throw error;
    return named;
  });
}
