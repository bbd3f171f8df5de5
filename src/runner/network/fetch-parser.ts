// The first `fetch` of a process connects, and waits for its parser of HTTP, which V8 still compiles. Node 20 and 22 miss it if the connection is
// closed meanwhile, and the request then waits for its time limit. Balancers close a connection at once when the host behind them is down.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { listenOn } from './listen.ts';

/** Time limit of the request; without its answer the runner continues. */
const requestMs = 5_000;

/** Loads the parser by a request that this process answers itself. */
export async function loadFetchParser(): Promise<void> {
  const server = createServer((_, response) => response.writeHead(204, { connection: 'close' }).end());
  await listenOn(server, null);
  const { port } = server.address() as AddressInfo;
  await fetch(`http://127.0.0.1:${port}`, { signal: AbortSignal.timeout(requestMs) }).catch(() => {});
  server.close();
}
