// After connecting, the first `fetch` of a process waits until V8 has compiled its HTTP parser. If the connection is closed in this time, Node 20 and
// 22 do not notice, and the request waits for its time limit. Load balancers close a connection at once when the host behind them is down.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { listenOn } from './listen.ts';

/** Time limit of the request that loads the parser. When it expires, the runner continues. */
const requestMs = 5_000;

/** Loads the HTTP parser with a request that this process answers itself. */
export async function loadFetchParser(): Promise<void> {
  const server = createServer((_, response) => response.writeHead(204, { connection: 'close' }).end());
  await listenOn(server, null);
  const { port } = server.address() as AddressInfo;
  await fetch(`http://127.0.0.1:${port}`, { signal: AbortSignal.timeout(requestMs) }).catch(() => {});
  server.close();
}
