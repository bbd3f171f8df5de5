// Checks credentials for GitHub: a token, or an installation of an App.
import { z } from 'zod';
import { jsonOf } from '#foundation/http/outbound.ts';
import type { VendorKind } from '../../integrations/model.ts';
import { unexpectedAnswer, type VendorConnection } from '../connection.ts';
import { AccountName, accepted, rejected, type Verdict } from '../vendor.ts';
import { callAsApp, callGitHub, refusalOf } from './api.ts';
import { type GitHubApp, readApp } from './app.ts';

const GitHubUser = z.object({ login: AccountName });

/** GitHub's REST operation "Get the authenticated user": tokens need no permission for it. */
export async function checkGitHub(connection: VendorConnection): Promise<Verdict> {
  const app = readApp(connection.credentials);
  if (app) return checkInstallation(connection, app);
  const answered = await callGitHub(connection, '/user');
  const { status } = answered;
  const { data } = status === 200 ? GitHubUser.safeParse(jsonOf(answered)) : {};
  if (data) return accepted(data.login);
  if (status === 401 || status === 403 || status === 429 || status >= 500) {
    throw refusalOf(connection, '/user', answered);
  }
  return rejected('baseUrl', `No GitHub API was found at ${connection.address} (status ${status}).`);
}

const Installation = z.object({
  account: GitHubUser,
  permissions: z.record(z.string(), z.string()),
  suspended_at: z.string().nullish(),
});

/** Permissions that a connector of this kind needs. */
const needed: Readonly<Partial<Record<VendorKind, readonly string[]>>> = {
  tracker: ['issues'],
  scm: ['contents', 'pull_requests'],
};

/** GitHub's REST operation "Get an installation for the authenticated app". */
async function checkInstallation(connection: VendorConnection, app: GitHubApp): Promise<Verdict> {
  const path = `/app/installations/${app.installationId}`;
  const answered = await callAsApp(connection, app, path);
  if (answered.status === 404)
    return rejected('credentials', `The App ${app.appId} has no installation ${app.installationId} on GitHub.`);
  if (answered.status !== 200) throw refusalOf(connection, path, answered);
  const { data } = Installation.safeParse(jsonOf(answered));
  if (!data) throw unexpectedAnswer(connection);
  if (data.suspended_at) return rejected('credentials', 'GitHub has suspended the installation of the App.');
  const missing = (needed[connection.kind] ?? []).filter((name) => data.permissions[name] !== 'write');
  if (missing.length > 0)
    return rejected('credentials', `The installation of the App lacks write permission for ${missing.join(' and ')}.`);
  return accepted(data.account.login);
}
