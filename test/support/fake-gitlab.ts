// GitLab as a loopback server: checks every request, and its own responses, against GitLab's published description
// (fixtures/gitlab.json), responds like GitLab, and signs events as GitLab does.
import { createHmac } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { isoTime } from '#foundation/clock.ts';
import { type Asked, openStandIn, type Reply } from './fake-vendor.ts';
import { type Called, pageIn, readPublishedApi } from './published-api.ts';
import { present } from './world.ts';

interface Note {
  id: number;
  body: string;
  system: boolean;
  created_at: string;
  author: { username: string };
  position?: { old_path?: string; new_path: string; new_line: number | null; old_line: number | null };
  resolved?: boolean;
  resolved_by?: { username: string } | null;
  /** Id of the first note of the thread; absent for the first note itself. */
  inThread?: number;
}
export interface GitLabIssue {
  iid: number;
  title: string;
  description: string;
  labels: string[];
  state: 'opened' | 'closed';
  web_url: string;
  created_at: string;
  notes: Note[];
}
export interface GitLabMergeRequest {
  iid: number;
  title: string;
  description: string;
  source_branch: string;
  target_branch: string;
  state: 'opened' | 'closed' | 'merged';
  web_url: string;
  has_conflicts: boolean;
  detailed_merge_status: string;
  head_pipeline: { status: string } | null;
  notes: Note[];
}
interface Project {
  id: number;
  issues: GitLabIssue[];
  mergeRequests: GitLabMergeRequest[];
  /** The newest commit of each branch. */
  heads: Map<string, string>;
  /** Files by `ref:path`. */
  files: Map<string, Buffer>;
  /** Access levels by username. */
  members: Map<string, number>;
  /** The target of the reaction, such as `issues/12`. */
  reactions: string[];
  statuses: { sha: string; state: string; name: string; description: string; target_url: string }[];
  /** Logs of jobs by id. */
  traces: Map<string, string>;
}

export type GitLab = Awaited<ReturnType<typeof openGitLab>>;

const api = readPublishedApi('gitlab.json');

