// The official client of MCP, loaded at its first use: an idle process does without its 8 MB.
export const sdk = () => import('@modelcontextprotocol/client');
