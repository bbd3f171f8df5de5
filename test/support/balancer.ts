// One address for several processes, of which some may be killed.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream';

/** A process that listens at this address. */
interface Backend {
  url: string;
}

/** @param processes The processes; null for one that is known to be killed */
export async function balance(processes: readonly (Backend | null)[]) {
  let turn = 0;
  /** Returns the live processes. Each call begins the list with another process, so that connections are spread over all of them. */
  const backends = (): Backend[] => {
    const alive = processes.filter((one) => one !== null);
    return [...alive.splice(turn++ % Math.max(1, alive.length)), ...alive];
  };
  const balancer = createServer((socket) => {
    // A client may be killed before its connection has been forwarded.
    socket.on('error', () => {});
    forward(socket, backends());
  });
  balancer.listen(0, '127.0.0.1');
  await once(balancer, 'listening');
  return {
    url: `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`,
    close: () => void balancer.close(),
  };
}

/** Forwards the client's connection to the first backend that accepts a connection. If no backend accepts, the client's connection is closed. */
function forward(socket: Socket, backends: Backend[]): void {
  const [backend, ...others] = backends;
  if (!backend) return void socket.destroy();
  const upstream = connect(Number(new URL(backend.url).port), '127.0.0.1');
  const next = () => forward(socket, others);
  upstream.once('error', next).once('connect', () => {
    upstream.off('error', next);
    pipeline(socket, upstream, socket, () => {});
  });
}