/** Opens the server. @param token The only accepted token */
export async function openGitLab(token: string) {
  const projects = new Map<string, Project>();
  /** Maps the earlier path of a project that was renamed or transferred to the path that replaced it. */
  const moved = new Map<string, string>();
  let lastId = 0;
  const settings = { token, scopes: ['api'] };
  let lastNote = 0;

  const standIn = await openStandIn(
    async (given, violate) => {
      const asked = { ...given, url: given.url.replace(/^\/api\/v4/, '') };
      if (!given.url.startsWith('/api/v4/')) violate(`no path of the API: ${given.url}`);
      if (asked.body !== undefined && asked.headers['content-type'] !== 'application/json') violate('content-type');
      const reply = await api.answer(asked, violate, (called) => {
        if (asked.headers.authorization !== `Bearer ${settings.token}`)
          return { status: 401, body: { message: '401 Unauthorized' } };
        return answer(asked, called);
      });
      return reply ?? { status: 404, body: { error: '404 Not Found' } };
    },
    (given) => api.nameOf({ ...given, url: given.url.replace(/^\/api\/v4/, '') }),
  );
  const { port } = standIn.server.address() as AddressInfo;
  const site = `http://127.0.0.1:${port}`;

  function answer(asked: Asked, { operationId: id, path, query }: Called): Reply {
    if (id === 'getUser') return { status: 200, body: { ...userOf('project_7_bot_a1'), bot: true } };
    if (id === 'getApiV4PersonalAccessTokensSelf') return { status: 200, body: { scopes: settings.scopes } };
    if (id === 'listUsers') {
      const names = [...new Set([...projects.values()].flatMap(({ members }) => [...members.keys()]))];
      const found = names.filter((name) => name.toLowerCase() === String(query.username).toLowerCase());
      return { status: 200, body: found.map(userOf) };
    }
    const asName = decodeURIComponent(path.id!);
    const earlier = moved.get(asName);
    if (earlier && !projects.has(asName)) {
      const message = 'Non GET methods are not allowed for moved projects';
      if (asked.method !== 'GET') return { status: 405, body: { message } };
      const location = asked.url.replace(`/projects/${path.id}`, `/projects/${projects.get(earlier)!.id}`);
      return { status: 301, headers: { location: `${site}/api/v4${location}` }, body: {} };
    }
    const [name = asName, project] =
      [...projects].find(([one, { id }]) => one === asName || String(id) === asName) ?? [];
    if (!project) return notFound('Project');
    if (id === 'getApiV4ProjectsId')
      return { status: 200, body: { id: project.id, default_branch: 'main', path_with_namespace: name } };
    if (id === 'getApiV4ProjectsIdMembersAllUserId') {
      const member = [...project.members].find(([username]) => idOf(username) === Number(path.user_id));
      if (!member) return notFound('Not found');
      const [username, access_level] = member;
      return { status: 200, body: { id: idOf(username), username, access_level, state: 'active' } };
    }
    if (id === 'getApiV4ProjectsIdRepositoryFilesFilePathRaw') {
      const ref = query.ref === 'HEAD' ? 'main' : query.ref;
      const content = project.files.get(`${ref}:${decodeURIComponent(path.file_path!)}`);
      return content ? { status: 200, headers: { 'content-type': 'text/plain' }, body: content } : notFound('File');
    }
    if (id === 'getApiV4ProjectsIdJobsJobIdTrace') {
      const trace = project.traces.get(String(path.job_id));
      return trace === undefined ? notFound('Not Found') : { status: 200, body: Buffer.from(trace) };
    }
    if (id === 'deleteApiV4ProjectsIdRepositoryBranchesBranch')
      return project.heads.delete(decodeURIComponent(path.branch!)) ? { status: 204, body: {} } : notFound('Branch');
    if (id === 'postApiV4ProjectsIdStatusesSha') return statusReply(project, path.sha!, asked.body as never);
    if (id.endsWith('AwardEmoji')) {
      const target = asked.url.replace(/^\/projects\/[^/]+\//, '').replace('/award_emoji', '');
      if (project.reactions.includes(target)) return notFound('Award Emoji Name has already been taken');
      project.reactions.push(target);
      return { status: 201, body: { id: project.reactions.length, name: (asked.body as { name: string }).name } };
    }
    if (id === 'listMergeRequestsDiscussions') {
      const about = project.mergeRequests.find(({ iid }) => iid === Number(path.merge_request_iid));
      return about ? { status: 200, body: pageIn(discussionsOf(about), query) } : notFound('Not found');
    }
    if (path.discussion_id) return discussionReply(project, asked, id, path);
    if (id.endsWith('Note') || id.endsWith('Notes')) return noteReply(project, asked, id, path, query);
    return id.includes('MergeRequests')
      ? mergeRequestReply(project, `${site}/${name}`, asked, id, path, query)
      : issueReply(project, `${site}/${name}`, asked, id, path, query);
  }

  const discussionsOf = ({ notes }: GitLabMergeRequest) =>
    notes
      .filter(({ inThread }) => inThread === undefined)
      .map((first) => ({
        id: `discussion-${first.id}`,
        notes: notes.filter((one) => one === first || one.inThread === first.id).map(({ inThread: _, ...one }) => one),
      }));

  function discussionReply(project: Project, { body }: Asked, id: string, path: Called['path']): Reply {
    const about = project.mergeRequests.find(({ iid }) => iid === Number(path.merge_request_iid));
    const first = about?.notes.find((note) => `discussion-${note.id}` === path.discussion_id);
    if (!about || !first) return notFound('Discussion');
    if (id === 'createMergeRequestsDiscussionNote') {
      const note = noteOn(about, 'project_7_bot_a1', (body as { body: string }).body);
      note.inThread = first.id;
      return { status: 201, body: note };
    }
    if (id === 'resolveMergeRequestsDiscussion') {
      const { resolved } = body as { resolved: boolean };
      Object.assign(first, { resolved, resolved_by: resolved ? { username: 'project_7_bot_a1' } : null });
    }
    return { status: 200, body: discussionsOf(about).find((one) => one.id === path.discussion_id)! };
  }

  function noteReply(project: Project, { body }: Asked, id: string, path: Called['path'], query: object): Reply {
    const iid = Number(path.issue_iid ?? path.merge_request_iid);
    const list: { iid: number; notes: Note[] }[] = path.issue_iid ? project.issues : project.mergeRequests;
    const about = list.find((one) => one.iid === iid);
    if (!about) return notFound('Not found');
    if (id.startsWith('list')) {
      const { sort = 'desc' } = query as { sort?: string };
      return { status: 200, body: pageIn(sort === 'asc' ? about.notes : about.notes.toReversed(), query as never) };
    }
    const { body: text } = body as { body: string };
    if (id.startsWith('create')) return { status: 201, body: noteOn(about, 'project_7_bot_a1', text) };
    const note = about.notes.find((one) => one.id === Number(path.note_id));
    return note ? { status: 200, body: Object.assign(note, { body: text.trim() }) } : notFound('Note');
  }

  /** GitLab trims notes. */
  const noteOn = (about: { notes: Note[] }, username: string, body: string, position?: Note['position']): Note => {
    const id = ++lastNote;
    const created_at = isoTime(present());
    const note: Note = {
      id,
      body: body.trim(),
      system: false,
      created_at,
      author: { username },
      ...(position && { position }),
    };
    about.notes.push(note);
    return note;
  };

  return {
    ...standIn,
    site,
    address: `${site}/api/v4`,
    settings,
    projects,
    noteOn,
    /** Creates an issue in the stand-in, as if a GitLab user had opened it. */
    open: (name: string, issue: Partial<GitLabIssue>): GitLabIssue =>
      newIssue(projects.get(name)!, `${site}/${name}`, issue),
    /** Renames or transfers a project: reads by its earlier path are redirected. */
    rename(from: string, to: string): void {
      projects.set(to, projects.get(from)!);
      projects.delete(from);
      moved.set(from, to);
    },
    /** Deletes all records, and starts with these projects. */
    clear(...names: string[]): void {
      projects.clear();
      moved.clear();
      lastId = 0;
      for (const name of names) {
        projects.set(name, {
          id: ++lastId,
          issues: [],
          mergeRequests: [],
          heads: new Map(),
          files: new Map(),
          members: new Map(),
          reactions: [],
          statuses: [],
          traces: new Map(),
        });
      }
      Object.assign(settings, { token, scopes: ['api'] });
      standIn.forget();
    },
  };
}

/** The headers of an event, with the secret token of the webhook or signed with its signing token. */
export function gitlabHeaders(
  event: string,
  body: string,
  { secret, key, isSigned = false, at = present() }: { secret: string; key: string; isSigned?: boolean; at?: number },
): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000));
  const mac = createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'));
  const signature = mac.update(`${key}.${timestamp}.${body}`).digest('base64');
  return {
    'content-type': 'application/json',
    'user-agent': 'GitLab/19.1.0',
    'x-gitlab-event': event,
    'x-gitlab-event-uuid': 'one-of-several',
    'idempotency-key': key,
    ...(isSigned
      ? { 'webhook-id': key, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
      : { 'x-gitlab-token': secret }),
  };
}

