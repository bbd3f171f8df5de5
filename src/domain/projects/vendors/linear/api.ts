// Linear's GraphQL API (linear.app/developers): calls, and the conversion of failures to problems. Errors arrive with any HTTP status;
// their type is in their extensions.
import { z } from 'zod';
import { jsonOf, type OutboundResponse } from '#foundation/http/outbound.ts';
import type { Problem } from '#foundation/problem.ts';
import { noteCredentials } from '../../integrations/operations.ts';
import {
  beyondCredentials,
  call,
  credentialsRefused,
  failed,
  isFinal,
  numberIn,
  type RateLimit,
  refusedBy,
  unexpectedAnswer,
  type VendorConnection,
} from '../connection.ts';
import { readLinearApp, tokenOfApp } from './app.ts';

const LinearError = z.object({
  message: z.string().catch(''),
  extensions: z
    .object({
      type: z.string(),
      code: z.string(),
      /** Whether the error was caused by the request. */
      userError: z.boolean(),
      userPresentableMessage: z.string(),
    })
    .partial()
    .catch({}),
});
const Answer = z.object({ data: z.unknown().optional(), errors: z.array(LinearError).optional() });

/** A personal API key is sent unchanged, any other token as a bearer token. */
const authorization = (credentials: string): string =>
  credentials.startsWith('lin_api_') ? credentials : `Bearer ${credentials}`;

/**
 * Maximum number of attempts at a call with an access token of an application. Linear rejects a token that another process has replaced in the
 * meantime, which can happen to the first and to the second token.
 */
const attempts = 3;

async function ask(connection: VendorConnection, json: object): Promise<OutboundResponse> {
  const { connector, credentials } = connection;
  const send = (token: string, judgesNothing = false) => {
    const headers = { accept: 'application/json', authorization: authorization(token) };
    return call(connection, '', { method: 'POST', headers, json, limitIn, judgesNothing });
  };
  const app = readLinearApp(credentials);
  if (!app) return send(credentials);
  let refused: string | null = null;
  for (let attempt = 1; ; attempt++) {
    const token: string = await tokenOfApp(connection, app, refused);
    // A rejected token does not mean that the application's own credentials are invalid.
    const answered = await send(token, true);
    if (answered.status === 401 && attempt < attempts) refused = token;
    else {
      if (connector && answered.status < 300) await noteCredentials(connector, true);
      return answered;
    }
  }
}

/** Executes a GraphQL operation of Linear, and returns the data of the response. @throws Problems */
export async function queryLinear<T>(
  connection: VendorConnection,
  shape: z.ZodType<T>,
  query: string,
  variables: object,
): Promise<T> {
  const answered = await ask(connection, { query, variables });
  const answer = answerIn(answered);
  const [error] = answer.errors ?? [];
  if (error || answered.status !== 200) throw problemOf(connection, answered, error);
  const { success, data } = shape.safeParse(answer.data);
  if (!success) throw unexpectedAnswer(connection);
  return data;
}

const answerIn = (answered: OutboundResponse): z.infer<typeof Answer> =>
  Answer.safeParse(jsonOf(answered)).data ?? { data: undefined };

function limitIn(answered: OutboundResponse): RateLimit | null {
  const { status, headers } = answered;
  const { type, code } = answerIn(answered).errors?.[0]?.extensions ?? {};
  if (status !== 429 && code !== 'RATELIMITED' && type !== 'ratelimited') return null;
  const resets = ['requests', 'complexity', 'endpoint-requests']
    .filter((limit) => headers[`x-ratelimit-${limit}-remaining`] === '0')
    .map((limit) => numberIn(headers[`x-ratelimit-${limit}-reset`]));
  return { after: numberIn(headers['retry-after']), until: Math.max(0, ...resets) };
}

/** The types of errors for which retrying is pointless. */
const lasting = ['invalid input', 'user error', 'graphql error', 'feature not accessible', 'usage limit exceeded'];

function problemOf(
  connection: VendorConnection,
  { status }: OutboundResponse,
  error?: z.infer<typeof LinearError>,
): Problem {
  const { type, code, userError, userPresentableMessage: words = error?.message } = error?.extensions ?? {};
  if (status === 401 || code === 'AUTHENTICATION_ERROR' || type === 'authentication error')
    return credentialsRefused(connection, words);
  if (status === 403 || code === 'FORBIDDEN' || type === 'forbidden') return beyondCredentials(connection, words);
  const lasts = userError || lasting.includes(type ?? '') || (!type && status >= 400 && status < 500);
  return lasts ? refusedBy(connection, 'the request', words) : failed(connection, status);
}

/**
 * Calls `make`, which creates a record. If Linear refuses to create the record, calls `read`, which reads or changes the record that already
 * exists. If no such record exists, throws the error with which Linear refused the creation.
 */
export async function onlyOnce<T>(make: () => Promise<T>, read: () => Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (refusal) {
    if (!isFinal(refusal)) throw refusal;
    return read().catch((error) => {
      throw isFinal(error) ? refusal : error;
    });
  }
}
