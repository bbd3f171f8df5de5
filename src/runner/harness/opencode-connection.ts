// HTTP to OpenCode's server: on a loopback port, or through a socket from its cell.
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { createInterface } from 'node:readline';
import { type Json, parsed } from './fragments.ts';

/** The flag O_PATH of open(2) on Linux: the descriptor only refers to the file, and cannot be used to read or write it. */
const O_PATH = 0x200000;
/** Time limit in milliseconds, and maximum characters of a response. */
const [timeoutMs, longest] = [120_000, 32 * 1024 * 1024];

type Take = (type: string, properties: Json) => Promise<void>;

/**
 * The socket, held open: its address in /proc stays valid, even if the agent replaces the file.
 * @throws for a link, and for a file that is not a socket
 */
async function pin(socket: string): Promise<FileHandle> {
  const handle = await open(socket, O_PATH | constants.O_NOFOLLOW);
  if ((await handle.stat()).isSocket()) return handle;
  await handle.close();
  throw new Error('The path of the harness server does not lead to a socket.');
}

export async function openConnection(at: { port: number; socket: string | null }, password: string, cwd: string) {
  const held = at.socket ? await pin(at.socket) : null;
  const where = held ? { socketPath: `/proc/self/fd/${held.fd}` } : { host: '127.0.0.1', port: at.port };
  const authorization = `Basic ${Buffer.from(`opencode:${password}`).toString('base64')}`;
  const headers = { authorization, 'content-type': 'application/json' };

  const ask = (method: string, path: string, body?: object, timeoutMs?: number): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const options = { ...where, method, path: `${path}?directory=${encodeURIComponent(cwd)}`, headers };
      const signal = timeoutMs ? { signal: AbortSignal.timeout(timeoutMs) } : {};
      request({ ...options, ...signal }, resolve)
        .on('error', reject)
        .end(body && JSON.stringify(body));
    });

  return {
    async call(method: string, path: string, body?: object): Promise<Json> {
      const response = await ask(method, path, body, timeoutMs);
      let text = '';
      for await (const piece of response.setEncoding('utf8')) if (text.length < longest) text += piece;
      if (response.statusCode! < 300) return parsed(text) ?? {};
      throw new Error(`${method} ${path}: ${response.statusCode} ${text.slice(0, 500)}`);
    },
    /**
     * Opens the server's stream of events, and resolves when the server begins its response. Later, each event is passed to `take` when the
     * previous event has been processed.
     */
    async listen(take: Take): Promise<void> {
      const response = await ask('GET', '/event');
      void follow(response, take).catch(() => response.destroy());
    },
    close: async () => held?.close(),
  };
}

async function follow(response: IncomingMessage, take: Take): Promise<void> {
  for await (const line of createInterface({ input: response })) {
    const { type, properties } = (line.startsWith('data: ') && parsed(line.slice('data: '.length))) || {};
    if (type) await take(type, properties ?? {});
  }
}
