// A file at GitHub, read as it is (REST, "Get repository content" with the raw media type).
import { ResponseTooLarge } from '#foundation/outbound.ts';
import { bytes } from '#limits.ts';
import { connectVendor } from '../vendors/connection.ts';
import { callGitHub, refusalOf, repositoryPath } from '../vendors/github.ts';
import { fileTooLarge, type Repository } from './repository.ts';

export const github: Repository = {
  async readFile(project, _connector, path, ref) {
    const segments = path.split('/').map(encodeURIComponent).join('/');
    const query = ref === undefined ? '' : `?${new URLSearchParams({ ref })}`;
    const address = `${repositoryPath(project)}/contents/${segments}${query}`;
    const connection = await connectVendor(project, 'scm', 'github');
    const answered = await callGitHub(connection, address, {
      headers: { accept: 'application/vnd.github.raw+json' },
      maxBytes: bytes.repositoryFile,
    }).catch((error) => {
      throw error instanceof ResponseTooLarge ? fileTooLarge() : error;
    });
    // A repository that the credentials may not see looks the same.
    if (answered.status === 404) return null;
    if (answered.status !== 200) throw refusalOf(connection, address, answered);
    // A folder is answered as a JSON list; a file, also a JSON file, has the requested media type.
    return answered.headers['content-type']?.startsWith('application/json') ? null : answered.bytes;
  },
};
