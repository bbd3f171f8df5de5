// The format `<owner>/<repo>`: two non-empty parts without white space, one slash (docs/contract.md#projects).

export const repositoryPattern = /^[^\s/]+\/[^\s/]+$/;

export interface RepositoryName {
  scmOwner: string;
  scmRepo: string;
}

export function parseRepository(fullName: string): RepositoryName {
  const [scmOwner = '', scmRepo = ''] = fullName.split('/');
  return { scmOwner, scmRepo };
}
