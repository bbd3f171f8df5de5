// The official conformance suite (@modelcontextprotocol/conformance) as a child process, against a service on loopback.
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const inTests = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const program = inTests('../../node_modules/@modelcontextprotocol/conformance/dist/index.js');

export interface Check {
  id: string;
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  errorMessage?: string;
}

/** Runs the suite. Returns the checks of each scenario by its name. `onPrinted` receives the whole output so far whenever more is printed. */
export async function conformance(
  args: string[],
  onPrinted: (printed: string) => void = () => {},
): Promise<Map<string, Check[]>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'aep-conformance-'));
  try {
    const printed = await run([...args, '-o', folder], onPrinted);
    const found = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('checks.json'));
    if (found.length === 0) throw new Error(`no scenario ran: ${printed.slice(-2_000)}`);
    const results = found.map(async (file): Promise<[string, Check[]]> => {
      const name = path.dirname(file).replace(/^(?:server|authorization)-(.*?)-\d{4}-\d\d-\d\dT.*$/, '$1');
      return [name, JSON.parse(await readFile(path.join(folder, file), 'utf8'))];
    });
    return new Map(await Promise.all(results));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Ignores the exit code 1 of a failed check, because the checks themselves report it. */
async function run(args: string[], onPrinted: (printed: string) => void): Promise<string> {
  const child = spawn(process.execPath, ['--import', inTests('conformance-node20.mjs'), program, ...args]);
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      printed += chunk;
      onPrinted(printed);
    });
  }
  await new Promise((resolve) => child.once('close', resolve));
  return printed;
}

/** Starts a proxy that adds the token to each request and forwards the request, because the suite has no option for a token. */
export async function openWithToken(target: string, token: string) {
  const server = createServer((req, res) => {
    const headers = { ...req.headers, authorization: `Bearer ${token}` };
    const passed = request(target + req.url, { method: req.method, headers }, (answer) => {
      res.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(res);
    });
    passed.on('error', () => res.destroy());
    req.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
