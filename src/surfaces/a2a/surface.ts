// The agent-to-agent endpoint at {a2a_url}: a separate resource, with a public agent card (A2A 1.0 §8.2, §9;
// docs/contract.md#tokens-and-resources).
import { A2A_VERSION_HEADER, formatSSEEvent } from '@a2a-js/sdk';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { admit } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import type { Scope } from '#access/scopes.ts';
import { addresses } from '#foundation/http/addresses.ts';
import { sendEvents } from '#foundation/http/event-stream.ts';
import { answerJson, type Exchange, mediaType, parseJson, readText } from '#foundation/http/http.ts';
import { unsupportedMediaType } from '#foundation/problem.ts';
import { bytes, subscriptions } from '#limits.ts';
import { refuseFor } from '../bearer.ts';
import { allowMethods, type CallerSettings, framed, identify } from '../frame.ts';
import { createSlotLimiter, holdOpen } from '../subscription-slots.ts';
import { agentCard, signedCard } from './card.ts';
import { withDetails } from './errors.ts';
import { type Call, callKey, createHandler } from './handler.ts';

export interface A2aSettings extends CallerSettings {
  version: string;
  subscriptionsPerOrganization?: number;
}

const wellKnown = '/.well-known/agent-card.json';

interface Method {
  scope: Scope;
  /** Whether the method keeps a connection open, which needs a slot. */
  waits?: true;
}
const send: Method = { scope: 'missions:run', waits: true };
const cancel: Method = { scope: 'missions:run' };
const read: Method = { scope: 'missions:read' };
const follow: Method = { scope: 'missions:read', waits: true };

/**
 * The methods, each with its name in version 1.0 of the protocol and its name in version 0.3. Methods that are not listed only return errors,
 * so any identified caller may call them.
 */
const methods: Readonly<Record<string, Method>> = {
  SendMessage: send,
  'message/send': send,
  SendStreamingMessage: send,
  'message/stream': send,
  CancelTask: cancel,
  'tasks/cancel': cancel,
  GetTask: read,
  'tasks/get': read,
  ListTasks: read,
  SubscribeToTask: follow,
  'tasks/resubscribe': follow,
  CreateTaskPushNotificationConfig: read,
  GetTaskPushNotificationConfig: read,
  ListTaskPushNotificationConfigs: read,
  DeleteTaskPushNotificationConfig: read,
  'tasks/pushNotificationConfig/set': read,
  'tasks/pushNotificationConfig/get': read,
  'tasks/pushNotificationConfig/list': read,
  'tasks/pushNotificationConfig/delete': read,
};

/**
 * A signal for all calls that do not wait for changes of a task. To create a signal for each call would cost as much as a database
 * statement.
 */
const neverAborted = new AbortController().signal;

const jsonRpcError = (code: number, message: string, id: unknown = null, reason?: string) => ({
  jsonrpc: '2.0',
  id,
  error: {
    code,
    message,
    ...(reason && {
      data: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'a2a-protocol.org' }],
    }),
  },
});
const invalidJson = jsonRpcError(-32_700, 'Invalid JSON payload');
const invalidRequest = jsonRpcError(-32_600, 'The body is not a JSON-RPC 2.0 request with an id.');
const versionNotSupported = (id: unknown) =>
  jsonRpcError(
    -32_009,
    'This version of A2A is not supported: send 1.0 or 0.3 in A2A-Version.',
    id,
    'VERSION_NOT_SUPPORTED',
  );

const errorMappers = {
  '1.0': JsonRpcTransportHandler.mapToJSONRPCError,
  '0.3': LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError,
};

interface Request extends Record<string, unknown> {
  id: string | number;
  method: string;
}
const isRequest = (body: unknown): body is Request => {
  const { jsonrpc, id, method } = (body ?? {}) as Partial<Request>;
  return jsonrpc === '2.0' && (typeof id === 'string' || Number.isInteger(id)) && typeof method === 'string';
};

