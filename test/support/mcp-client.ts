// The official client of MCP, connected to the MCP server of a world.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ListToolsResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { schema } from '#schema.ts';
import { toolsOf } from '../../src/surfaces/mcp/tools.ts';
import type { World } from './world.ts';

/** Names of the tools that a token of the preset `all` sees, which leaves out the scopes of billing, setup, notices, secrets, the audit log and webhooks. */
export const visibleTools = (): string[] =>
  [...toolsOf(schema)].flatMap(([name, { rule }]) =>
    /^(billing|setup|secrets|audit|webhooks):/.test(rule) ? [] : [name],
  );

/** A connected client; its calls return results without the protocol's own members. */
export async function connectMcp(world: World, bearer: string) {
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${bearer}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${world.url}/mcp`), { requestInit }));
  return {
    client,
    // The names are read without `listTools`, which compiles each tool's schema and would take 1.5 s of this file's time.
    names: async () =>
      (await client.request({ method: 'tools/list' }, ListToolsResultSchema)).tools.map(({ name }) => name),
    call: (name: string, args: Record<string, unknown> = {}) => client.callTool({ name, arguments: args }),
  };
}
