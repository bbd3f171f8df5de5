// Checks credentials for GitLab: a token of a person, a project, a group or a service account.
import { z } from 'zod';
import { jsonOf } from '#foundation/http/outbound.ts';
import type { VendorConnection } from '../connection.ts';
import { AccountName, accepted, rejected, type Verdict } from '../vendor.ts';
import { callGitLab, gitlabRefusal } from './api.ts';

const User = z.object({ username: AccountName });
const Token = z.object({ scopes: z.array(z.string()) });

/**
 * GitLab's REST operations "Retrieve the current user" and "Retrieve details on a personal access token", which shows the scopes of the
 * token in use.
 */
export async function checkGitLab(connection: VendorConnection): Promise<Verdict> {
  const answered = await callGitLab(connection, '/user');
  const { status } = answered;
  const user = status === 200 ? User.safeParse(jsonOf(answered)).data : undefined;
  if (!user) {
    if (status === 401 || status === 403 || status === 429 || status >= 500)
      throw gitlabRefusal(connection, '/user', answered);
    return rejected('baseUrl', `No GitLab API was found at ${connection.address} (status ${status}).`);
  }
  const token = await callGitLab(connection, '/personal_access_tokens/self');
  // Credentials other than access tokens, such as OAuth tokens, have no record with scopes.
  const scopes = token.status === 200 ? Token.safeParse(jsonOf(token)).data?.scopes : undefined;
  if (scopes && !scopes.includes('api'))
    return rejected('credentials', `The token has the scopes ${scopes.join(', ')}; it needs api.`);
  return accepted(user.username);
}
