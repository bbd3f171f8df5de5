// A remote MCP server controlled by the test, with an authorization server alongside it: a loopback server that records its
// requests. mcp-reference-servers.ts has real servers; the one here misbehaves on demand.
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// biome-ignore lint/suspicious/noExplicitAny: tests read messages of any shape
type Json = any;

export interface AskedMcp {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: Json;
}

export type RemoteMcp = Awaited<ReturnType<typeof openRemoteMcp>>;

/** Answers a request itself and returns true, or leaves it to the server. */
export type Disturb = (asked: AskedMcp, res: ServerResponse) => boolean;

export const tool = (name: string, more: Record<string, unknown> = {}) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: { what: { type: 'string' } } },
  ...more,
});

export async function openRemoteMcp() {
  const asked: AskedMcp[] = [];
  const settings = {
    tools: [tool('search', { annotations: { readOnlyHint: true } }), tool('write')] as Json[],
    /** The only accepted token; null means that the server is open to everyone. */
    token: null as string | null,
    expiresIn: 3_600,
    disturb: (() => false) as Disturb,
    metadata: {} as Record<string, unknown>,
    /** If set, the token endpoint sends this response and issues no tokens. */
    tokenError: null as { status: number; body: Json } | null,
    result: null as Json,
  };

  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const isForm = req.headers['content-type']?.startsWith('application/x-www-form-urlencoded');
    const body = isForm ? Object.fromEntries(new URLSearchParams(text)) : text ? JSON.parse(text) : undefined;
    const request: AskedMcp = { method: req.method!, path: req.url!, headers: req.headers, body };
    asked.push(request);
    if (!settings.disturb(request, res)) answer(request, res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `${origin}/mcp`;
  server.unref();

  const json = (
    res: ServerResponse,
    status: number,
    body: Json,
    headers: Record<string, string> = {},
  ): ServerResponse =>
    res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

  function answer({ method, path, headers, body }: AskedMcp, res: ServerResponse): ServerResponse {
    if (path === '/mcp') {
      if (settings.token !== null && headers.authorization !== `Bearer ${settings.token}`) {
        const challenge = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
        return json(res, 401, { error: 'invalid_token' }, { 'www-authenticate': challenge });
      }
      if (method !== 'POST') return res.writeHead(405).end();
      if (body.id === undefined) return res.writeHead(202).end();
      return json(res, 200, { jsonrpc: '2.0', id: body.id, ...reply(body) });
    }
    if (path === '/.well-known/oauth-protected-resource/mcp') {
      return json(res, 200, { resource: url, authorization_servers: [origin], scopes_supported: ['tools'] });
    }
    if (path === '/.well-known/oauth-authorization-server') {
      return json(res, 200, {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
        ...settings.metadata,
      });
    }
    if (path === '/register') return json(res, 201, { ...body, client_id: `client-${randomUUID()}` });
    if (path === '/token') {
      if (settings.tokenError) return json(res, settings.tokenError.status, settings.tokenError.body);
      settings.token = `at-${randomUUID()}`;
      return json(res, 200, {
        access_token: settings.token,
        token_type: 'Bearer',
        expires_in: settings.expiresIn,
        refresh_token: `rt-${randomUUID()}`,
      });
    }
    return res.writeHead(404).end();
  }

  function reply({ method, params }: Json): Json {
    if (method === 'initialize') {
      const { protocolVersion } = params;
      return { result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'remote', version: '1' } } };
    }
    if (method === 'tools/list') return { result: { tools: settings.tools } };
    if (method === 'tools/call') {
      return { result: settings.result ?? { content: [{ type: 'text', text: `did ${params.name}` }] } };
    }
    return { error: { code: -32_601, message: 'Method not found' } };
  }

  return {
    origin,
    url,
    asked,
    settings,
    /** JSON-RPC methods of the requests, in order. */
    methods: (): string[] => asked.flatMap(({ path, body }) => (path === '/mcp' && body?.method ? [body.method] : [])),
    json,
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
