// GitHub's REST API (docs.github.com/rest, version 2022-11-28): calls, and the conversion of failures to problems. GitHub reports a rate
// limit by 429, or by 403 with a header or message about it.
import { z } from 'zod';
import { minutes, now, seconds } from '#foundation/clock.ts';
import { jsonOf, type OutboundResponse } from '#foundation/http/outbound.ts';
import { conflict, type Problem } from '#foundation/problem.ts';
import {
  call,
  isRepositoryName,
  numberIn,
  openFetch,
  problemOfStatus,
  type RateLimit,
  refusedBy,
  type SendCall,
  unexpectedAnswer,
  type VendorCall,
  type VendorConnection,
} from '../connection.ts';
import { appToken, type GitHubApp, readApp } from './app.ts';

/** The API path of a repository. @throws 409 for an invalid GitHub name */
export function repositoryPath({ scmOwner, scmRepo }: { scmOwner: string; scmRepo: string }): string {
  if (!isRepositoryName(scmOwner) || !isRepositoryName(scmRepo)) throw unknownRepository(`${scmOwner}/${scmRepo}`);
  return `/repos/${scmOwner}/${scmRepo}`;
}

const unknownRepository = (name: string): Problem =>
  conflict(
    `The connector cannot see the repository ${name} on GitHub: correct repoFullName, or give its credentials access.`,
  );

const callAs = (
  connection: VendorConnection,
  token: string,
  path: string,
  { headers, ...question }: VendorCall = {},
): Promise<OutboundResponse> =>
  call(connection, path, {
    ...question,
    limitIn,
    headers: {
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
      authorization: `Bearer ${token}`,
      ...headers,
    },
  });

function limitIn(answered: OutboundResponse): RateLimit | null {
  const { status, headers } = answered;
  const isSpent = headers['x-ratelimit-remaining'] === '0';
  const isLimited =
    status === 429 ||
    (status === 403 && (isSpent || headers['retry-after'] || /rate limit|abuse/i.test(messageOf(answered) ?? '')));
  if (!isLimited) return null;
  const reset = seconds(numberIn(headers['x-ratelimit-reset']));
  return { after: numberIn(headers['retry-after']), until: isSpent ? reset : 0 };
}

function messageOf(answered: OutboundResponse): string | null {
  const { message } = (jsonOf(answered) ?? {}) as { message?: unknown };
  return typeof message === 'string' ? message : null;
}

/** Returns the response with any status, except a rate limit. */
export const callGitHub: SendCall = async (connection, path, question) => {
  const token = await tokenOf(connection);
  const answered = await callAs(connection, token, path, question);
  const target = movedTo(connection, answered);
  return target ? callAs(connection, token, target, question) : answered;
};

/**
 * The path to which GitHub redirects a request for a renamed or transferred repository. The path contains the id of the repository. Null for any
 * other response.
 */
function movedTo({ address }: VendorConnection, { status, headers }: OutboundResponse): string | null {
  const { location = '' } = headers;
  const isMoved = [301, 302, 307, 308].includes(status) && location.startsWith(`${address}/repositories/`);
  return isMoved ? location.slice(address.length) : null;
}

/** Calls the API as the App itself, not as one of its installations. */
export const callAsApp = async (
  connection: VendorConnection,
  app: GitHubApp,
  path: string,
  question?: VendorCall,
): Promise<OutboundResponse> => callAs(connection, await appToken(app), path, question);

const InstallationToken = z.object({ token: z.string(), expires_at: z.iso.datetime({ offset: true }) });

/** Cached installation tokens by connector and credentials, oldest first. GitHub lets each token live for an hour. */
const tokens = new Map<string, { token: string; until: number }>();
const maxTokens = 1_000;
/** Remaining lifetime below which a token is replaced, so that it stays valid during a whole clone. */
const reserveMs = minutes(15);

/**
 * The token for calls and for git: the stored token, or a token of the App's installation.
 * @param permissions Permissions of an App's token; absent means all of the installation. @throws Problems
 */
export async function tokenOf(connection: VendorConnection, permissions?: Record<string, string>): Promise<string> {
  const { credentials, address } = connection;
  const app = readApp(credentials);
  if (!app) return credentials;
  const key = `${address} ${credentials} ${JSON.stringify(permissions)}`;
  const known = tokens.get(key);
  if (known && known.until > now()) return known.token;
  const path = `/app/installations/${app.installationId}/access_tokens`;
  const answered = await callAsApp(connection, app, path, {
    method: 'POST',
    ...(permissions && { json: { permissions } }),
  });
  if (answered.status !== 201) throw refusalOf(connection, path, answered);
  const { data } = InstallationToken.safeParse(jsonOf(answered));
  if (!data) throw unexpectedAnswer(connection);
  tokens.delete(key);
  tokens.set(key, { token: data.token, until: Date.parse(data.expires_at) - reserveMs });
  if (tokens.size > maxTokens) tokens.delete(tokens.keys().next().value!);
  return data.token;
}

/** The problem for a response that is not a success. */
export function refusalOf(connection: VendorConnection, path: string, answered: OutboundResponse): Problem {
  const { status } = answered;
  const words = messageOf(answered);
  if (status >= 500 || status === 401) return problemOfStatus(connection, status, words);
  if (path.startsWith('/app/')) return refusedBy(connection, 'the installation of the App', words);
  const repository = path.split('/').slice(2, 4).join('/');
  if (status === 404) return unknownRepository(repository);
  if (status === 410) return conflict(`Issues are disabled for ${repository} on GitHub: enable them in its settings.`);
  if (status < 400) return conflict(`GitHub has moved the repository ${repository}: correct repoFullName.`);
  return problemOfStatus(connection, status, words);
}

export const fetchGitHub = openFetch(callGitHub, refusalOf);
