// Compares how long a tool call takes through the gateway of a running service with how long a direct call to the same MCP server takes.
// Direct calls and calls through the gateway alternate, one at a time, so that other load of the machine affects both kinds alike.
// Environment variables set the URLs GATEWAY_URL and DIRECT_URL, the service token TOKEN, the lease LEASE_ID of a claimed run, and the number
// CALLS of calls of each kind (200 if absent). The section "The MCP gateway" of bench/README.md says how to prepare the service and the run.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const { GATEWAY_URL, DIRECT_URL, TOKEN, LEASE_ID, CALLS = '200' } = process.env;
if (!GATEWAY_URL || !DIRECT_URL || !TOKEN || !LEASE_ID) {
  console.error('Set GATEWAY_URL, DIRECT_URL, TOKEN and LEASE_ID.');
  process.exit(1);
}

const echo = { name: 'echo', arguments: { message: 'hello' } };

async function connect(url: string, headers: Record<string, string> = {}): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return client;
}

/** Duration of a call in milliseconds. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

const gateway = await connect(GATEWAY_URL, { authorization: `Bearer ${TOKEN}`, 'x-lease-id': LEASE_ID });
const direct = await connect(DIRECT_URL);
const ways: [name: string, call: () => Promise<unknown>, times: number[]][] = [
  ['direct, one connection', () => direct.callTool(echo), []],
  // The gateway opens a connection for each call, so that no credential or session outlives the call.
  ['direct, connected for the call', () => connect(DIRECT_URL).then(callAndClose), []],
  ['through the gateway', () => gateway.callTool(echo), []],
];

async function callAndClose(client: Client): Promise<void> {
  await client.callTool(echo);
  await client.close();
}

for (let i = -20; i < Number(CALLS); i++) {
  for (const [, call, times] of ways) {
    const milliseconds = await timed(call);
    if (i >= 0) times.push(milliseconds);
  }
}

for (const [name, , times] of ways) {
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))]!.toFixed(1);
  console.log(`${name.padEnd(32)} median ${at(0.5).padStart(6)} ms   p99 ${at(0.99).padStart(6)} ms`);
}
await Promise.all([gateway.close(), direct.close()]);
