// The official client of MCP, loaded at first use: it takes 8 MB, which an idle process saves.
export const sdk = () => import('@modelcontextprotocol/client');
