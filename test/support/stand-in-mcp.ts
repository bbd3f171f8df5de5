// A stand-in for the platform's MCP server: streamable HTTP with JSON responses, one tool, behind a bearer token.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json } from '../../src/runner/harness/fragments.ts';

export async function startMcp(token: string) {
  const calls: Json[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    if (request.headers.authorization !== `Bearer ${token}`) return response.writeHead(401).end() as never;
    if (request.method !== 'POST') return response.writeHead(405).end() as never;
    const { id, method, params } = JSON.parse(text);
    if (id === undefined) return response.writeHead(202).end() as never;
    const answers: Record<string, () => Json> = {
      initialize: () => ({
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'platform', version: '1' },
      }),
      ping: () => ({}),
      'tools/list': () => ({
        tools: [
          {
            name: 'comment',
            description: 'Comments on the issue',
            inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
          },
        ],
      }),
      'tools/call': () => {
        calls.push(params);
        return { content: [{ type: 'text', text: `noted: ${params.arguments.text}` }] };
      },
    };
    const body = answers[method]
      ? { result: answers[method]!() }
      : { error: { code: -32601, message: `no ${method}` } };
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    calls,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