export function createA2a(settings: A2aSettings) {
  const { host, pathname: endpoint } = new URL(addresses().a2a);
  const card = agentCard(settings.version);
  // RFC 8615 places the agent card at the root of the host. Some clients know only {a2a_url} and search for the card below this URL, so the
  // card is served at both addresses.
  const cards = new Set([wellKnown, endpoint.replace(/\/$/, '') + wellKnown]);
  const handler = createHandler();
  const transports = { '1.0': new JsonRpcTransportHandler(handler), '0.3': new LegacyJsonRpcTransportHandler(handler) };
  const { openCall, shortCall } = createCalls(settings);

  async function answerCard(exchange: Exchange): Promise<void> {
    allowMethods(exchange, 'GET', 'HEAD');
    const headers = { 'cache-control': 'public, max-age=300', 'access-control-allow-origin': '*' };
    answerJson(exchange, 200, await signedCard(card), headers);
  }

  async function answerMessage(exchange: Exchange): Promise<void> {
    const caller = await identify(settings, exchange);
    allowMethods(exchange, 'POST');
    if (mediaType(exchange) !== 'application/json') throw unsupportedMediaType('Send the request as application/json.');
    const body = parseJson(await readText(exchange, bytes.jsonBody));
    if (body === undefined) return answerRpc(exchange, invalidJson);
    if (!isRequest(body)) return answerRpc(exchange, invalidRequest);
    // If the header is absent, the version is 0.3 (A2A 1.0 §3.6).
    const version = String(exchange.req.headers[A2A_VERSION_HEADER.toLowerCase()] || '0.3');
    if (version !== '1.0' && version !== '0.3') return answerRpc(exchange, versionNotSupported(body.id));
    const method = Object.hasOwn(methods, body.method) ? methods[body.method] : undefined;
    if (method) admit(caller, method.scope);
    exchange.route = method ? `${endpoint} ${body.method}` : endpoint;
    const call = method?.waits ? openCall(exchange, caller) : shortCall(exchange, caller);
    const context = new ServerCallContext({ requestedVersion: version, state: new Map([[callKey, call]]) });
    const response = await transports[version].handle(body, context);
    if (Symbol.asyncIterator in response)
      await answerStream(exchange, response, (error) => ({
        jsonrpc: '2.0',
        id: body.id,
        error: withDetails(errorMappers[version](error), call),
      }));
    else if ('error' in response) answerRpc(exchange, { ...response, error: withDetails(response.error, call) });
    else answerRpc(exchange, response);
  }

  async function handle(exchange: Exchange): Promise<void> {
    const isCard = cards.has(exchange.path);
    exchange.route = isCard ? wellKnown : endpoint;
    await (isCard ? answerCard(exchange) : answerMessage(exchange));
  }

  /** An endpoint on a separate host may have the path `/`. On every other host, `/` belongs to the console. */
  const owns = (path: string, requestHost: string | undefined): boolean =>
    cards.has(path) || (path === endpoint && (endpoint !== '/' || requestHost === host));
  return { name: 'a2a', owns, handle: framed(handle, { ...settings, refuse: refuseFor('a2a') }) };
}

/** Creates the contexts that methods receive: for short calls, and for calls that wait for a task. */
function createCalls(settings: A2aSettings) {
  const perOrganization = settings.subscriptionsPerOrganization ?? subscriptions.perOrganization;
  const takeSlot = createSlotLimiter({ ...subscriptions, perOrganization });

  const shortCall = (exchange: Exchange, caller: Caller): Call => ({
    caller,
    signal: neverAborted,
    authenticate: () => settings.authenticate(exchange),
    report: (error) => settings.report(exchange, error),
  });

  /** Context of a call that waits. The caller is checked again even while nothing changes, because its credential may have been revoked. */
  function openCall(exchange: Exchange, caller: Caller): Call {
    const signal = holdOpen(exchange, takeSlot(caller), () => settings.authenticate(exchange));
    return { ...shortCall(exchange, caller), signal };
  }

  return { openCall, shortCall };
}

const answerRpc = (exchange: Exchange, response: unknown): void =>
  answerJson(exchange, 200, response, { 'cache-control': 'no-store' });

/** Sends server-sent events. An error before the first event is sent as an ordinary response. */
async function answerStream(
  exchange: Exchange,
  events: AsyncGenerator<unknown>,
  errorResponse: (error: unknown) => unknown,
): Promise<void> {
  let first: IteratorResult<unknown>;
  try {
    first = await events.next();
  } catch (error) {
    return answerRpc(exchange, errorResponse(error));
  }
  await sendEvents(exchange.res, {
    first,
    rest: events,
    blocksOf: formatSSEEvent,
    blocksOfError: (error) => formatSSEEvent(errorResponse(error)),
  });
}
