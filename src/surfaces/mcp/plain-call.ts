// Calls tools without the SDK if the request is one message that gets one result. The SDK creates a server, a transport and objects of the
// fetch API for each request, which costs several times as much as the call itself (bench/README.md).
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Exchange } from '#foundation/http/http.ts';

const Id = z.union([z.string(), z.int()]);
/** JSON members that a plain call can have; a message with any other member is left to the SDK. */
const PlainCall = z.strictObject({
  jsonrpc: z.literal('2.0'),
  id: Id,
  method: z.literal('tools/call'),
  params: z.strictObject({
    name: z.string(),
    arguments: z.record(z.string(), z.unknown()).optional(),
    _meta: z
      .strictObject({
        progressToken: Id.optional(),
        traceparent: z.string().optional(),
        tracestate: z.string().optional(),
      })
      .optional(),
  }),
});
export type PlainCall = z.infer<typeof PlainCall>;

/**
 * Returns the message if it is a plain call of MCP 2025-11-25 or before. Undefined for every other message, including invalid ones, which
 * the SDK handles.
 */
export function plainCallOf({ req }: Exchange, message: unknown): PlainCall | undefined {
  const { accept = '', 'mcp-protocol-version': version } = req.headers;
  if (!accept.includes('application/json') || !accept.includes('text/event-stream')) return undefined;
  if (version !== undefined && !SUPPORTED_PROTOCOL_VERSIONS.includes(String(version))) return undefined;
  return PlainCall.safeParse(message).data;
}
