// GitHub as a loopback server: checks every request, and its own responses, against GitHub's published OpenAPI description
// (fixtures/github.json), and responds like GitHub.

import type { KeyObject } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { jwtVerify } from 'jose';
import { hours, isoTime } from '#foundation/clock.ts';
import { answerGraphql, type Reviewed, reviewReply } from './fake-github-threads.ts';
import { type Asked, openStandIn, type Reply, type Violate } from './fake-vendor.ts';
import { pageIn, readPublishedApi } from './published-api.ts';
import { present } from './world.ts';

/** Slashes are allowed only in two parameters of a path: the path of a file, and the name of a ref. */
const api = readPublishedApi('github.json', ['path', 'ref']);

interface Comment {
  body: string;
  html_url: string;
  created_at: string;
}
export interface GitHubIssue extends Comment {
  number: number;
  title: string;
  labels: string[];
  state: string;
  state_reason: string | null;
  comments: Comment[];
  pull_request?: object;
}
export interface GitHubPullRequest extends Reviewed {
  number: number;
  state: 'open' | 'closed';
  title: string;
  body: string;
  base: string;
  merged: boolean;
  mergeable: boolean | null;
  mergeable_state: string;
  head: { ref: string; sha: string };
  comments: (Comment & { path?: string; line?: number; user: { login: string; type: string } })[];
}
interface Repository {
  id: number;
  /** The paths of the issues and comments that have a reaction, such as `issues/12`. */
  reactions: string[];
  /** Statuses of commits, in order. */
  statuses: { sha: string; state: string; context: string; description: string; target_url: string }[];
  /** GitHub's check runs, in the order of their creation. */
  checks: {
    id: number;
    sha: string;
    external_id: string;
    status: string;
    conclusion?: string;
    output: { title: string; summary: string };
  }[];
  /**
   * Jobs of workflow runs. `attempt` consists of the id of the workflow run, a space, and the number of the attempt at this run, such as
   * `5 2`. `log` is the URL of the log of the job.
   */
  jobs: { attempt: string; id: number; name: string; conclusion: string; steps: object[]; log: string }[];
  issues: GitHubIssue[];
  pulls: GitHubPullRequest[];
  /** The newest commit of each branch. */
  heads: Map<string, string>;
  /** Files by `ref:path`; the default branch is `main`. A folder has no content. */
  files: Map<string, Buffer | null>;
  /** Permissions by login: `admin`, `write`, `read` or `none`. */
  permissions: Map<string, string>;
}

export interface GitHubApp {
  appId: string;
  installationId: string;
  publicKey: KeyObject;
  permissions: Record<string, string>;
  isSuspended?: boolean;
}

export type GitHub = Awaited<ReturnType<typeof openGitHub>>;

