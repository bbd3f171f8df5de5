// The entry to the MCP server: Streamable HTTP at {mcp_url}/mcp.
import { addresses } from '#foundation/http/addresses.ts';
import { refuseFor } from '../bearer.ts';
import { framed, openedWhenUsed, type Surface } from '../frame.ts';
import type { McpSettings } from './server.ts';

export function createMcp(settings: McpSettings): Surface {
  const url = `${addresses().mcp}/mcp`;
  const { pathname } = new URL(url);
  const handle = openedWhenUsed(async () => (await import('./server.ts')).createToolServer(settings, url));
  return {
    name: 'mcp',
    owns: (path) => path === pathname,
    handle: framed(handle, { ...settings, refuse: refuseFor('mcp') }),
  };
}
