// Notices about credentials: tokens that expire soon, and connectors whose credentials the vendor rejects.
import type { Caller } from '#access/principal.ts';
import { ownOrganization } from '#access/reach.ts';
import { days, isoTime, now } from '#foundation/clock.ts';
import { listExpiringTokens } from '../../../identity/tokens/operations.ts';
import { listBrokenIntegrations } from '../../../projects/integrations/operations.ts';
import { type Condition, inQuotes } from '../model.ts';

/** Days before the expiry of a token at which a notice appears; of several that apply, only the smallest counts. */
const tokenDays = [1, 7, 14] as const;

/**
 * Notices about tokens that expire soon. A caller in a console session gets notices about all tokens of the person; a caller with a token
 * gets notices only about that token.
 */
export async function expiringTokens(caller: Caller): Promise<Condition[]> {
  if (caller.userId === null) return [];
  const at = now();
  const tokens = await listExpiringTokens(ownOrganization(caller), caller.userId, at + days(Math.max(...tokenDays)));
  return tokens
    .filter(({ id }) => caller.principalType === 'cookie' || caller.credentialId === id)
    .flatMap(({ id, name, createdAt, expiresAt }): Condition[] => {
      // A threshold applies only to tokens with a longer lifetime: otherwise a new token would cause a notice at once.
      const left = tokenDays.find((n) => expiresAt - at <= days(n) && expiresAt - createdAt > days(n));
      if (!left) return [];
      return [
        {
          id: `token_expiring:${id}:${left}`,
          kind: left === 1 ? 'action' : 'warning',
          title: `The token ${inQuotes(name)} expires in ${left === 1 ? 'one day' : `${left} days`} or less`,
          body: `It expires at ${isoTime(expiresAt)}. Create a new one for the programs that use it.`,
          page: '/tokens',
          createdAt: expiresAt - days(left),
        },
      ];
    });
}

export const brokenConnectors = async (caller: Caller): Promise<Condition[]> =>
  (await listBrokenIntegrations(ownOrganization(caller))).map(({ id, displayName, brokenSince }) => ({
    id: `connector_broken:${id}:${brokenSince}`,
    kind: 'action',
    title: `The connector ${inQuotes(displayName)} does not work`,
    body: 'The vendor rejects its credentials. Missions of projects with this connector cannot continue until the credentials are replaced.',
    page: '/integrations',
    createdAt: brokenSince!,
  }));