const idOf = (username: string): number =>
  [...username].reduce((sum, char) => sum * 31 + char.charCodeAt(0), 7) % 100_000;
const userOf = (username: string) => ({
  ...{ id: idOf(username), username, name: username, state: 'active', locked: false, avatar_url: null },
  web_url: `https://gitlab.example/${username}`,
});
const notFound = (what: string): Reply => ({ status: 404, body: { message: `404 ${what} Not Found` } });

/** Sets a status of a commit. Like GitLab, refuses to set it to pending when it is pending already. */
function statusReply({ statuses }: Project, sha: string, body: Project['statuses'][number]): Reply {
  const newest = statuses.findLast((one) => one.sha === sha);
  if (newest?.state === 'pending' && body.state === 'pending')
    return { status: 400, body: { message: 'Cannot transition status via :enqueue from :pending' } };
  statuses.push({ ...body, sha });
  return { status: 201, body: { sha, name: body.name, status: body.state, description: body.description } };
}

function newIssue(project: Project, address: string, given: Partial<GitLabIssue>): GitLabIssue {
  const iid = project.issues.length + 1;
  const issue: GitLabIssue = {
    title: '',
    description: '',
    labels: [],
    ...given,
    iid,
    state: 'opened',
    web_url: `${address}/-/issues/${iid}`,
    created_at: isoTime(present()),
    notes: [],
  };
  project.issues.push(issue);
  return issue;
}

