// The official client of MCP, loaded at first use, which saves 8 MB in an idle process.
export const sdk = () => import('@modelcontextprotocol/client');
