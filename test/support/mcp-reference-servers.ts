// Third-party MCP servers as child processes on loopback: an open one, and one behind the SDK's authorization router, which accepts
// only tokens issued for it.
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const modules = fileURLToPath(new URL('../../node_modules/@modelcontextprotocol', import.meta.url));

export interface Peer {
  url: string;
  close(): Promise<void>;
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function start(
  script: string,
  args: string[],
  env: Record<string, string>,
  ready: RegExp,
): Promise<ChildProcess> {
  const child = spawn(process.execPath, [path.join(modules, script), ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  await new Promise<void>((resolve, reject) => {
    const listen = (chunk: Buffer) => {
      said += chunk;
      if (ready.test(said)) resolve();
    };
    child.stdout!.on('data', listen);
    child.stderr!.on('data', listen);
    child.once('exit', (code) => reject(new Error(`${script} ended with ${code}: ${said}`)));
  });
  return child;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
}

/** @modelcontextprotocol/server-everything, over streamable HTTP. */
export async function openEverything(): Promise<Peer> {
  const port = await freePort();
  const child = await start('server-everything/dist/index.js', ['streamableHttp'], { PORT: `${port}` }, /listening/);
  return { url: `http://127.0.0.1:${port}/mcp`, close: () => stop(child) };
}

/** The SDK's example server behind its own authorization server, which approves every request. */
export async function openGuarded(): Promise<Peer> {
  const [port, authPort] = [await freePort(), await freePort()];
  const script = 'sdk/dist/esm/examples/server/simpleStreamableHttp.js';
  const env = { MCP_PORT: `${port}`, MCP_AUTH_PORT: `${authPort}` };
  const child = await start(
    script,
    ['--oauth', '--oauth-strict'],
    env,
    /HTTP Server listening[\s\S]*|listening on port \d+[\s\S]*listening on port/,
  );
  return { url: `http://localhost:${port}/mcp`, close: () => stop(child) };
}
