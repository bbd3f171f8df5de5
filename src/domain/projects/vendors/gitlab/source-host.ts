// A project on GitLab as a repository: the raw content of a file, access with git over HTTPS, people, reactions, notes, and logs of jobs.
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
import { endOfLog } from '../event-reader.ts';
import { knownRepository } from '../repository-key.ts';
import { openDownload, type Repository } from '../source-host.ts';
import {
  callGitLab,
  fetchGitLab,
  gitlabRefusal,
  isBotName,
  projectPath,
  repositoryOf,
  siteOf,
  wordsOf,
} from './api.ts';
import { mergeRequests } from './merge-requests.ts';
import { writeNote } from './notes.ts';

const Described = z.object({
  id: z.int(),
  path_with_namespace: z.string(),
  default_branch: z.string().nullable(),
});
const Users = z.array(z.object({ id: z.int(), username: z.string() }));
const Member = z.object({ access_level: z.int(), state: z.string() });

/** The access level of the role Developer, which may push. */
const developer = 30;

const findUser = async (connection: VendorConnection, username: string) =>
  (await fetchGitLab(connection, `/users?${new URLSearchParams({ username })}`, Users))[0];

const describe = async (connection: VendorConnection, project: Project) =>
  knownRepository(connection, project, await fetchGitLab(connection, projectPath(project), Described), (id) =>
    fetchGitLab(connection, `/projects/${id}`, Described),
  );

const download = openDownload(callGitLab, gitlabRefusal);

export const gitlabHost: Repository = {
  async readFile(project, _connector, path, ref = 'HEAD') {
    const query = new URLSearchParams({ ref });
    const address = `${projectPath(project)}/repository/files/${encodeURIComponent(path)}/raw?${query}`;
    const connection = await connectVendor(project, 'scm', 'gitlab');
    return (await download(connection, address, '*/*'))?.bytes ?? null;
  },

  async access(project) {
    const connection = await connectVendor(project, 'scm', 'gitlab');
    const { id, path_with_namespace: fullPath, default_branch: defaultBranch } = await describe(connection, project);
    // Checks the URL, because the organization may have chosen the host, and git itself connects to any address.
    await checkAddress(new URL(siteOf(connection)).origin, connection.signal).catch(() => {
      throw badGateway(`${connection.name} is unreachable.`);
    });
    return {
      url: `${siteOf(connection)}/${fullPath}.git`,
      // Tokens of people, projects and groups accept any user name; OAuth tokens accept only `oauth2`.
      username: 'oauth2',
      password: connection.credentials,
      defaultBranch: defaultBranch ?? 'main',
      repository: { id, fullName: repositoryOf(fullPath) },
    };
  },

  async deleteBranch(project, _connector, branch) {
    const path = `${projectPath(project)}/repository/branches/${encodeURIComponent(branch)}`;
    const connection = await connectVendor(project, 'scm', 'gitlab');
    const answered = await callGitLab(connection, path, { method: 'DELETE' });
    if (![204, 404].includes(answered.status)) throw gitlabRefusal(connection, path, answered);
  },

  async mayWrite(project, login) {
    const connection = await connectVendor(project, 'scm', 'gitlab');
    const user = await findUser(connection, login);
    if (!user) return false;
    // GitLab's call "Get a member of a project, including inherited and invited members" answers 404 for a person who is not a member.
    const path = `${projectPath(project)}/members/all/${user.id}`;
    const answered = await callGitLab(connection, path);
    if (answered.status === 404) return false;
    if (answered.status !== 200) throw gitlabRefusal(connection, path, answered);
    const { data } = Member.safeParse(jsonOf(answered));
    if (!data) throw unexpectedAnswer(connection);
    return data.state === 'active' && data.access_level >= developer;
  },

  async findAccount(connector, login) {
    const user = await findUser(await connectTo(connector, operationTimeoutMs), login);
    return user && !isBotName(user.username) ? { id: String(user.id), login: user.username } : null;
  },

  async react(project, target) {
    // When GitLab is the tracker, the tracker's connector is used for issues.
    const kind = project.tracker === 'gitlab' && target.startsWith('issues/') ? 'tracker' : 'scm';
    const connection = await connectVendor(project, kind, 'gitlab');
    const path = `${projectPath(project)}/${target}/award_emoji`;
    const answered = await callGitLab(connection, path, { method: 'POST', json: { name: 'eyes' } });
    // GitLab answers a repeated reaction with 404 and this text.
    if (answered.status === 404 && /already been taken/.test(wordsOf(answered) ?? '')) return;
    if (answered.status > 299) throw gitlabRefusal(connection, path, answered);
  },

  async comment(project, { kind, number }, comment) {
    const connection = await connectVendor(project, 'scm', 'gitlab');
    const place = kind === 'issue' ? 'issues' : 'merge_requests';
    await writeNote(connection, `${projectPath(project)}/${place}/${number}`, comment);
  },

  async failedJobs(project, { jobs }) {
    const connection = await connectVendor(project, 'scm', 'gitlab');
    const read = jobs.slice(0, maxLogs);
    const logs: string[] = [];
    for (const job of read) {
      const path = `${projectPath(project)}/jobs/${job}/trace`;
      const answered = await callGitLab(connection, path, { headers: { accept: 'text/plain' } });
      if (answered.status !== 200) throw gitlabRefusal(connection, path, answered);
      logs.push(endOfLog(plain(answered.bytes.toString('utf8')), read.length));
    }
    return logs.join('\n\n');
  },

  pullRequests: mergeRequests,
};

/** Maximum number of logs of one event. */
const maxLogs = 3;

/** The log without color codes and section markers. */
const plain = (trace: string): string =>
  trace
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches them
    .replaceAll(/\x1b\[[\d;]*[A-Za-z]/g, '')
    .replaceAll(/section_(?:start|end):\d+:\S*\r?/g, '')
    .replaceAll(/[^\n]*\r(?!\n)/g, '');