function issueReply(
  project: Project,
  address: string,
  { body }: Asked,
  id: string,
  path: Called['path'],
  query: Called['query'],
): Reply {
  const shown = ({ notes: _, ...issue }: GitLabIssue) => issue;
  if (id === 'getApiV4ProjectsIdIssues') {
    const since = Date.parse(String(query.created_after ?? isoTime(0)));
    const found = project.issues.filter(({ created_at }) => Date.parse(created_at) >= since);
    return { status: 200, body: pageIn(query.sort === 'asc' ? found : found.toReversed(), query).map(shown) };
  }
  if (id === 'postApiV4ProjectsIdIssues')
    return { status: 201, body: shown(newIssue(project, address, body as Partial<GitLabIssue>)) };
  const issue = project.issues.find(({ iid }) => iid === Number(path.issue_iid));
  if (!issue) return notFound('Issue');
  if ((body as { state_event?: string } | undefined)?.state_event === 'close') issue.state = 'closed';
  return { status: 200, body: shown(issue) };
}

/** A branch and its target have one open merge request, which is merged at the commit that the caller has seen, as on GitLab. */
function mergeRequestReply(
  { mergeRequests, heads }: Project,
  address: string,
  { body }: Asked,
  id: string,
  path: Called['path'],
  query: Called['query'],
): Reply {
  const shown = ({ notes: _, ...one }: GitLabMergeRequest) => ({ ...one, sha: heads.get(one.source_branch) ?? null });
  const given = (body ?? {}) as {
    title: string;
    description: string;
    source_branch: string;
    target_branch: string;
    sha: string;
  };
  const openOf = (source: unknown, target: unknown) =>
    mergeRequests.filter(
      (one) => one.state === 'opened' && one.source_branch === source && one.target_branch === target,
    );
  if (id === 'getApiV4ProjectsIdMergeRequests')
    return { status: 200, body: openOf(query.source_branch, query.target_branch).map(shown) };
  if (id === 'postApiV4ProjectsIdMergeRequests') {
    if (openOf(given.source_branch, given.target_branch).length > 0 || !heads.has(given.source_branch))
      return { status: 409, body: { message: ['Another open merge request already exists for this source branch'] } };
    const iid = mergeRequests.length + 1;
    mergeRequests.push({
      ...given,
      iid,
      state: 'opened',
      web_url: `${address}/-/merge_requests/${iid}`,
      has_conflicts: false,
      detailed_merge_status: 'mergeable',
      head_pipeline: null,
      notes: [],
    });
    return { status: 201, body: shown(mergeRequests.at(-1)!) };
  }
  const one = mergeRequests.find(({ iid }) => iid === Number(path.merge_request_iid));
  if (!one) return notFound('Not found');
  if (id === 'putApiV4ProjectsIdMergeRequestsMergeRequestIidMerge') {
    if (one.state !== 'opened' || one.detailed_merge_status !== 'mergeable')
      return { status: 405, body: { message: '405 Method Not Allowed' } };
    if (given.sha !== heads.get(one.source_branch))
      return { status: 409, body: { message: 'SHA does not match HEAD of source branch' } };
    one.state = 'merged';
  } else if (body !== undefined) Object.assign(one, { title: given.title, description: given.description });
  return { status: 200, body: shown(one) };
}
