// A repository on GitHub: the raw content of a file (REST, "Get repository content" with the raw media type), and access with git over
// HTTPS.
import { z } from 'zod';
import { checkAddress, jsonOf } from '#foundation/http/outbound.ts';
import { badGateway } from '#foundation/problem.ts';
import type { Project } from '../../projects/model.ts';
import {
  connectTo,
  connectVendor,
  operationTimeoutMs,
  unexpectedAnswer,
  type VendorConnection,
} from '../connection.ts';
import { knownRepository } from '../repository-key.ts';
import { openDownload, type Repository } from '../source-host.ts';
import { callGitHub, fetchGitHub, refusalOf, repositoryPath, tokenOf } from './api.ts';
import { failedJobs } from './checks.ts';
import { writeComment } from './comments.ts';
import { pullRequests } from './pull-requests.ts';

/** Permissions of a token that cannot push ("Create an installation access token for an app"). */
const readOnly = { contents: 'read', metadata: 'read' };

const Described = z.object({ id: z.int(), full_name: z.string(), default_branch: z.string() });
const Account = z.object({ id: z.int(), login: z.string(), type: z.string() });
const Permission = z.object({ permission: z.string() });

const describe = async (connection: VendorConnection, project: Project) =>
  knownRepository(connection, project, await fetchGitHub(connection, repositoryPath(project), Described), (id) =>
    fetchGitHub(connection, `/repositories/${id}`, Described),
  );

const download = openDownload(callGitHub, refusalOf);

export const githubHost: Repository = {
  async readFile(project, _connector, path, ref) {
    const segments = path.split('/').map(encodeURIComponent).join('/');
    const query = ref === undefined ? '' : `?${new URLSearchParams({ ref })}`;
    const address = `${repositoryPath(project)}/contents/${segments}${query}`;
    const connection = await connectVendor(project, 'scm', 'github');
    const answered = await download(connection, address, 'application/vnd.github.raw+json');
    // GitHub returns a folder as a JSON list; a file, even a JSON file, has the requested media type.
    return answered?.headers['content-type']?.startsWith('application/json') ? null : (answered?.bytes ?? null);
  },

  async access(project, _connector, isReadOnly = false) {
    const connection = await connectVendor(project, 'scm', 'github');
    const { id, full_name: fullName, default_branch: defaultBranch } = await describe(connection, project);
    const host = new URL(connection.address).origin.replace('//api.', '//');
    // Checks the URL, because the organization may have chosen the host, and git itself connects to any address.
    await checkAddress(host, connection.signal).catch(() => {
      throw badGateway(`${connection.name} is unreachable.`);
    });
    return {
      url: `${host}/${fullName}.git`,
      // The user name that GitHub documents ("Authenticating as a GitHub App installation"). Personal access tokens accept any name.
      username: 'x-access-token',
      password: await tokenOf(connection, isReadOnly ? readOnly : undefined),
      defaultBranch,
      repository: { id, fullName },
    };
  },

  async deleteBranch(project, _connector, branch) {
    const path = `${repositoryPath(project)}/git/refs/heads/${branch.split('/').map(encodeURIComponent).join('/')}`;
    const connection = await connectVendor(project, 'scm', 'github');
    const answered = await callGitHub(connection, path, { method: 'DELETE' });
    // GitHub answers 422 ("Reference does not exist") for a branch that is already deleted.
    if (![204, 422].includes(answered.status)) throw refusalOf(connection, path, answered);
  },

  async mayWrite(project, login) {
    // "Get repository permissions for a user": `maintain` is reported as `write`; private repositories answer 404 for outsiders.
    const path = `${repositoryPath(project)}/collaborators/${encodeURIComponent(login)}/permission`;
    const connection = await connectVendor(project, 'scm', 'github');
    const answered = await callGitHub(connection, path);
    if (answered.status === 404) return false;
    if (answered.status !== 200) throw refusalOf(connection, path, answered);
    const { data } = Permission.safeParse(jsonOf(answered));
    if (!data) throw unexpectedAnswer(connection);
    return data.permission === 'admin' || data.permission === 'write';
  },

  async findAccount(connector, login) {
    const path = `/users/${encodeURIComponent(login)}`;
    const connection = await connectTo(connector, operationTimeoutMs);
    const answered = await callGitHub(connection, path);
    if (answered.status === 404) return null;
    if (answered.status !== 200) throw refusalOf(connection, path, answered);
    const { data } = Account.safeParse(jsonOf(answered));
    if (!data) throw unexpectedAnswer(connection);
    return data.type === 'User' ? { id: String(data.id), login: data.login } : null;
  },

  async react(project, target) {
    // When GitHub is the tracker, the tracker's connector has the permission for issues.
    const connection = await connectVendor(project, project.tracker === 'github' ? 'tracker' : 'scm', 'github');
    const path = `${repositoryPath(project)}/${target}/reactions`;
    await fetchGitHub(connection, path, z.unknown(), { method: 'POST', json: { content: 'eyes' } });
  },

  async comment(project, { number }, comment) {
    const connection = await connectVendor(project, 'scm', 'github');
    await writeComment(connection, { ...project, number }, comment);
  },

  failedJobs,
  pullRequests,
};
