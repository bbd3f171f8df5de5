// Slack's Web API (docs.slack.dev/apis/web-api): every method accepts a form. Refusals have the status 200 and `ok: false`.
import { z } from 'zod';
import { jsonOf, type OutboundResponse } from '#foundation/http/outbound.ts';
import { noteCredentials } from '../../integrations/operations.ts';
import {
  call,
  credentialsRefused,
  failed,
  numberIn,
  type RateLimit,
  refusedBy,
  unexpectedAnswer,
  type VendorConnection,
} from '../connection.ts';

const Answer = z.object({ ok: z.boolean(), error: z.string().catch(''), needed: z.string().optional() });

/** Errors that every method can return, and that only a new token can correct. */
const ofToken = ['invalid_auth', 'not_authed', 'account_inactive', 'token_revoked', 'token_expired', 'no_permission'];
/** Errors after which another attempt may succeed. */
const passing = ['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout'];

function limitIn(answered: OutboundResponse): RateLimit | null {
  const isLimited = answered.status === 429 || Answer.safeParse(jsonOf(answered)).data?.error === 'ratelimited';
  return isLimited ? { after: numberIn(answered.headers['retry-after']) } : null;
}

/** Calls a method and returns its answer. @param ignored Errors that are not thrown. @throws Problems */
export async function callSlack<T>(
  connection: VendorConnection,
  method: string,
  args: Readonly<Record<string, string | null>>,
  shape: z.ZodType<T>,
  ignored: readonly string[] = [],
): Promise<T> {
  const { connector, credentials } = connection;
  const given = Object.entries(args).filter((entry): entry is [string, string] => entry[1] !== null);
  const headers = {
    accept: 'application/json',
    authorization: `Bearer ${credentials}`,
    'content-type': 'application/x-www-form-urlencoded',
  };
  const text = new URLSearchParams(given).toString();
  // Slack answers 200 even for a rejected token, so the body shows whether the credentials were accepted.
  const request = { method: 'POST', headers, text, judgesNothing: true, limitIn } as const;
  const answered = await call(connection, `/${method}`, request);
  if (answered.status !== 200) throw failed(connection, answered.status);
  const body = jsonOf(answered);
  const { data: answer } = Answer.safeParse(body);
  if (!answer) throw unexpectedAnswer(connection);
  if (connector) await noteCredentials(connector, !ofToken.includes(answer.error));
  if (!answer.ok && !ignored.includes(answer.error)) throw problemOf(connection, method, answer);
  const { success, data } = shape.safeParse(body);
  if (!success) throw unexpectedAnswer(connection);
  return data;
}

function problemOf(connection: VendorConnection, method: string, { error, needed }: z.infer<typeof Answer>) {
  if (passing.includes(error)) return failed(connection, 200);
  if (ofToken.includes(error)) return credentialsRefused(connection, error);
  const words = error === 'missing_scope' && needed ? `the app lacks the scope ${needed}` : error;
  return refusedBy(connection, `the call ${method}`, words);
}
