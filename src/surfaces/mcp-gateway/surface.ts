// The entry to the gateway for missions, below /mcp/runs/.
import { framed, openedWhenUsed, type Surface } from '../frame.ts';
import type { GatewaySettings } from './server.ts';

export function createMcpGateway(settings: GatewaySettings): Surface {
  const handle = openedWhenUsed(async () => (await import('./server.ts')).createGatewayServer(settings));
  return { name: 'mcp-gateway', owns: (path) => path.startsWith('/mcp/runs/'), handle: framed(handle, settings) };
}
