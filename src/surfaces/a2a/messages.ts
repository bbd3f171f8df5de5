// The JSON-RPC of the agent-to-agent endpoint (A2A 1.0 §9, 0.3 §6 and §7). Missions are not offered over A2A yet: every method
// of the protocol answers the error that the protocol defines for that.
import { z } from 'zod';

interface ErrorCode {
  code: number;
  message: string;
  /** The error's name in A2A 1.0 §3.3.2; JSON-RPC's own errors have none. */
  reason?: string;
}

const unsupported: ErrorCode = {
  code: -32_004,
  reason: 'UNSUPPORTED_OPERATION',
  message: 'This operation is not supported: missions are not offered over A2A yet. Use the API or the MCP server.',
};
const noPushNotifications: ErrorCode = {
  code: -32_003,
  reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
  message: 'Push notifications are not supported.',
};
const noExtendedCard: ErrorCode = {
  code: -32_007,
  reason: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
  message: 'There is no extended agent card.',
};
const versionNotSupported: ErrorCode = {
  code: -32_009,
  reason: 'VERSION_NOT_SUPPORTED',
  message: 'This version of A2A is not supported: send 1.0 or 0.3 in A2A-Version.',
};
const methodNotFound: ErrorCode = { code: -32_601, message: 'Method not found' };
const invalidRequest: ErrorCode = { code: -32_600, message: 'The body is not a JSON-RPC 2.0 request with an id.' };
const invalidJson: ErrorCode = { code: -32_700, message: 'Invalid JSON payload' };

const methods: Record<'1.0' | '0.3', Map<string, ErrorCode>> = {
  '1.0': new Map([
    ['SendMessage', unsupported],
    ['SendStreamingMessage', unsupported],
    ['GetTask', unsupported],
    ['ListTasks', unsupported],
    ['CancelTask', unsupported],
    ['SubscribeToTask', unsupported],
    ['CreateTaskPushNotificationConfig', noPushNotifications],
    ['GetTaskPushNotificationConfig', noPushNotifications],
    ['ListTaskPushNotificationConfigs', noPushNotifications],
    ['DeleteTaskPushNotificationConfig', noPushNotifications],
    // §3.3.4: where the card does not promise one, requesting it is unsupported.
    ['GetExtendedAgentCard', unsupported],
  ]),
  '0.3': new Map([
    ['message/send', unsupported],
    ['message/stream', unsupported],
    ['tasks/get', unsupported],
    ['tasks/cancel', unsupported],
    ['tasks/resubscribe', unsupported],
    ['tasks/pushNotificationConfig/set', noPushNotifications],
    ['tasks/pushNotificationConfig/get', noPushNotifications],
    ['tasks/pushNotificationConfig/list', noPushNotifications],
    ['tasks/pushNotificationConfig/delete', noPushNotifications],
    ['agent/getAuthenticatedExtendedCard', noExtendedCard],
  ]),
};

const Request = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).optional(),
});

/** The JSON-RPC response to a body. Without `A2A-Version` it is read as 0.3 (A2A 1.0 §3.6). */
export function respond(text: string, version = '0.3') {
  const body = parsed(text);
  if (body === undefined) return errorResponse(null, invalidJson);
  const request = Request.safeParse(body);
  if (!request.success) return errorResponse(null, invalidRequest);
  const { id, method } = request.data;
  if (version !== '1.0' && version !== '0.3') return errorResponse(id, versionNotSupported);
  return errorResponse(id, methods[version].get(method) ?? methodNotFound);
}

function errorResponse(id: string | number | null, { code, message, reason }: ErrorCode) {
  const data = reason && [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'a2a-protocol.org' }];
  return { jsonrpc: '2.0', id, error: { code, message, ...(data && { data }) } };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