/** Opens the server. @param token The only accepted token */
export async function openGitHub(token: string) {
  const repositories = new Map<string, Repository>();
  /** `app` is an App with its installation; its tokens are accepted alongside `token`. */
  const settings: { token: string; app?: GitHubApp } = { token };
  const issued = new Map<string, number>();
  /** Accounts by login, lower case. */
  const accounts = new Map<string, { id: number; login: string; type?: string }>();
  const isInstallationToken = (given = ''): boolean => (issued.get(given) ?? 0) > present();
  const accepts = (given?: string): boolean => given === settings.token || isInstallationToken(given);
  /** Repositories that have moved, by their earlier names. */
  const moved = new Map<string, Repository>();
  let lastId = 0;
  const add = (name: string): Repository => {
    const repository: Repository = {
      id: ++lastId,
      issues: [],
      pulls: [],
      heads: new Map(),
      files: new Map(),
      permissions: new Map(),
      reactions: [],
      statuses: [],
      checks: [],
      jobs: [],
    };
    repositories.set(name, repository);
    return repository;
  };

  /** Converts a call by the id of a repository to one by its name. */
  const byName = (asked: Asked): Asked => {
    const [, id] = /^\/repositories\/(\d+)/.exec(asked.url) ?? [];
    const [name] = [...repositories].find(([, one]) => String(one.id) === id) ?? [];
    return name ? { ...asked, url: asked.url.replace(`/repositories/${id}`, `/repos/${name}`) } : asked;
  };
  const pullOf = (name: string, number: number) => repositories.get(name)?.pulls.find((pull) => pull.number === number);
  const standIn = await openStandIn(
    async (given, violate) => {
      if (given.url === '/graphql') {
        checkHeaders(given, 'graphql', violate);
        return accepts(given.headers.authorization?.replace(/^Bearer /, ''))
          ? answerGraphql(given, violate, pullOf, () => [...repositories.values()].flatMap(({ pulls }) => pulls))
          : badCredentials;
      }
      const asked = byName(given);
      if (asked.url.startsWith('/repositories/')) return notFound;
      const reply = await api.answer(asked, violate, ({ operationId, path, query }) => {
        checkHeaders(asked, operationId, violate);
        return operationId.startsWith('apps/')
          ? answerApp(asked, operationId, path.installation_id!)
          : answer(asked, operationId, path, query);
      });
      return reply ?? notFound;
    },
    (asked) => api.nameOf(byName(asked)),
  );

  function answer(asked: Asked, id: string, path: Record<string, string>, query: Record<string, unknown>): Reply {
    const given = asked.headers.authorization?.replace(/^Bearer /, '');
    const isIssued = isInstallationToken(given);
    if (!accepts(given)) return badCredentials;
    if (id === 'users/get-authenticated' && isIssued)
      return { status: 403, body: { message: 'Resource not accessible by integration' } };
    if (id === 'users/get-authenticated') return { status: 200, body: { login: 'acme-bot' } };
    if (id === 'users/get-by-username') {
      const found = accounts.get(path.username!.toLowerCase());
      return found ? { status: 200, body: { type: 'User', ...found } } : notFound;
    }
    const name = `${path.owner}/${path.repo}`;
    const repository = repositories.get(name);
    const elsewhere = moved.get(name);
    if (!repository && elsewhere && [...repositories.values()].includes(elsewhere)) {
      const location = `${address()}/repositories/${elsewhere.id}${asked.url.slice(`/repos/${name}`.length)}`;
      const status = asked.method === 'GET' ? 301 : 307;
      return { status, headers: { location }, body: { message: 'Moved Permanently', url: location } };
    }
    if (!repository) return notFound;
    const { issues, files } = repository;
    if (id === 'repos/get-collaborator-permission-level') {
      const permission = repository.permissions.get(path.username!);
      if (!permission) return notFound;
      return { status: 200, body: { permission, role_name: permission, user: { login: path.username } } };
    }
    if (id.startsWith('reactions/')) {
      const [, target] = /([a-z/]+\/\d+)\/reactions$/.exec(asked.url.replace(/^\/repos\/[^/]+\/[^/]+\//, '')) ?? [];
      const status = repository.reactions.includes(target!) ? 200 : 201;
      if (status === 201) repository.reactions.push(target!);
      return { status, body: { id: 1, content: 'eyes' } };
    }
    if (id === 'repos/create-commit-status') {
      repository.statuses.push({ sha: path.sha, ...(asked.body as object) } as Repository['statuses'][number]);
      return { status: 201, body: { id: 1, ...(asked.body as object) } };
    }
    if (id.startsWith('checks/'))
      return checkReply(repository, asked, id, path, isIssued && settings.app?.permissions.checks);
    if (id === 'actions/list-jobs-for-workflow-run-attempt') {
      const jobs = repository.jobs.filter(({ attempt }) => `${attempt}` === `${path.run_id} ${path.attempt_number}`);
      return {
        status: 200,
        body: { total_count: jobs.length, jobs: jobs.map(({ attempt: _, log: __, ...job }) => job) },
      };
    }
    if (id === 'actions/download-job-logs-for-workflow-run') {
      const job = repository.jobs.find((one) => one.id === Number(path.job_id));
      return job ? { status: 302, headers: { location: job.log }, body: {} } : notFound;
    }
    if (id === 'repos/get')
      return { status: 200, body: { id: repository.id, full_name: name, default_branch: 'main' } };
    if (id === 'git/delete-ref') {
      const isThere = repository.heads.delete(path.ref!.replace(/^heads\//, ''));
      return isThere ? { status: 204, body: {} } : { status: 422, body: { message: 'Reference does not exist' } };
    }
    if (id.startsWith('pulls/')) return pullRequestReply(repository, asked, id, path, query);
    if (id === 'repos/get-content') return contentOf(files, `${query.ref ?? 'main'}:${decodeURIComponent(path.path!)}`);
    if (id === 'issues/list-for-repo') {
      const wanted = issues.filter(({ state }) => query.state === 'all' || state === (query.state ?? 'open'));
      return { status: 200, body: pageIn(query.direction === 'asc' ? wanted : wanted.toReversed(), query) };
    }
    if (id === 'issues/create') {
      const issue = newIssue(`${path.owner}/${path.repo}`, issues, asked.body as Partial<GitHubIssue>);
      return { status: 201, body: issue };
    }
    if (id === 'issues/update-comment') {
      const all = [...issues, ...repository.pulls];
      const comment = all.flatMap(({ comments }): Comment[] => comments)[Number(path.comment_id) - 1];
      return comment ? { status: 200, body: withId(all, Object.assign(comment, asked.body)) } : notFound;
    }
    const pull = repository.pulls.find(({ number }) => number === Number(path.issue_number));
    if (id === 'issues/list-comments' && pull) {
      const said = pull.comments.filter((one) => !one.path);
      return { status: 200, body: said.map((one) => withId([...issues, ...repository.pulls], one)) };
    }
    if (id === 'issues/create-comment' && pull) {
      const { body } = asked.body as Comment;
      const html_url = `${pull.html_url}#issuecomment-${pull.comments.length + 1}`;
      const own = { body, html_url, created_at: isoTime(present()), user: { login: 'acme-bot', type: 'User' } };
      pull.comments.push(own);
      return { status: 201, body: withId([...issues, ...repository.pulls], own) };
    }
    const issue = issues.find(({ number }) => number === Number(path.issue_number));
    if (!issue) return notFound;
    if (id === 'issues/list-comments') {
      return { status: 200, body: pageIn(issue.comments, query).map((one) => withId(issues, one)) };
    }
    if (id === 'issues/get') return { status: 200, body: issue };
    if (id === 'issues/update') return { status: 200, body: Object.assign(issue, asked.body) };
    const { body } = asked.body as Comment;
    const html_url = `${issue.html_url}#issuecomment-${issue.comments.length + 1}`;
    issue.comments.push({ body, html_url, created_at: isoTime(present()) });
    return { status: 201, body: withId(issues, issue.comments.at(-1)!) };
  }

  /**
   * Answers requests that a GitHub App authenticates with a JWT, such as the request for an installation token. The App's key must have
   * signed the JWT, which may be valid for at most ten minutes.
   */
  async function answerApp({ headers }: Asked, id: string, installationId: string): Promise<Reply> {
    const { app } = settings;
    const jwt = headers.authorization?.replace(/^Bearer /, '') ?? '';
    const checked =
      app && (await jwtVerify(jwt, app.publicKey, { currentDate: new Date(present()) }).catch(() => null));
    const { iss, iat = 0, exp = 0 } = checked?.payload ?? {};
    if (!app || iss !== app.appId || exp - iat > 600) return badCredentials;
    if (String(installationId) !== app.installationId) return notFound;
    if (id === 'apps/get-installation') {
      const suspended_at = app.isSuspended ? isoTime(present()) : null;
      return { status: 200, body: { account: { login: 'acme' }, permissions: app.permissions, suspended_at } };
    }
    if (app.isSuspended) return { status: 403, body: { message: 'This installation has been suspended' } };
    const [issuedToken, until] = [`ghs_${issued.size}`, present() + hours(1)];
    issued.set(issuedToken, until);
    return { status: 201, body: { token: issuedToken, expires_at: isoTime(until), permissions: app.permissions } };
  }

  const address = () => `http://127.0.0.1:${(standIn.server.address() as AddressInfo).port}`;
  return {
    ...standIn,
    address: address(),
    settings,
    accepts,
    accounts,
    repositories,
    add,
    /** Creates an issue or a pull request in the stand-in, as if another GitHub user had opened it. */
    open: (name: string, issue: Partial<GitHubIssue>): GitHubIssue =>
      newIssue(name, repositories.get(name)!.issues, issue),
    /** Renames or transfers a repository. Calls that use its old name are redirected, until another repository takes that name. */
    rename(from: string, to: string): void {
      repositories.set(to, repositories.get(from)!);
      repositories.delete(from);
      moved.set(from, repositories.get(to)!);
    },
    /** Deletes all repositories and other records, and then adds empty repositories with these names. */
    clear(...names: string[]): void {
      repositories.clear();
      moved.clear();
      lastId = 0;
      for (const name of names) add(name);
      settings.token = token;
      delete settings.app;
      issued.clear();
      standIn.forget();
    },
  };
}

type NewPull = Pick<GitHubPullRequest, 'title' | 'body' | 'base'> & { head: string };

export const newPull = (of: string, number: number, { title, body, base, head }: NewPull): GitHubPullRequest => ({
  ...{ number, html_url: `https://github.com/${of}/pull/${number}`, state: 'open', title, body, base },
  ...{ merged: false, mergeable: true, mergeable_state: 'clean', head: { ref: head, sha: '' } },
  ...{ comments: [], reviews: [], threads: [] },
});

function checkHeaders({ headers, body }: Asked, operation: string, violate: Violate): void {
  const accept = operation === 'repos/get-content' ? 'application/vnd.github.raw+json' : 'application/vnd.github+json';
  if (headers.accept !== accept) violate(`accept: ${headers.accept}`);
  if (headers['x-github-api-version'] !== api.version) violate(`version: ${headers['x-github-api-version']}`);
  // GitHub rejects requests without a user agent.
  if (!headers['user-agent']) violate('no user-agent');
  if (body !== undefined && headers['content-type'] !== 'application/json') violate('content-type');
}

/** Comments are numbered across all issues of a repository. */
const withId = (issues: readonly { comments: Comment[] }[], comment: Comment) => ({
  ...comment,
  id: issues.flatMap(({ comments }) => comments).indexOf(comment) + 1,
});

function newIssue(repository: string, issues: GitHubIssue[], given: Partial<GitHubIssue>): GitHubIssue {
  const number = issues.length + 1;
  const issue: GitHubIssue = {
    title: '',
    body: '',
    labels: [],
    ...given,
    number,
    html_url: `https://github.com/${repository}/issues/${number}`,
    created_at: given.created_at ?? isoTime(present()),
    state: 'open',
    state_reason: null,
    comments: [],
  };
  issues.push(issue);
  return issue;
}

/** A branch and its base have one open pull request, which is merged at the commit that the caller has seen, as on GitHub. */
function pullRequestReply(
  { issues, pulls, heads }: Repository,
  { body }: Asked,
  id: string,
  { owner, repo, pull_number }: Record<string, string>,
  query: Record<string, unknown>,
): Reply {
  const shown = ({ head, comments: _, reviews: __, threads: ___, ...pull }: GitHubPullRequest) => ({
    ...pull,
    head: { ...head, sha: heads.get(head.ref)! },
  });
  const given = body as { title: string; body: string; head: string; base: string; sha: string };
  if (id === 'pulls/list') {
    const found = pulls.filter(
      ({ state, head, base }) => state === 'open' && `${owner}:${head.ref}` === query.head && base === query.base,
    );
    return { status: 200, body: pageIn(found.map(shown), query) };
  }
  if (id === 'pulls/create') {
    const isThere = pulls.some(({ state, head }) => state === 'open' && head.ref === given.head);
    if (isThere || !heads.has(given.head)) return { status: 422, body: { message: 'Validation Failed' } };
    // Issues and pull requests share their numbers.
    const number = issues.length + pulls.length + 1;
    pulls.push(newPull(`${owner}/${repo}`, number, given));
    return { status: 201, body: shown(pulls.at(-1)!) };
  }
  const pull = pulls.find(({ number }) => number === Number(pull_number));
  if (!pull) return notFound;
  if (id === 'pulls/list-review-comments') return { status: 200, body: pull.comments.filter((one) => one.path) };
  if (id.endsWith('review') || id.endsWith('reviews')) return reviewReply(pull, body);
  if (id === 'pulls/get') return { status: 200, body: shown(pull) };
  if (id === 'pulls/update') return { status: 200, body: shown(Object.assign(pull, given)) };
  if (pull.state !== 'open' || pull.mergeable_state !== 'clean')
    return { status: 405, body: { message: 'Pull Request is not mergeable' } };
  if (given.sha !== heads.get(pull.head.ref)) return { status: 409, body: { message: 'Head branch was modified.' } };
  Object.assign(pull, { state: 'closed', merged: true, mergeable: null, mergeable_state: 'unknown' });
  return { status: 200, body: { sha: given.sha, merged: true, message: 'Pull Request successfully merged' } };
}

/** Check runs: only an App with the permission may write them. */
function checkReply(
  { checks }: Repository,
  { body }: Asked,
  id: string,
  path: Record<string, string>,
  permission: unknown,
): Reply {
  if (!permission) return { status: 403, body: { message: 'Resource not accessible by integration' } };
  if (id === 'checks/list-for-ref') {
    const found = checks.filter(({ sha }) => sha === path.ref);
    return { status: 200, body: { total_count: found.length, check_runs: found } };
  }
  if (id === 'checks/update') {
    const check = checks.find((one) => one.id === Number(path.check_run_id));
    return check ? { status: 200, body: Object.assign(check, body) } : notFound;
  }
  const { head_sha: sha, ...check } = body as { head_sha: string };
  checks.push({ id: checks.length + 1, sha, ...check } as Repository['checks'][number]);
  return { status: 201, body: checks.at(-1)! };
}

function contentOf(files: Repository['files'], name: string): Reply {
  const content = files.get(name);
  if (content === undefined) return notFound;
  if (content === null) return { status: 200, body: [{ type: 'file', name: 'a.txt' }] };
  return { status: 200, headers: { 'content-type': 'application/vnd.github.raw+json; charset=utf-8' }, body: content };
}

const badCredentials: Reply = {
  status: 401,
  body: { message: 'Bad credentials', documentation_url: 'https://docs.github.com/rest' },
};
const notFound: Reply = {
  status: 404,
  body: { message: 'Not Found', documentation_url: 'https://docs.github.com/rest' },
};
