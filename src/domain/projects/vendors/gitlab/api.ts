// GitLab's REST API (docs.gitlab.com/api/rest, version 4): calls, and the conversion of failures to problems.
import { seconds } from '#foundation/clock.ts';
import { jsonOf, type OutboundResponse } from '#foundation/http/outbound.ts';
import { conflict, type Problem } from '#foundation/problem.ts';
import {
  call,
  isRepositoryName,
  numberIn,
  openFetch,
  problemOfStatus,
  type RateLimit,
  type SendCall,
  type VendorConnection,
} from '../connection.ts';

interface OfProject {
  scmOwner: string;
  scmRepo: string;
}

/** The path of a project with its groups, `group/subgroup/project`. The stored owner has `%2F` in place of the slash between group and subgroup. */
export const fullPathOf = ({ scmOwner, scmRepo }: OfProject): string =>
  `${scmOwner.replaceAll(/%2f/gi, '/')}/${scmRepo}`;

/** The stored form of a path: `group%2Fsubgroup/project`. */
export function repositoryOf(fullPath: string): string {
  const at = fullPath.lastIndexOf('/');
  return `${fullPath.slice(0, at).replaceAll('/', '%2F')}${fullPath.slice(at)}`;
}

/** The API path of a project. @throws 409 for an invalid path */
export function projectPath(project: OfProject): string {
  const fullPath = fullPathOf(project);
  if (!fullPath.split('/').every(isRepositoryName)) throw unknownProject(fullPath);
  return `/projects/${encodeURIComponent(fullPath)}`;
}

const unknownProject = (name: string): Problem =>
  conflict(`The connector cannot see the project ${name} on GitLab: correct repoFullName, or give its token access.`);

/** The base URL of web pages and repositories, without the path of the API. */
export const siteOf = ({ address }: VendorConnection): string => address.replace(/\/api\/v4$/, '');

const limitIn = ({ status, headers }: OutboundResponse): RateLimit | null =>
  status === 429
    ? { after: numberIn(headers['retry-after']), until: seconds(numberIn(headers['ratelimit-reset'])) }
    : null;

/** Returns the response with any status, except a rate limit. */
export const callGitLab: SendCall = async (connection, path, question) => {
  const answered = await send(connection, path, question);
  const project = /^\/projects\/[^/?]+/.exec(path)?.[0];
  if (!project || !isOfMoved(answered)) return answered;
  const { location = '' } = (await send(connection, project)).headers;
  const id = /\/projects\/\d+(?=$|\?)/.exec(location)?.[0];
  return id ? send(connection, path.replace(project, id), question) : answered;
};

/** Whether the response concerns a renamed or transferred project: GitLab redirects reads to the project's id, and refuses writes. */
const isOfMoved = (answered: OutboundResponse): boolean =>
  answered.status === 301 || (answered.status === 405 && /moved projects/.test(wordsOf(answered) ?? ''));

const send: SendCall = (connection, path, { headers, ...question } = {}) =>
  call(connection, path, {
    ...question,
    limitIn,
    headers: { accept: 'application/json', authorization: `Bearer ${connection.credentials}`, ...headers },
  });

/** GitLab's error message: a text, or errors by member. */
export function wordsOf(answered: OutboundResponse): string | null {
  const { message, error_description, error } = (jsonOf(answered) ?? {}) as Record<string, unknown>;
  const words = message ?? error_description ?? error;
  return words == null ? null : typeof words === 'string' ? words : JSON.stringify(words);
}

/** The problem for a response that is not a success. */
export function gitlabRefusal(connection: VendorConnection, path: string, answered: OutboundResponse): Problem {
  const { status } = answered;
  const project = decodeURIComponent(/^\/projects\/([^/?]+)/.exec(path)?.[1] ?? '');
  if (project && status === 404) return unknownProject(project);
  if (project && status < 400) return conflict(`GitLab has moved the project ${project}: correct repoFullName.`);
  return problemOfStatus(connection, status, wordsOf(answered));
}

const botName =
  /^(?:project|group)_\d+_bot(?:_\w+)?$|^service_account_|^(?:gitlab|ghost|support-bot|alert-bot)$|-bot$/i;
/** Whether a user name belongs to a project or group token, a service account, or GitLab itself. */
export const isBotName = (username: string): boolean => botName.test(username);

/** Escapes quick actions: a line such as `/merge` in a description or note would act with the rights of the token. */
export const withoutQuickActions = (text: string): string => text.replaceAll(/^([^\S\n]*)\/(?=\w)/gm, '$1\\/');

export const fetchGitLab = openFetch(callGitLab, gitlabRefusal);
