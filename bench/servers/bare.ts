// Server (a) of the bench, which is the minimum: only node:http and pg. `bare.ts PORT DATABASE_URL [--prepared]`.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { callerOf, createProject, findProject, listNested, listProjects } from './work.ts';

createServer(async (req, res) => {
  try {
    await answer(req, res);
  } catch (error) {
    if (res.destroyed) return;
    console.error(error);
    send(res, 500, { title: 'Internal error' });
  }
}).listen(Number(process.argv[2]), '127.0.0.1');

async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const caller = await callerOf(req.headers.authorization);
  if (!caller) return send(res, 401, { title: 'Unauthenticated' });
  const [path, search] = req.url!.split('?', 2) as [string, string?];
  const query = new URLSearchParams(search);
  const limit = Number(query.get('limit') ?? 20);
  if (path === '/graphql') {
    await read(req);
    return send(res, 200, await listNested(caller, 50));
  }
  if (path === '/v1/projects' && req.method === 'GET') {
    return send(res, 200, await listProjects(caller, limit, query.get('cursor')));
  }
  if (path === '/v1/projects') return send(res, 201, await createProject(caller, JSON.parse(await read(req))));
  const project = await findProject(caller, path.slice('/v1/projects/'.length));
  send(res, project ? 200 : 404, project ?? { title: 'Not found' });
}

async function read(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function send(res: ServerResponse, status: number, value: unknown): void {
  const body = JSON.stringify(value);
  res.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  });
  res.end(body);
}
