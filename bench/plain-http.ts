// A client for HTTP/1.1 that uses little CPU: bodies are sent unchanged over few connections that stay open, one request at a time on
// each, and only the length of a response is read from its head. bench/held-runners.ts sends hundreds of requests a second with it.
import { connect, type Socket } from 'node:net';

interface Request {
  text: string;
  resolve(body: string): void;
  reject(error: Error): void;
}

export function createPlainHttp(url: string, connections: number, headers: Record<string, string>) {
  const { hostname, port } = new URL(url);
  const lines = Object.entries({ host: `${hostname}:${port}`, ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const head = `POST /graphql HTTP/1.1\r\n${lines.join('')}content-length: `;
  const waiting: Request[] = [];
  const free: ReturnType<typeof open>[] = [];
  const sockets = new Set<Socket>();

  function open() {
    let current: Request | undefined;
    let received: Buffer = Buffer.alloc(0);
    const socket = connect(Number(port), hostname).setNoDelay();
    sockets.add(socket);
    const connection = {
      send(request: Request): void {
        current = request;
        socket.write(request.text);
      },
    };
    const lose = (error: Error): void => {
      sockets.delete(socket);
      if (free.includes(connection)) free.splice(free.indexOf(connection), 1);
      current?.reject(error);
    };
    socket.on('error', lose).on('close', () => lose(new Error('the connection was closed')));
    socket.on('data', (data: Buffer) => {
      received = received.length > 0 ? Buffer.concat([received, data]) : data;
      const body = current && bodyOf(received);
      if (body === undefined) return;
      received = Buffer.alloc(0);
      const { resolve } = current!;
      current = undefined;
      const next = waiting.shift();
      if (next) connection.send(next);
      else free.push(connection);
      resolve(body);
    });
    return connection;
  }

  return {
    /** Sends a JSON body, which has ASCII characters only, and returns the body of the response. */
    post: (body: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const request = { text: `${head}${body.length}\r\n\r\n${body}`, resolve, reject };
        const connection = free.pop() ?? (sockets.size < connections ? open() : undefined);
        if (connection) connection.send(request);
        else waiting.push(request);
      }),
    close(): void {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** The body of the response in these bytes; undefined until they are complete. */
function bodyOf(received: Buffer): string | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = received.toString('latin1', 0, end);
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
  if (received.length < end + 4 + length) return undefined;
  return received.toString('utf8', end + 4, end + 4 + length);
}
