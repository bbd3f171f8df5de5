// The credentials of a Linear OAuth application (linear.app/developers/oauth-2-0-authentication, "Client credentials tokens"). In exchange
// for its id and secret, Linear issues tokens with which the application acts as itself: as the agent that people mention and delegate
// issues to.
import { z } from 'zod';
import { now, seconds } from '#foundation/clock.ts';
import { jsonOf } from '#foundation/http/outbound.ts';
import { findAccessToken, storeAccessToken } from '../../integrations/tokens.ts';
import { call, credentialsRefused, failed, numberIn, unexpectedAnswer, type VendorConnection } from '../connection.ts';
import { shareCall } from '../marks.ts';
import type { AppCredentials } from '../vendor.ts';

export interface LinearApp {
  clientId: string;
  clientSecret: string;
}

const prefix = 'linear-app:';

/** Encodes the application as one text, the form in which a connector stores credentials; null when there is no application. */
export const credentialsOfLinearApp = (app: LinearApp | null | undefined): AppCredentials | null =>
  app
    ? {
        vendor: 'linear',
        field: 'linearApp',
        write: () => prefix + Buffer.from(JSON.stringify(app)).toString('base64url'),
      }
    : null;

/** Decodes the application from a connector's credentials; null when they are an API key or a token. */
export const readLinearApp = (credentials: string): LinearApp | null =>
  credentials.startsWith(prefix)
    ? JSON.parse(Buffer.from(credentials.slice(prefix.length), 'base64url').toString())
    : null;

/** OAuth scopes of the application; the last two make it an agent in Linear. */
const scope = 'read,write,app:assignable,app:mentionable';

/**
 * The access token of the application. All processes share one token, because a new token invalidates the earlier one in Linear. @param
 * refused The token that Linear has rejected; another process may have replaced it. @throws Problems
 */
export async function tokenOfApp(
  connection: VendorConnection,
  app: LinearApp,
  refused: string | null,
): Promise<string> {
  const { connector } = connection;
  const known = connector && (await findAccessToken(connector));
  if (known && known !== refused) return known;
  return shareCall(`token of ${connection.credentials}`, async () => {
    const issued = await issueToken(connection, app);
    if (connector) await storeAccessToken(connector, issued);
    return issued.token;
  });
}

const Issued = z.object({ access_token: z.string().min(1), expires_in: z.number().positive() });
const Refusal = z.object({ error_description: z.string().optional(), error: z.string().optional() }).catch({});

async function issueToken(connection: VendorConnection, { clientId, clientSecret }: LinearApp) {
  const origin = { ...connection, address: connection.address.replace(/\/graphql$/, '') };
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret, scope };
  const headers = { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' };
  const text = new URLSearchParams(form).toString();
  const answered = await call(origin, '/oauth/token', {
    ...{ method: 'POST', headers, text, judgesNothing: true },
    limitIn: ({ status, headers }) => (status === 429 ? { after: numberIn(headers['retry-after']) } : null),
  });
  const { status } = answered;
  if (status >= 500) throw failed(connection, status);
  if (status !== 200) {
    const { error_description: words, error } = Refusal.parse(jsonOf(answered));
    throw credentialsRefused(connection, words ?? error);
  }
  const { data } = Issued.safeParse(jsonOf(answered));
  if (!data) throw unexpectedAnswer(connection);
  return { token: data.access_token, until: now() + seconds(data.expires_in) };
}
